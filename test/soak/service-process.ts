/**
 * The service of a soak, in a process of its own: started as `holdfast serve` starts it, but with a wall clock that the soak
 * can set, and with a word about its memory when the soak asks.
 */
import { readConfig } from '#src/config.ts';
import { startService } from '#src/service.ts';
import { pino } from 'pino';

/** What the soak sends. */
export type SoakRequest = { readonly ask: 'memory' } | { readonly ask: 'leap'; readonly byMs: number };

/** What the process answers; `ready` once by itself. */
export type SoakReport =
  | { readonly is: 'ready' }
  | { readonly is: 'memory'; readonly usedBytes: number; readonly rssBytes: number }
  | { readonly is: 'defect'; readonly message: string };

let leapMs = 0;
const report = (message: SoakReport): void => void process.send!(message);

process.on('unhandledRejection', (error) => report({ is: 'defect', message: `unhandled rejection: ${String(error)}` }));
process.on('uncaughtExceptionMonitor', (error) => report({ is: 'defect', message: error.stack ?? error.message }));

const reading = readConfig(process.env);
if ('problems' in reading) throw new Error(reading.problems.join('\n'));
const service = await startService(reading.config, {
  log: pino({ level: 'silent' }),
  engine: { clockSource: { wallMs: () => Date.now() + leapMs, stopwatchMs: () => performance.now() } },
});

process.on('message', (request: SoakRequest) => {
  if (request.ask === 'leap') {
    leapMs = request.byMs;
    return;
  }
  // Run with --expose-gc, so that what is left is what is kept.
  for (let times = 0; times < 3; times += 1) globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  report({ is: 'memory', usedBytes: heapUsed + external, rssBytes: rss });
});

let stopping = false;
process.on('SIGTERM', () => {
  if (stopping) return;
  stopping = true;
  void service.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      report({ is: 'defect', message: `stop: ${String(error)}` });
      process.exit(1);
    },
  );
});
report({ is: 'ready' });
