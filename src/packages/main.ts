/**
 * What `npm run packages` runs: writes the packages for storefronts into a folder and prints their names and sizes.
 *
 * `--out FOLDER` names another folder than `tmp/packages`; `--json` prints an array of objects with `name`, `version`,
 * `file`, `bytes`, `gzipBytes` and `gzipBytesMax`. Exit codes: 0 when all are written, 1 when one has more bytes than
 * its budget, 2 for parameters that it does not know.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { packAll, type PackedFile } from './pack.ts';

function parametersOf(args: readonly string[]) {
  try {
    const options = { out: { type: 'string', default: 'tmp/packages' }, json: { type: 'boolean' } } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return null;
  }
}

function lineOf({ name, version, file, gzipBytes, gzipBytesMax }: PackedFile): string {
  const sizes = `${kilobytes(gzipBytes)} of at most ${kilobytes(gzipBytesMax)} with gzip`;
  return `${name} ${version}: ${sizes}\n  ${file}\n`;
}

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`;

const parameters = parametersOf(process.argv.slice(2));
if (parameters === null) process.exitCode = 2;
else {
  const packed = await packAll(path.resolve(parameters.out));
  process.stdout.write(parameters.json ? `${JSON.stringify(packed, null, 2)}\n` : packed.map(lineOf).join(''));
  if (packed.some(({ gzipBytes, gzipBytesMax }) => gzipBytes > gzipBytesMax)) process.exitCode = 1;
}
