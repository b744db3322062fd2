/**
 * Options of the commands for developers: a mistake gets one line with the reason, one with the use, and exit code 2.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

export function wrongUse(reason: string, use: string): never {
  console.error(`${reason}\nUse: ${use}`);
  process.exit(2);
}

/**
 * The values of the options on the command line. Ends the process on `--help`, and with exit code 2 on what it does not
 * know.
 */
export function commandOptions<const Given extends Options>(options: Given, use: string) {
  if (process.argv.includes('--help')) {
    console.log(`Use: ${use}`);
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return wrongUse((error as Error).message, use);
  }
}
