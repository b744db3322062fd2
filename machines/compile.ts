/**
 * From a machine to its law: a frozen table that answers what a trigger makes of a status.
 *
 * XState draws and explains the machines and runs the few that live as actors; a sale has millions of holds, orders,
 * payments, entries and seats, and for those a lookup of 20 to 30 ns takes the place of an actor of several kilobytes.
 * Each machine file compiles its own law at start. `domain/` asks it: `decide` with `next`, to refuse;
 * `evolve` with `follow`, to crash, because a fact that the law forbids is a defect or a corrupt journal.
 *
 *  1. A table says all that its machine says. What a table cannot say is refused at start, never dropped:
 *     keys are checked against what is sayable, so that a feature unknown here is refused as well.
 *  2. Each status has at most one target for each trigger, whatever the circumstances; conditions belong to `domain/`.
 *  3. A law never changes: the table and everything that describes it is frozen.
 */
import type { AnyStateMachine, EventFromLogic, SnapshotFrom } from 'xstate';

/** One legal change, as the machine states it; `from` is null for the beginning. */
export interface LegalChange<Status extends string = string, Trigger extends string = string> {
  readonly from: Status | null;
  /** Null for the beginning only. */
  readonly trigger: Trigger | null;
  readonly to: Status;
  /** What happens and under which condition; the condition itself is judged in `domain/`. */
  readonly when: string;
  /** What else comes with the change. */
  readonly also: string;
}

/** The law of one kind of thing: its statuses and every legal change between them. */
export interface Law<Status extends string, Trigger extends string> {
  readonly name: string;
  readonly initial: Status;
  readonly statuses: readonly Status[];
  readonly triggers: readonly Trigger[];
  /** Statuses without a way out. */
  readonly ends: readonly Status[];
  /** The beginning and then every legal change, in the machine's order. */
  readonly changes: readonly LegalChange<Status, Trigger>[];
  /** The status that the trigger leads to, or undefined when the law forbids it. */
  next(status: Status, trigger: Trigger): Status | undefined;
}

export type StatusOf<Machine extends AnyStateMachine> = Extract<SnapshotFrom<Machine>['value'], string>;
export type TriggerOf<Machine extends AnyStateMachine> = EventFromLogic<Machine>['type'];

/** A change that the law forbids was taken for a fact. */
export class IllegalChange extends Error {
  constructor(law: string, status: string, trigger: string) {
    super(`the law of ${law} knows no ${trigger} from ${status}`);
    this.name = 'IllegalChange';
  }
}

/** A machine holds something that a table cannot say. */
export class NotATable extends Error {
  constructor(where: string, complaint: string) {
    super(`${where} ${complaint}`);
    this.name = 'NotATable';
  }
}

/** Returns the status that the trigger leads to; throws IllegalChange when the law forbids it. */
export function follow<Status extends string, Trigger extends string>(
  law: Law<Status, Trigger>,
  status: NoInfer<Status>,
  trigger: NoInfer<Trigger>,
): Status {
  const next = law.next(status, trigger);
  if (next === undefined) throw new IllegalChange(law.name, status, trigger);
  return next;
}

/** Compiles a flat machine into its law; throws NotATable at the first thing that a table cannot say. */
export function compile<Machine extends AnyStateMachine>(machine: Machine): Law<StatusOf<Machine>, TriggerOf<Machine>> {
  const changes = readChanges(machine.id, machine.config);
  const statuses = Object.keys(machine.config.states ?? {});
  const triggers = [...new Set(changes.flatMap(({ trigger }) => trigger ?? []))];
  const table = tabulate(statuses, triggers, changes);
  const law: Law<string, string> = {
    name: machine.id,
    initial: changes[0]!.to,
    statuses: Object.freeze(statuses),
    triggers: Object.freeze(triggers),
    ends: Object.freeze(statuses.filter((status) => changes.every(({ from }) => from !== status))),
    changes: Object.freeze(changes.map((change) => Object.freeze(change))),
    next: (status, trigger) => table[status]?.[trigger],
  };
  return Object.freeze(law) as Law<StatusOf<Machine>, TriggerOf<Machine>>;
}

type Row = Readonly<Record<string, string | undefined>>;

/**
 * Every row names every trigger, absent ones as undefined, and nothing has a prototype: so no name of Object's own is
 * mistaken for a trigger, and a lookup takes about a quarter less time than in plain objects (measured).
 */
function tabulate(
  statuses: readonly string[],
  triggers: readonly string[],
  changes: readonly LegalChange[],
): Readonly<Record<string, Row>> {
  const table: Record<string, Row> = Object.create(null);
  for (const status of statuses) {
    const row: Record<string, string | undefined> = Object.create(null);
    for (const trigger of triggers) {
      row[trigger] = changes.find((change) => change.from === status && change.trigger === trigger)?.to;
    }
    table[status] = Object.freeze(row);
  }
  return Object.freeze(table);
}

const sayable = {
  machine: ['id', 'description', 'initial', 'states'],
  state: ['description', 'type', 'on'],
  transition: ['target', 'description', 'meta'],
  meta: ['also'],
} as const;

function readChanges(name: string, machine: unknown): LegalChange[] {
  const { initial, states } = readParts(`machine ${name}`, machine, sayable.machine);
  const stateByName = readObject(`the states of ${name}`, states);
  const names = Object.keys(stateByName);
  const changes = [readChange(`the beginning of ${name}`, null, null, initial, names)];
  for (const [status, state] of Object.entries(stateByName)) {
    const where = `${name}.${status}`;
    const { type, on = {} } = readParts(where, state, sayable.state);
    if (type !== undefined && type !== 'final') throw new NotATable(where, `is of type ${String(type)}`);
    const transitions = Object.entries(readObject(`${where}.on`, on));
    if (type === 'final' && transitions.length > 0) throw new NotATable(where, 'is final and has a way out');
    for (const [trigger, transition] of transitions) {
      if (trigger.includes('*')) throw new NotATable(`${where}.${trigger}`, 'is a wildcard');
      changes.push(readChange(`${where}.${trigger}`, status, trigger, transition, names));
    }
  }
  return changes;
}

function readChange(
  where: string,
  from: string | null,
  trigger: string | null,
  transition: unknown,
  names: readonly string[],
): LegalChange {
  const parts =
    typeof transition === 'string' ? { target: transition } : readParts(where, transition, sayable.transition);
  const { target, description = '', meta = {} } = parts;
  if (typeof target !== 'string') throw new NotATable(where, 'has no target, or more than one');
  if (!names.includes(target)) throw new NotATable(where, `leads to ${target}, which is no state of its machine`);
  const { also = '' } = readParts(`the meta of ${where}`, meta, sayable.meta);
  return { from, trigger, to: target, when: String(description), also: String(also) };
}

/** The parts of an object whose names are all among the sayable ones. */
function readParts<Name extends string>(
  where: string,
  value: unknown,
  names: readonly Name[],
): Readonly<Partial<Record<Name, unknown>>> {
  const parts = readObject(where, value);
  const known: readonly string[] = names;
  const unsayable = Object.keys(parts).find((name) => parts[name] !== undefined && !known.includes(name));
  if (unsayable !== undefined) throw new NotATable(where, `has ${unsayable}, which a table cannot say`);
  return parts as Partial<Record<Name, unknown>>;
}

function readObject(where: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new NotATable(where, 'is not one plain object');
  }
  return value as Readonly<Record<string, unknown>>;
}
