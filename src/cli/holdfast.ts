#!/usr/bin/env node
/**
 * The program `holdfast`: gives a run of it this process, and sets the exit code.
 *
 * A reader that closes the pipe, as `head` does, ends the command without an error.
 */
import { keepCompiledModules } from '#service/v8.ts';

keepCompiledModules();

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`holdfast: stdout cannot be written: ${error.message}\n`);
  process.exit(1);
});

const { runHoldfast } = await import('./run.ts');
process.exitCode = await runHoldfast(process.argv.slice(2), {
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  exit: (code) => process.exit(code),
});
