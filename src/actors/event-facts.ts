/**
 * The facts of one event on their way to the disk: appended as the unit of a turn, counted for the next snapshot, and
 * the gate at which answers wait until what they were made from is durable (I4).
 *
 * 1. An answer waits for all facts of the event before it. An answer that shows the waiting room alone does not wait
 *    for the facts of holds: during a sale nearly every poll would wait for a commit.
 * 2. Answers that wait when the journal fails are lost together: its durable head does not move from then on.
 */
import { Overloaded, RETRY_AFTER_SECONDS } from './admission.ts';
import { beginStep, endStep } from './channels.ts';
import type { CommandType, Reply, ReplyTo } from '#domain/command.ts';
import { keepingLast } from '#domain/collections/last-answer.ts';
import type { Decision } from '#domain/decision.ts';
import type { Fact, FactData, FactType, HoldLine, IdempotencyKey } from '#domain/fact.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { Journal } from '#persistence/journal.ts';

/** Rule 1. */
const UNSEEN_IN_ROOM: ReadonlySet<FactType> = new Set<FactType>([
  'HoldPlaced',
  'HoldChanged',
  'HoldReleased',
  'HoldExpired',
]);

/** Whether an answer shows the waiting room alone. One that says that nothing is left shows holds as well. */
export function isOfRoom(type: CommandType, answer: Reply | Refusal): boolean {
  return type === 'PollQueue' && !isRefusal(answer) && (answer as ReplyTo<'PollQueue'>).entry.soldOut !== true;
}

/** An answer that waits for a fact. */
interface Waiting {
  readonly seq: number;
  readonly answer: unknown;
  readonly given: (answer: never) => void;
  readonly lost: (fault: Overloaded) => void;
}

export class EventFacts {
  readonly #eventId: string;
  readonly #journal: Journal;
  #lastSeq: number;
  #sinceSnapshot: number;
  /** The number of the last fact that the waiting room may show (rule 1). */
  #lastSeqOfRoom: number;
  #waiting: Waiting[] = [];

  constructor(eventId: string, journal: Journal, lastSeq: number, sinceSnapshot: number) {
    this.#eventId = eventId;
    this.#journal = journal;
    this.#lastSeq = lastSeq;
    this.#lastSeqOfRoom = lastSeq;
    this.#sinceSnapshot = sinceSnapshot;
  }

  /** Sequence number of the newest fact that the state of the event was built from. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Facts that a replay from the newest snapshot would have to apply. */
  get sinceSnapshot(): number {
    return this.#sinceSnapshot;
  }

  /** Whether all that an answer could show is durable. */
  get areDurable(): boolean {
    return this.#lastSeq <= this.#journal.durableSeq;
  }

  /** Answers that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Hands the facts of a turn to the journal as one unit. A command with an id has its reply stored beside them. */
  append({ facts, reply }: Decision, at: number, commandId?: string): void {
    const rows = facts.map((each) => ({ type: each.type, data: textOf(each) }));
    const unit = { eventId: this.#eventId, at, facts: rows };
    const command = commandId === undefined ? null : { id: commandId, reply: JSON.stringify(reply) };
    this.#lastSeq = this.#journal.append(command === null ? unit : { ...unit, command });
    if (!facts.every(({ type }) => UNSEEN_IN_ROOM.has(type))) this.#lastSeqOfRoom = this.#lastSeq;
    this.#sinceSnapshot += facts.length;
  }

  /** A snapshot is on disk that covers so many of the facts since the one before. */
  noteSnapshot(factsCovered: number): void {
    this.#sinceSnapshot = Math.max(0, this.#sinceSnapshot - factsCovered);
  }

  /** Gives an answer once the facts that it was made from are durable; calls `lost` where they were lost. */
  onceDurable<Answer>(
    answer: Answer,
    isOfRoom: boolean,
    given: (answer: Answer) => void,
    lost: (fault: Overloaded) => void,
  ): void {
    const seq = isOfRoom ? this.#lastSeqOfRoom : this.#lastSeq;
    if (seq <= this.#journal.durableSeq) return given(answer);
    this.#waiting.push({ seq, answer, given, lost });
    if (this.#waiting.length === 1) this.#await();
  }

  /** The same as a promise of the answer. It rejects with Overloaded. */
  whenDurable<Answer>(answer: Answer, isOfRoom = false): Promise<Answer> {
    const begin = beginStep();
    const durable = new Promise<Answer>((resolve, reject) => this.onceDurable(answer, isOfRoom, resolve, reject));
    return begin === 0 || this.areDurable ? durable : timed(durable, begin);
  }

  /** All that wait share one promise of the journal. */
  #await(): void {
    const first = this.#waiting.reduce((seq, waiting) => Math.min(seq, waiting.seq), Infinity);
    this.#journal.durable(first).then(
      () => this.#release(),
      (fault: unknown) => {
        for (const { lost } of this.#waiting.splice(0))
          lost(new Overloaded('the change could not be written', RETRY_AFTER_SECONDS, fault));
      },
    );
  }

  #release(): void {
    const { durableSeq } = this.#journal;
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ seq }) => seq > durableSeq);
    if (this.#waiting.length > 0) this.#await();
    for (const { seq, answer, given } of waiting) if (seq <= durableSeq) given(answer as never);
  }
}

async function timed<Answer>(durable: Promise<Answer>, begin: number): Promise<Answer> {
  const answer = await durable;
  endStep('disk', begin);
  return answer;
}

/** The lines of the last hold that was written. */
let lastLines: readonly HoldLine[] | null = null;

/**
 * The data of a fact as `JSON.stringify` writes it. For a hold that shares its lines with the hold before it, as most
 * do in a rush, that takes half of the time; for one with lines of its own it would take longer.
 */
export function textOf({ type, data }: Fact): string {
  if (type !== 'HoldPlaced' || data.orderId !== undefined) return JSON.stringify(data);
  const sharesLines = data.lines === lastLines;
  lastLines = data.lines;
  return sharesLines ? textOfHold(data) : JSON.stringify(data);
}

/**
 * For a hold that no order takes over at once. The service makes the ids, so nothing in them has to be escaped. The
 * parts are joined: a text that `+` or a template makes refers to its parts for as long as it is kept.
 */
function textOfHold(data: FactData['HoldPlaced']): string {
  const { holdId, sessionKey, lines, expiresAt, firstPlacedAt, replacedHoldId, idempotency } = data;
  const shared = textOfShared(lines, expiresAt, firstPlacedAt);
  const end = textOfEnd(replacedHoldId, idempotency);
  return ['{"holdId":"', holdId, '","sessionKey":', JSON.stringify(sessionKey), shared, end].join('');
}

/** What holds of one moment share, as their lines (`inventory/assignment.ts`). */
const textOfShared = keepingLast((lines: readonly HoldLine[], expiresAt: number, firstPlacedAt: number) => {
  const shared = JSON.stringify({ lines, expiresAt, firstPlacedAt });
  return `,${shared.slice(1, -1)},`;
});

/** Most holds replace none, and many come without a key. */
const textOfEnd = keepingLast((replacedHoldId: string | null, idempotency: IdempotencyKey | null) =>
  JSON.stringify({ replacedHoldId, idempotency }).slice(1),
);
