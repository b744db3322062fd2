/**
 * An open-loop schedule: when each person of a trace should do what, at a speed, with the reads and polls that facts do
 * not tell.
 *
 * 1. Steps keep the order of the trace, and their gaps divided by the speed.
 * 2. Facts tell no reads: the page of the event is read `pageReads` times in the `lookSeconds` before somebody's first
 *    intent, the changes of its seats before each hold of numbered seats, and an order after it was paid.
 * 3. Facts tell no polls: who waits polls every `pollSeconds` from joining to the end of the wait.
 * 4. What somebody did once admitted follows the admission, not the clock: when the waiting room advances at another
 *    pace, their steps do too.
 */
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { Intent, IntentKind, Trace, WaitEnd } from '../trace/trace.ts';

export interface Pace {
  readonly speed: number;
  readonly pollSeconds: number;
  readonly pageReads: number;
  readonly lookSeconds: number;
}

type StepKind = IntentKind | 'READ_EVENT' | 'READ_SEATS' | 'READ_ORDER';

export interface Step {
  /** When it should begin, in milliseconds from the start of the rehearsal. */
  readonly at: number;
  readonly person: number;
  readonly kind: StepKind;
  /** Null for a read. */
  readonly intent: Intent | null;
  /** The performance whose seats are read, or the number of the order. */
  readonly subject: string | number | null;
  /** After whose admission it comes, and how long after; null where the clock alone says when. */
  readonly afterEntry: { readonly entry: number; readonly ms: number } | null;
}

export interface Schedule {
  readonly steps: readonly Step[];
  /** When the last step should begin. */
  readonly lengthMs: number;
  readonly pollEveryMs: number;
  /** How the waits ended in the trace, in the time of the rehearsal. */
  readonly waitEnds: ReadonlyMap<number, WaitEnd>;
  /** Requests that should begin in each second, polls included. */
  readonly askedBySecond: readonly number[];
}

/**
 * The trace with a wait for everybody, for an event that had no waiting room in the trace and has one now: people join
 * at their first step, as if the trace had admitted them at once.
 */
export function withWaits(trace: Trace): Trace {
  const joined = new Set<number>();
  const intents = trace.intents.flatMap((intent): Intent[] => {
    const { at, person } = intent;
    if (joined.has(person)) return [intent];
    joined.add(person);
    return [{ kind: 'JOIN', at, person, entry: person, end: { at, by: 'ADMITTED' } }, intent];
  });
  return { ...trace, intents };
}

/** Between a look at the seats and the hold that follows it. */
const SEATS_BEFORE_MS = 1_000;
/** Between a payment and the look at the order that follows it. */
const ORDER_AFTER_MS = 500;

export function scheduleOf(trace: Trace, pace: Pace): Schedule {
  const leadMs = pace.pageReads > 0 ? pace.lookSeconds * 1_000 : 0;
  const when = (at: number): number => (at + leadMs) / pace.speed;
  const lastWait = new Map<number, { readonly entry: number; readonly end: WaitEnd }>();
  const waitEnds = new Map<number, WaitEnd>();
  const seen = new Set<number>();
  const steps: Step[] = [];
  const lastAt = new Map<number, number>();
  const add = (step: Step): void => {
    // A read that was modelled before an intent does not overtake the person's own step before it.
    const at = Math.max(step.at, lastAt.get(step.person) ?? 0);
    lastAt.set(step.person, at);
    steps.push(at === step.at ? step : { ...step, at });
  };
  const numbered = numberedTypes(trace.definition);
  for (const intent of trace.intents) {
    const { at, person } = intent;
    if (!seen.has(person)) {
      seen.add(person);
      for (const read of pageReadsBefore(intent, pace)) add({ ...read, at: when(read.at) });
    }
    const wait = lastWait.get(person);
    const isAfterWait = wait !== undefined && wait.end.by === 'ADMITTED' && at >= wait.end.at;
    const afterEntry = isAfterWait ? { entry: wait.entry, ms: (at - wait.end.at) / pace.speed } : null;
    const own: Step = { at: when(at), person, kind: intent.kind, intent, subject: null, afterEntry };
    for (const step of [...seatReadsBefore(intent, own, pace, numbered), own, ...orderReadsAfter(intent, own, pace)])
      add(step);
    if (intent.kind === 'JOIN') {
      lastWait.set(person, intent);
      waitEnds.set(intent.entry, { at: when(intent.end.at), by: intent.end.by });
    }
  }
  steps.sort((a, b) => a.at - b.at);
  const pollEveryMs = (pace.pollSeconds * 1_000) / pace.speed;
  return {
    steps,
    lengthMs: steps.at(-1)?.at ?? 0,
    pollEveryMs,
    waitEnds,
    askedBySecond: countBySecond(steps, waitEnds, pollEveryMs),
  };
}

function pageReadsBefore({ at, person }: Intent, { pageReads, lookSeconds }: Pace): Step[] {
  return Array.from({ length: pageReads }, (_, index) => ({
    at: at - (lookSeconds * 1_000 * (pageReads - index)) / pageReads,
    person,
    kind: 'READ_EVENT' as const,
    intent: null,
    subject: null,
    afterEntry: null,
  }));
}

/** Ticket types of numbered localities. */
function numberedTypes({ localities, ticketTypes }: EventDefinition): ReadonlySet<string> {
  const numbered = new Set(localities.filter(({ seating }) => seating === 'NUMBERED').map(({ id }) => id));
  return new Set(ticketTypes.filter(({ localityId }) => numbered.has(localityId)).map(({ id }) => id));
}

function seatReadsBefore(intent: Intent, own: Step, { pageReads, speed }: Pace, numbered: ReadonlySet<string>): Step[] {
  if (intent.kind !== 'HOLD' || pageReads === 0) return [];
  const before = SEATS_BEFORE_MS / speed;
  const performances = new Set(
    intent.items.filter(({ ticketTypeId }) => numbered.has(ticketTypeId)).map(({ performanceId }) => performanceId),
  );
  return Array.from(performances, (subject) => ({
    ...own,
    kind: 'READ_SEATS' as const,
    intent: null,
    subject,
    at: own.at - before,
    afterEntry: own.afterEntry && { ...own.afterEntry, ms: Math.max(0, own.afterEntry.ms - before) },
  }));
}

function orderReadsAfter(intent: Intent, own: Step, { pageReads, speed }: Pace): Step[] {
  if (intent.kind !== 'PAY' || intent.outcome !== 'paid' || pageReads === 0) return [];
  const after = ORDER_AFTER_MS / speed;
  const afterEntry = own.afterEntry && { ...own.afterEntry, ms: own.afterEntry.ms + after };
  return [{ ...own, kind: 'READ_ORDER', intent: null, subject: intent.order, at: own.at + after, afterEntry }];
}

function countBySecond(
  steps: readonly Step[],
  waitEnds: ReadonlyMap<number, WaitEnd>,
  pollEveryMs: number,
): readonly number[] {
  const counts: number[] = [];
  const count = (at: number): void => {
    const second = Math.floor(at / 1_000);
    while (counts.length <= second) counts.push(0);
    counts[second]! += 1;
  };
  for (const { at, kind, intent } of steps) {
    count(at);
    if (kind !== 'JOIN' || intent?.kind !== 'JOIN') continue;
    const end = waitEnds.get(intent.entry)!.at;
    for (let poll = at + pollEveryMs; poll < end; poll += pollEveryMs) count(poll);
  }
  return counts;
}
