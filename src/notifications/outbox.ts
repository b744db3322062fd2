/**
 * Delivers messages from the journal, notifications to a receiver and mails to buyers: at least once, those of one
 * queue in the order of its facts.
 *
 * Owns the queues of undelivered facts and the cursor, which says how far delivery has come. It reads durable facts
 * only and never takes part in a turn, so a receiver that is down delays no buyer.
 *
 * 1. The messages of one queue are posted one after the other, each once the one before was accepted. Queues are
 *    independent of each other: notifications have one for each event, mails one for each order.
 * 2. A message that was not accepted is posted again after pauses that grow from a second to five minutes, without end.
 * 3. Undelivered facts wait in bounded memory. When it is full, a queue whose messages fail is parked: it keeps the
 *    first fact only, so that the others go on. When none can be parked, reading stops. The journal keeps the rest.
 * 4. Once the first fact of a parked queue was delivered, its further facts are read from the journal again.
 * 5. The cursor is stored in the journal. After a crash, what was delivered since is delivered again, under the same
 *    ids. It names the queues that are late, so that they do not have the others delivered again.
 * 6. A message that is refused for itself alone, such as a mail for its address, says nothing about the receiver.
 *    Queues of such messages wait apart: they are counted by themselves, few of them are posted at once, and no return
 *    of a receiver ends their pauses. So the others are posted as they come, and only a great many stop the reading.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { isWorthReporting, reportTrouble, retryPauseMs } from '#actors/trouble.ts';
import { deliveredThrough, type NotificationCursor } from '#engine/service-facts.ts';
import type { FactFollower, FactSource } from '#engine/deployment.ts';
import type { FactRow } from '#persistence/journal.ts';

/** What is delivered, and how. */
export interface Delivery<Message> {
  /** Where its troubles are reported, and what it delivers. */
  readonly where: 'notifications' | 'mail';
  readonly what: string;
  /** The queue of a fact, which the cursor names; null where it has no messages. */
  queueOf(row: FactRow): string | null;
  /** The messages of a fact as of now, in the order in which they are posted. */
  messagesOf(row: FactRow, source: Pick<FactSource, 'events' | 'label'>): Promise<readonly Message[]>;
  /** Rejects where it is to be posted again. */
  post(message: Message, signal: AbortSignal): Promise<void>;
  /** Whether an error of `post` is reported already, or is no trouble. */
  isReported?(error: unknown): boolean;
  /** Whether an error of `post` is about its message alone (rule 6); none is when absent. */
  isOfMessage?(error: unknown): boolean;
}

interface OutboxPorts<Message> extends Omit<FactSource, 'label'> {
  /** See `FactSource`; '' when absent. */
  readonly label?: string;
  readonly delivery: Delivery<Message>;
  /** The first pause after a failure; a second when absent. */
  readonly firstPauseMs?: number;
}

export interface Outbox extends FactFollower {
  /** All facts up to this one are delivered; those after it must stay in the journal. */
  readonly deliveredSeq: number;
  /** Posts no further message and stores the cursor. */
  stop(): Promise<void>;
}

/** Between reads of the journal. */
const READ_EVERY_MS = 100;

/** Between writes of the cursor; what was delivered since is delivered again after a crash. */
const STORE_EVERY_MS = 1_000;

/** Concurrent posts, each of another queue; of them those of refused ones (rule 6). */
const POSTS_MAX = 16;
const REFUSED_POSTS_MAX = 2;

/** Facts in all queues (some 1 KB each), without refused ones; and in those. */
const QUEUED_MAX = 5_000;
const REFUSED_MAX = 10_000;

/** Facts read before other work runs; under 3 ms. */
const ROWS_A_SLICE = 256;

/** Parked queues. */
const PARKED_MAX = 1_000;

/** Late queues that the cursor lists. For each hundred of them it is stored a second later, because it is long. */
const LISTED_MAX = REFUSED_MAX + PARKED_MAX;
const LISTED_A_SECOND = 100;

/** The cursor is also stored after so many facts without a message, so that a start does not read them again. */
const UNSTORED_FACTS_MAX = 20_000;

/** After so many failures in a row, an accepted message means that the receiver was down and is back. */
const OUTAGE_FAILURES_MIN = 3;

/**
 * Whether the facts of a queue are queued as the journal is read: CURRENT, all of them; PARKED, none (rule 3);
 * UNPARKED, none until reading starts again behind its last queued fact; CATCHING_UP, those after its last queued fact
 * (rule 4).
 */
type Following = 'CURRENT' | 'PARKED' | 'UNPARKED' | 'CATCHING_UP';

/** Undelivered facts that are delivered one after the other. */
interface FactQueue {
  readonly name: string;
  readonly facts: FactRow[];
  /** Accepted messages of the first fact. */
  accepted: number;
  /** The last fact that was queued. */
  readSeq: number;
  /** The last fact of which all messages were accepted. */
  deliveredSeq: number;
  /** Failed posts in a row. */
  failures: number;
  /** Whether the last of them was refused for itself alone (rule 6). */
  isRefused: boolean;
  /** Whether a post failed, here or before the start, and it has not caught up since (rule 5). */
  isLate: boolean;
  status: 'READY' | 'POSTING' | 'PAUSING';
  following: Following;
}

/** Starts delivery. Without a cursor it starts with the next fact, and stores that cursor first. */
export async function openOutbox<Message>(ports: OutboxPorts<Message>): Promise<Outbox> {
  const outbox = new JournalOutbox<Message>(ports);
  await outbox.open();
  return outbox;
}

class JournalOutbox<Message> implements Outbox {
  readonly #ports: OutboxPorts<Message>;
  readonly #queues = new Map<string, FactQueue>();
  readonly #stopping = new AbortController();
  readonly #pauses = new Map<FactQueue, NodeJS.Timeout>();
  /** Queues that are READY and have facts, in the order in which they became so; refused ones apart (rule 6). */
  readonly #waiting = new Set<FactQueue>();
  readonly #waitingRefused = new Set<FactQueue>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** The last fact read. It moves back when an event catches up; `#frontierSeq` does not. */
  #readSeq: number;
  #frontierSeq: number;
  #storedSeq: number;
  #queued = 0;
  #refused = 0;
  #posting = 0;
  #postingRefused = 0;
  /** Seconds until the cursor is stored. */
  #storesIn = 0;
  #isReading = false;
  #isDirty = false;
  #storing: Promise<void> = Promise.resolve();

  constructor(ports: OutboxPorts<Message>) {
    this.#ports = ports;
    const cursor = ports.cursor ?? { throughSeq: ports.journal.durableSeq, behind: {} };
    const { throughSeq, behind } = cursor;
    this.#frontierSeq = throughSeq;
    this.#storedSeq = throughSeq;
    this.#readSeq = deliveredThrough(cursor);
    for (const [name, seq] of Object.entries(behind)) {
      this.#queues.set(name, newQueue(name, seq, 'CATCHING_UP'));
    }
  }

  async open(): Promise<void> {
    if (this.#ports.cursor === null) await this.#ports.storeCursor(this.#cursor());
    this.#timers.push(
      setInterval(() => void this.#readJournal(), READ_EVERY_MS),
      setInterval(() => this.#storeCursor(), STORE_EVERY_MS),
    );
    for (const timer of this.#timers) timer.unref();
  }

  get deliveredSeq(): number {
    return deliveredThrough(this.#cursor());
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    for (const pause of this.#pauses.values()) clearTimeout(pause);
    this.#isDirty = true;
    this.#storeCursor();
    await this.#storing;
  }

  // ── reading ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Reads the journal in slices, as far as there is room (rule 3). */
  async #readJournal(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#readSlice()) await nextRound();
    } catch (error) {
      const { where, what } = this.#ports.delivery;
      reportTrouble(where, `the journal could not be read for ${what}s`, error);
    } finally {
      this.#isReading = false;
    }
  }

  /** Reads a slice; returns whether there is more to read. */
  #readSlice(): boolean {
    let rows = 0;
    for (const row of this.#ports.journal.read({ afterSeq: this.#readSeq })) {
      if (!this.#hasRoom()) return false;
      this.#enqueue(row);
      this.#readSeq = row.seq;
      this.#frontierSeq = Math.max(this.#frontierSeq, row.seq);
      rows += 1;
      if (rows === ROWS_A_SLICE) return true;
    }
    if (this.#frontierSeq - this.#storedSeq > UNSTORED_FACTS_MAX) this.#isDirty = true;
    return this.#rewind();
  }

  #hasRoom(): boolean {
    if (this.#stopping.signal.aborted) return false;
    return this.#refused < REFUSED_MAX && (this.#queued < QUEUED_MAX || this.#park());
  }

  /** Queues a fact, unless it has no messages or is not to be queued now. */
  #enqueue(row: FactRow): void {
    const name = this.#ports.delivery.queueOf(row);
    if (name === null) return;
    const queue = this.#queues.get(name) ?? newQueue(name, row.seq - 1, 'CURRENT');
    if (!isQueued(queue, row, this.#frontierSeq)) return;
    this.#queues.set(name, queue);
    queue.facts.push(row);
    queue.readSeq = row.seq;
    this.#count(queue, 1);
    if (queue.status === 'READY') this.#wait(queue);
    this.#startPosting();
  }

  #count({ isRefused }: FactQueue, facts: number): void {
    if (isRefused) this.#refused += facts;
    else this.#queued += facts;
  }

  /** Parks the longest queue that fails, but no refused one, to make room (rule 3); false when there is none. */
  #park(): boolean {
    let parkedCount = 0;
    let longest: FactQueue | null = null;
    for (const queue of this.#queues.values()) {
      if (queue.following === 'PARKED') parkedCount += 1;
      else if (queue.status !== 'PAUSING' || queue.isRefused) continue;
      else if (queue.facts.length > (longest?.facts.length ?? 1)) longest = queue;
    }
    if (longest === null || parkedCount >= PARKED_MAX) return false;
    longest.following = 'PARKED';
    longest.readSeq = longest.facts[0]!.seq;
    this.#count(longest, 1 - longest.facts.length);
    longest.facts.length = 1;
    return true;
  }

  /**
   * At the end of the journal: queues that were catching up are current; for unparked ones reading starts again (rule
   * 4).
   */
  #rewind(): boolean {
    let backSeq = this.#readSeq;
    for (const queue of this.#queues.values()) {
      if (queue.following === 'CATCHING_UP') {
        queue.following = 'CURRENT';
        this.#dropIdle(queue);
      } else if (queue.following === 'UNPARKED') {
        queue.following = 'CATCHING_UP';
        backSeq = Math.min(backSeq, queue.readSeq);
      }
    }
    const isBack = backSeq < this.#readSeq;
    this.#readSeq = backSeq;
    return isBack;
  }

  // ── posting ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #wait(queue: FactQueue): void {
    (queue.isRefused ? this.#waitingRefused : this.#waiting).add(queue);
  }

  #startPosting(): void {
    for (const waiting of [this.#waiting, this.#waitingRefused]) {
      for (const queue of waiting) {
        if (this.#posting >= POSTS_MAX || this.#stopping.signal.aborted) return;
        if (queue.isRefused && this.#postingRefused >= REFUSED_POSTS_MAX) return;
        waiting.delete(queue);
        void this.#deliver(queue);
      }
    }
  }

  /** Posts a queue's messages until it is empty, a post fails or the outbox stops. */
  async #deliver(queue: FactQueue): Promise<void> {
    const refused = queue.isRefused ? 1 : 0;
    queue.status = 'POSTING';
    this.#posting += 1;
    this.#postingRefused += refused;
    try {
      for (let row = queue.facts[0]; row !== undefined && !this.#stopping.signal.aborted; row = queue.facts[0]) {
        await this.#deliverFact(queue, row);
        this.#onDelivered(queue, row);
      }
      queue.status = 'READY';
      if (queue.following === 'PARKED') queue.following = 'UNPARKED';
      this.#dropIdle(queue);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#pause(queue, error);
    } finally {
      this.#posting -= 1;
      this.#postingRefused -= refused;
    }
    this.#startPosting();
  }

  async #deliverFact(queue: FactQueue, row: FactRow): Promise<void> {
    const { delivery, events, label = '' } = this.#ports;
    const messages = await delivery.messagesOf(row, { events, label });
    for (const message of messages.slice(queue.accepted)) {
      await delivery.post(message, this.#stopping.signal);
      queue.accepted += 1;
      if (queue.failures >= OUTAGE_FAILURES_MIN && !queue.isRefused) this.#endPauses();
      queue.failures = 0;
      this.#noteRefused(queue, false);
    }
  }

  #onDelivered(queue: FactQueue, row: FactRow): void {
    queue.facts.shift();
    queue.accepted = 0;
    queue.deliveredSeq = row.seq;
    this.#count(queue, -1);
    this.#isDirty = true;
  }

  #noteRefused(queue: FactQueue, isRefused: boolean): void {
    this.#count(queue, -queue.facts.length);
    queue.isRefused = isRefused;
    this.#count(queue, queue.facts.length);
  }

  #dropIdle(queue: FactQueue): void {
    const isIdle = queue.facts.length === 0 && queue.status === 'READY' && queue.following === 'CURRENT';
    if (isIdle) this.#queues.delete(queue.name);
  }

  #pause(queue: FactQueue, error: unknown): void {
    queue.status = 'PAUSING';
    queue.failures += 1;
    queue.isLate = true;
    const { where, what, isReported, isOfMessage } = this.#ports.delivery;
    this.#noteRefused(queue, isOfMessage?.(error) === true);
    if (isWorthReporting(queue.failures) && isReported?.(error) !== true) {
      reportTrouble(where, `${queue.facts[0]!.eventId}: a ${what} was not accepted`, error);
    }
    const timer = setTimeout(() => this.#endPause(queue), retryPauseMs(queue.failures, this.#ports.firstPauseMs));
    timer.unref();
    this.#pauses.set(queue, timer);
  }

  #endPause(queue: FactQueue): void {
    clearTimeout(this.#pauses.get(queue));
    this.#pauses.delete(queue);
    queue.status = 'READY';
    this.#wait(queue);
    this.#startPosting();
  }

  /** Ends pauses, some of which may be minutes long, once the receiver is back; not those of refused ones (rule 6). */
  #endPauses(): void {
    for (const queue of [...this.#pauses.keys()]) if (!queue.isRefused) this.#endPause(queue);
  }

  // ── the cursor ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Everything up to `throughSeq` is delivered, except for the queues in `behind`, with the last fact delivered of each
   * (rule 5).
   */
  #cursor(): NotificationCursor {
    const behind: Record<string, number> = {};
    let throughSeq = this.#frontierSeq;
    let late = 0;
    for (const queue of this.#queues.values()) {
      const isListed = queue.following !== 'CURRENT' || (queue.isLate && (late += 1) <= LISTED_MAX);
      if (isListed) behind[queue.name] = queue.deliveredSeq;
      else if (queue.facts.length > 0) throughSeq = Math.min(throughSeq, queue.deliveredSeq);
    }
    return { throughSeq, behind };
  }

  #storeCursor(): void {
    this.#storesIn -= 1;
    const isDue = this.#storesIn <= 0 || this.#stopping.signal.aborted;
    if (!this.#isDirty || !isDue) return;
    this.#isDirty = false;
    const cursor = this.#cursor();
    this.#storesIn = 1 + Math.floor(Object.keys(cursor.behind).length / LISTED_A_SECOND);
    this.#storing = this.#storing
      .then(() => this.#ports.storeCursor(cursor))
      .then(() => {
        this.#storedSeq = cursor.throughSeq;
      })
      .catch(() => {
        // The journal cannot be written now; the next interval tries again.
        this.#isDirty = true;
        this.#storesIn = 0;
      });
  }
}

function newQueue(name: string, deliveredSeq: number, following: Following): FactQueue {
  const isLate = following === 'CATCHING_UP';
  const empty = { facts: [], accepted: 0, failures: 0, isLate, isRefused: false };
  return { ...empty, name, readSeq: deliveredSeq, deliveredSeq, status: 'READY', following };
}

/** Whether a fact that was read is to be queued now. */
function isQueued({ following, readSeq }: FactQueue, { seq }: FactRow, frontierSeq: number): boolean {
  switch (following) {
    case 'CURRENT':
      return seq > frontierSeq;
    case 'CATCHING_UP':
      return seq > readSeq;
    case 'PARKED':
    case 'UNPARKED':
      return false;
  }
}
