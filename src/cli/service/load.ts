/**
 * `holdfast load`: checks catalogue files, and loads them into a running service or into a data folder without one.
 *
 * All problems of all files are reported before anything is loaded. Definitions are sent with their seating plans
 * inline, because the service does not read the operator's files.
 */
import { pointer } from '#domain/schema-problems.ts';
import { whenOrdersCancelled } from '#actors/event-port.ts';
import { formatFileProblem, readCatalogue, type FileProblem } from '#catalogue/files.ts';
import { toEventFile } from '#catalogue/event-fields.ts';
import { isRefusal } from '#domain/refusal.ts';
import { adminAccess, callService, errorOf, openOffline } from './access.ts';
import { DATA_OPTION, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { counted } from '../terminal/output.ts';
import type { Engine } from '#engine/engine.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';

interface Conflict {
  readonly path: string;
  readonly message: string;
}

/** The result for one event. */
type Outcome = { readonly id: string } & (
  | { readonly result: 'created' | 'loaded'; readonly version: number; readonly warnings: readonly string[] }
  | { readonly result: 'refused'; readonly code: string; readonly conflicts: readonly Conflict[] }
);

export const command: CliCommand = {
  usage: 'load FILE… [--offline | --check]',
  description: [
    'Reads catalogue files, or all *.json of folders, and reports every problem with its file and path. When there is none, the ' +
      'events are created or updated in the running service (ADMIN_HOST, ADMIN_PORT; the token from ADMIN_TOKEN or from ' +
      'DATA_DIR/admin-token). Loading the same definitions again changes nothing.',
    'An update that would remove something held or sold is refused with its list of conflicts. The other events are loaded, and ' +
      'the exit code is 1.',
  ],
  options: [
    { name: 'check', help: 'check the files, load nothing' },
    { name: 'offline', help: 'load into the data folder itself; no service may run on it' },
    DATA_OPTION,
  ],
  positionals: { min: 1, max: 1_000 },
  examples: [
    { line: 'holdfast load season/', does: 'loads every event in the folder season into the running service' },
    { line: 'holdfast load --check gala.json', does: 'reports the problems of gala.json' },
    { line: 'holdfast load --offline gala.json', does: 'loads the event into ./data before the first start' },
  ],
  async run(call) {
    if (call.has('check') && call.has('offline'))
      throw new WrongUse('--check loads nothing, so --offline has no effect');
    const { definitions, problems } = readCatalogue(call.positionals);
    if (problems.length > 0) return reportProblems(call, problems);
    if (call.has('check')) return reportChecked(call, definitions);
    const outcomes = await (call.has('offline') ? loadOffline(call, definitions) : loadOnline(call, definitions));
    return reportOutcomes(call, outcomes);
  },
};

/** Definitions loaded at once; with their seats some 50 MB at most. */
const EVENTS_AT_ONCE = 64;

// ── loading ──────────────────────────────────────────────────────────────────────────────────────────────────

async function loadOnline(call: CliCall, definitions: readonly EventDefinition[]): Promise<Outcome[]> {
  const access = adminAccess(call);
  const outcomes: Outcome[] = [];
  for (const [index, definition] of definitions.entries()) {
    call.output.progress('loading', index, definitions.length);
    const { id } = definition;
    const address = `/admin/events/${encodeURIComponent(id)}`;
    const answer = await callService(access, 'PUT', address, toEventFile(definition));
    if (answer.status < 300) {
      const result = answer.status === 201 ? 'created' : 'loaded';
      const warnings = (answer.body['warnings'] ?? []) as readonly string[];
      outcomes.push({ id, result, version: Number(answer.body['version']), warnings });
      continue;
    }
    const { code, message, detail } = errorOf(answer);
    const listed = (detail['conflicts'] ?? detail['errors'] ?? []) as readonly Conflict[];
    outcomes.push({ id, result: 'refused', code, conflicts: listed.length > 0 ? listed : [{ path: '', message }] });
  }
  return outcomes;
}

/**
 * Loads several events at once, so that they share commits. A refused one is tried again, because its slug may be free
 * then.
 */
async function loadOffline(call: CliCall, definitions: readonly EventDefinition[]): Promise<Outcome[]> {
  const engine = await openOffline(call);
  const outcomes: Outcome[] = [];
  try {
    for (let from = 0; from < definitions.length; from += EVENTS_AT_ONCE) {
      const batch = definitions.slice(from, from + EVENTS_AT_ONCE);
      const first = await Promise.all(batch.map((definition) => define(engine, definition)));
      for (const [index, outcome] of first.entries()) {
        outcomes.push(outcome.result === 'refused' ? await define(engine, batch[index]!) : outcome);
      }
      call.output.progress('loading', outcomes.length, definitions.length);
    }
  } finally {
    await engine.stop();
  }
  return outcomes;
}

async function define({ events }: Engine, definition: EventDefinition): Promise<Outcome> {
  const { id } = definition;
  const reply = await events.define(definition, { operator: 'catalogue', note: null });
  if (!isRefusal(reply)) {
    await whenOrdersCancelled(events, definition);
    return { id, result: reply.created ? 'created' : 'loaded', version: reply.version, warnings: [] };
  }
  const refused = reply.code === 'UPDATE_CONFLICT' ? reply.detail.conflicts : [];
  const conflicts = refused.map(({ path, message }) => ({ path: pointer('', ...path), message }));
  return { id, result: 'refused', code: reply.code, conflicts };
}

// ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────────────

function reportProblems({ output }: CliCall, problems: readonly FileProblem[]): 1 {
  const sum = `${counted(problems.length, 'problem')}, nothing is loaded.`;
  if (!output.isJson) output.trouble(...problems.map(formatFileProblem), sum);
  output.json({ ok: false, problems });
  return 1;
}

function reportChecked({ output }: CliCall, definitions: readonly EventDefinition[]): 0 {
  output.text(...definitions.map(({ id, name }) => `${id}  good  (${name})`));
  output.text(`${counted(definitions.length, 'event')} checked, no problem found.`);
  output.json({ ok: true, events: definitions.map(({ id }) => ({ id })) });
  return 0;
}

function reportOutcomes({ output }: CliCall, outcomes: readonly Outcome[]): 0 | 1 {
  const refused = outcomes.filter(({ result }) => result === 'refused');
  for (const outcome of outcomes) {
    if (outcome.result !== 'refused') {
      output.text(`${outcome.id}  ${outcome.result}, version ${outcome.version}`);
      output.text(...outcome.warnings.map((warning) => `  warning: ${warning}`));
      continue;
    }
    output.text(`${outcome.id}  refused: ${outcome.code}`);
    output.text(...outcome.conflicts.map(({ path, message }) => `  ${outcome.id} ${path || '/'}: ${message}`));
  }
  const loaded = outcomes.length - refused.length;
  const rest = refused.length === 0 ? '' : `, ${counted(refused.length, 'event')} refused`;
  output.text(`${counted(loaded, 'event')} loaded${rest}.`);
  output.json({ ok: refused.length === 0, events: outcomes });
  return refused.length === 0 ? 0 : 1;
}
