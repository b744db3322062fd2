/**
 * Measures the structure of the source tree: `npm run rooms`, or `npm run rooms -- FOLDER…` for other checkouts beside
 * it.
 *
 * A column a checkout. A room is a folder with product code; an arrow is a pair of rooms of which one imports the
 * other; rooms stand in a circle when each leads to the other, and every arrow between two of them is one that points
 * up.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { countLines, readTree, roomArrows, roomCircles, roomOf, type SourceFile } from './source-tree.ts';

const SMALL_LINES = 40;

/** Parameters of the domain whose type is the whole state of an event. */
const wholeState = /[(,]\s*\w+\??:\s*(?:Readonly<)?EventState\b/g;

const lines = (files: readonly SourceFile[]): number => files.reduce((sum, { text }) => sum + countLines(text), 0);

function measure(root: string): Record<string, number> {
  const { sources, production } = readTree(root);
  const rooms = Map.groupBy(production, ({ file }) => roomOf(file));
  const arrows = roomArrows(production);
  const circles = roomCircles(arrows);
  const circleOf = new Map(circles.flatMap((circle) => circle.map((room) => [room, circle] as const)));
  const pairs = [...arrows].flatMap(([from, to]) => [...to.keys()].map((room) => [from, room] as const));
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
  const actor = path.join(root, 'src/actors/event-actor.ts');
  return {
    'README: lines': countLines(readme),
    'README: words': readme.split(/\s+/).filter(Boolean).length,
    'files in src/ itself': rooms.get('src')?.length ?? 0,
    rooms: rooms.size,
    'files in the largest room': Math.max(...[...rooms.values()].map(({ length }) => length)),
    'arrows between rooms': pairs.length,
    'arrows that point up': pairs.filter(([from, to]) => circleOf.has(from) && circleOf.get(from) === circleOf.get(to))
      .length,
    'rooms in a circle': circleOf.size,
    'parameters that take the whole state': production
      .filter(({ file }) => file.startsWith('src/domain/'))
      .reduce((sum, { code }) => sum + (code.match(wholeState)?.length ?? 0), 0),
    'lines of the event actor': existsSync(actor) ? countLines(readFileSync(actor, 'utf8')) : 0,
    [`files under ${SMALL_LINES} lines`]: production.filter(({ text }) => countLines(text) < SMALL_LINES).length,
    'files of the product': production.length,
    'lines of the product': lines(production),
    'lines of tests': lines(sources.filter(({ module }) => module === 'test')),
    'lines of benches': lines(sources.filter(({ module }) => module === 'bench')),
    'lines in all': lines(sources),
  };
}

const folders = [...process.argv.slice(2), fileURLToPath(new URL('..', import.meta.url))];
const unreadable = folders.find((folder) => !existsSync(path.join(folder, 'package.json')));
if (unreadable !== undefined) {
  process.stderr.write(`rooms: there is no package.json in ${unreadable}; give folders with a checkout\n`);
  process.exit(2);
}
const columns = folders.map(measure);
for (const what of Object.keys(columns[0]!)) {
  const values = columns.map((column) => column[what]!.toLocaleString('en').padStart(9)).join('');
  process.stdout.write(`${what.padEnd(38)}${values}\n`);
}
