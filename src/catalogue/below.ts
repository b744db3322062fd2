/** Finds what a catalogue file names: files of its own folder or of a folder below, and nothing that a link leads out to. */
import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** The real path of a file below a folder; throws what is wrong with the name. */
export function findBelow(folder: string, name: string): string {
  const root = realpathSync(folder);
  const named = resolve(root, name);
  const found = liesIn(root, named) ? realpathOf(named, name) : null;
  if (found === null || !liesIn(root, found)) throw new Error(`"${name}" is outside the catalogue file's folder`);
  return found;
}

function realpathOf(path: string, shown: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new Error(`"${shown}" cannot be found in the catalogue file's folder`);
  }
}

function liesIn(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
