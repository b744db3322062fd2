/**
 * Reads catalogue files. A JSON file is one event, a list of events or `{"events": […]}`; a folder stands for all its
 * `*.json` files except seating plans.
 *
 * Nothing is thrown: a file that cannot be read is a problem too, so that one run lists everything that is to be
 * corrected.
 *
 * 1. A plan is read only from the folder of the file that names it, or from a folder below; links out of it are
 *    refused.
 * 2. An event id and a slug are unique in all files together.
 * 3. A picture that an event names is there and can be shown; events keep its name, and their facts never its bytes.
 */
import { pointer, type FoundProblem } from '#domain/schema-problems.ts';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { logosBeside, readText } from './brand.ts';
import { findBelow, problemOfPicture } from './pictures.ts';
import { checkDefinition } from './definition.ts';
import { isSeatingPlan } from './seating-plan.ts';

/** More than a plan of a hall with 200,000 seats takes. */
const catalogueFileBytesMax = 64 * 1024 * 1024;

/** The folder of the demo catalogue. */
export const samplesFolder = fileURLToPath(new URL('./samples/', import.meta.url));

export interface FileProblem extends FoundProblem {
  readonly file: string;
}

/** A problem as one line: the file, where in it, what is wrong. */
export function formatFileProblem({ file, path, message }: FileProblem): string {
  return `${path === '' ? file : `${file} ${path}`}: ${message}`;
}

interface Catalogue {
  /** The events without problems, in the order of files and of events in them. */
  readonly definitions: readonly EventDefinition[];
  readonly problems: readonly FileProblem[];
}

/** An event in a file, not yet checked. */
interface Found {
  readonly file: string;
  readonly path: string;
  readonly json: unknown;
}

/** Reads and checks the events of files and folders. */
export function readCatalogue(paths: string | readonly string[]): Catalogue {
  const problems: FileProblem[] = [];
  const found = [paths].flat().flatMap((path) => findEvents(path, problems));
  const definitions: EventDefinition[] = [];
  const uses = new Map<string, string>();
  for (const { file, path, json } of found) {
    const checked = checkDefinition(json, { seatingPlan: (plan) => readPlan(plan, file), logo: logosBeside(file) });
    if ('problems' in checked) {
      problems.push(
        ...checked.problems.map((problem) => ({ file, path: path + problem.path, message: problem.message })),
      );
      continue;
    }
    const { picture } = checked.definition;
    const message = picture === undefined ? null : problemOfPicture(dirname(file), picture);
    if (message !== null) problems.push({ file, path: pointer(path, 'picture'), message });
    definitions.push(checked.definition);
    for (const key of ['id', 'slug'] as const) {
      const use = `${key} "${checked.definition[key]}"`;
      const other = uses.get(use);
      if (other === undefined) uses.set(use, file);
      else
        problems.push({ file, path: pointer(path, key), message: `the ${use} is used by another event in ${other}` });
    }
  }
  return { definitions, problems };
}

function findEvents(path: string, problems: FileProblem[]): Found[] {
  try {
    const problemsBefore = problems.length;
    const isFolder = statSync(path).isDirectory();
    const events = isFolder ? findInFolder(path, problems) : eventsIn(path, readJson(path));
    if (events.length === 0 && problems.length === problemsBefore) {
      problems.push({ file: path, path: '', message: isFolder ? 'has no catalogue files' : 'has no events' });
    }
    return events;
  } catch (error) {
    problems.push({ file: path, path: '', message: messageOf(error) });
    return [];
  }
}

function findInFolder(folder: string, problems: FileProblem[]): Found[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().flatMap((name) => {
    const file = join(folder, name);
    try {
      const json = readJson(file);
      return isSeatingPlan(json) ? [] : eventsIn(file, json);
    } catch (error) {
      problems.push({ file, path: '', message: messageOf(error) });
      return [];
    }
  });
}

function eventsIn(file: string, json: unknown): Found[] {
  const list = (events: readonly unknown[], path: string): Found[] =>
    events.map((event, index) => ({ file, path: pointer(path, index), json: event }));
  if (Array.isArray(json)) return list(json, '');
  if (typeof json === 'object' && json !== null && 'events' in json && Array.isArray(json.events)) {
    return list(json.events, '/events');
  }
  return [{ file, path: '', json }];
}

function readPlan(plan: string, catalogueFile: string): unknown {
  return readJson(findBelow(dirname(catalogueFile), plan));
}

function readJson(file: string): unknown {
  const { size } = statSync(file);
  if (size > catalogueFileBytesMax) throw new Error(`is larger than ${catalogueFileBytesMax} bytes`);
  const text = readText(file);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`is not JSON: ${messageOf(error)}`, { cause: error });
  }
}

/** Where the pictures of a catalogue are: a folder itself, or the folder of a file. */
export function picturesFolder(path: string): string {
  return statSync(path).isDirectory() ? path : dirname(path);
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  EACCES: 'may not be read by this user',
};

function messageOf(error: unknown): string {
  const plain = UNREADABLE[(error as NodeJS.ErrnoException).code ?? ''];
  if (plain !== undefined) return plain;
  return error instanceof Error ? error.message : String(error);
}
