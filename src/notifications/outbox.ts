/**
 * The journal as an outbox: tells a receiver what happened, at least once, in the order of the journal for each event.
 *
 * Owns how far the telling has come, and its order; what is told is `messages.ts`. Reads durable facts alone and never holds a
 * turn: a receiver that is down costs no buyer anything. Opened by `src/service.ts`.
 *
 * 1. One event's messages go out one after the other, each once the one before was taken; events go side by side.
 * 2. What was not taken is posted again after pauses that grow from a second to five minutes, for as long as it takes.
 * 3. Facts wait in bounded memory. When it is full, events whose messages are refused are set aside with their first fact
 *    alone, so that the others go on; when nobody can be set aside reading stops. The journal keeps the rest.
 * 4. Once the fact of an event set aside was taken, its further facts are read again from there.
 * 5. The cursor is kept in the journal. After a crash what was taken since is told again, under the same ids.
 */
import { isWorthReporting, reportTrouble, retryPauseMs } from '#actors/trouble.ts';
import type { NotificationCursor } from '#actors/service-facts.ts';
import type { BoxOffice } from '#domain/box-office.ts';
import type { FactRow, Journal } from '#persistence/journal.ts';
import { isTold, messagesOf, type Message } from './messages.ts';
import type { Post } from './poster.ts';

export interface OutboxPorts {
  readonly journal: Pick<Journal, 'durableSeq' | 'read'>;
  /** How far an earlier run had come; null when nothing was ever told. */
  readonly cursor: NotificationCursor | null;
  readonly officeOf: (eventId: string) => Promise<{
    look<Answer>(query: (office: BoxOffice, now: number) => Answer): Answer;
  } | null>;
  readonly post: Post;
  /** Keeps the cursor durably. */
  readonly keep: (cursor: NotificationCursor) => Promise<void>;
  /** The first pause after a refused message; for tests. */
  readonly firstPauseMs?: number;
}

export interface Outbox {
  /** Every told fact up to this one was taken; what comes after must stay in the journal. */
  readonly deliveredSeq: number;
  /** Posts nothing more, keeps the cursor. */
  stop(): Promise<void>;
}

/** Between looks at whether the journal has grown. */
const LOOK_EVERY_MS = 100;

/** Between writes of the cursor; what was taken since is told again after a crash. */
const KEEP_EVERY_MS = 1_000;

/** Messages under way at once, each of another event. */
const POSTS_MAX = 16;

/** Facts that wait in memory (some 1 KB each). */
const QUEUED_MAX = 5_000;

/** Facts read without giving the loop back; under 3 ms. */
const ROWS_A_SLICE = 256;

/** Events set aside at once; they are listed in the cursor. */
const ASIDE_MAX = 1_000;

/** The cursor is also kept after so many facts that nobody is told about, so that a start need not read them again. */
const UNTOLD_MAX = 20_000;

/** So many refusals were no accident: the message taken then says that the receiver is back. */
const OUTAGE_REFUSALS_MIN = 3;

/**
 * How an event follows the reading of the journal: along with it; set aside; about to catch up, or catching up, from the
 * last fact in its line.
 */
type Following = 'ALONG' | 'ASIDE' | 'ABOUT' | 'CATCHING_UP';

/** One event's line of facts to be told. */
interface Lane {
  readonly eventId: string;
  readonly queue: FactRow[];
  /** Messages of the queue's first fact that were taken already. */
  taken: number;
  /** The last fact put into the queue. */
  readSeq: number;
  /** The last fact whose messages were all taken. */
  deliveredSeq: number;
  /** In a row. */
  refusals: number;
  status: 'READY' | 'POSTING' | 'PAUSING';
  following: Following;
}

/** Starts telling. With no cursor it begins with what happens from now on, and keeps that first. */
export async function openOutbox(ports: OutboxPorts): Promise<Outbox> {
  const outbox = new JournalOutbox(ports);
  await outbox.open();
  return outbox;
}

class JournalOutbox implements Outbox {
  readonly #ports: OutboxPorts;
  readonly #lanes = new Map<string, Lane>();
  readonly #stopping = new AbortController();
  readonly #pauses = new Map<Lane, NodeJS.Timeout>();
  /** Lanes that are READY and have facts, in the order in which they came. */
  readonly #waiting = new Set<Lane>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Everything up to here was read. It goes back when an event catches up; `#frontierSeq` does not. */
  #readSeq: number;
  #frontierSeq: number;
  #keptSeq: number;
  #queued = 0;
  #posting = 0;
  #isReading = false;
  #isDirty = false;
  #keeping: Promise<void> = Promise.resolve();

  constructor(ports: OutboxPorts) {
    this.#ports = ports;
    const { throughSeq, behind } = ports.cursor ?? { throughSeq: ports.journal.durableSeq, behind: {} };
    this.#frontierSeq = throughSeq;
    this.#keptSeq = throughSeq;
    this.#readSeq = Math.min(throughSeq, ...Object.values(behind));
    for (const [eventId, seq] of Object.entries(behind)) this.#lanes.set(eventId, newLane(eventId, seq, 'CATCHING_UP'));
  }

  async open(): Promise<void> {
    if (this.#ports.cursor === null) await this.#ports.keep(this.#cursor());
    this.#timers.push(
      setInterval(() => void this.#readOn(), LOOK_EVERY_MS),
      setInterval(() => this.#keepCursor(), KEEP_EVERY_MS),
    );
    for (const timer of this.#timers) timer.unref();
  }

  get deliveredSeq(): number {
    const { throughSeq, behind } = this.#cursor();
    return Math.min(throughSeq, ...Object.values(behind));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    for (const pause of this.#pauses.values()) clearTimeout(pause);
    this.#isDirty = true;
    this.#keepCursor();
    await this.#keeping;
  }

  // ── reading ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Reads the journal on, in slices, as far as there is room (3). */
  async #readOn(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#readSlice()) await new Promise((resolve) => setImmediate(resolve));
    } catch (error) {
      reportTrouble('notifications', 'the journal could not be read for notifications', error);
    } finally {
      this.#isReading = false;
    }
  }

  /** Reads a slice; whether there is more to read and room for it. */
  #readSlice(): boolean {
    let rows = 0;
    for (const row of this.#ports.journal.read({ afterSeq: this.#readSeq })) {
      if (!this.#hasRoom()) return false;
      this.#take(row);
      this.#readSeq = row.seq;
      this.#frontierSeq = Math.max(this.#frontierSeq, row.seq);
      rows += 1;
      if (rows === ROWS_A_SLICE) return true;
    }
    if (this.#frontierSeq - this.#keptSeq > UNTOLD_MAX) this.#isDirty = true;
    return this.#goBack();
  }

  #hasRoom(): boolean {
    if (this.#stopping.signal.aborted) return false;
    return this.#queued < QUEUED_MAX || this.#setAside();
  }

  /** Puts a fact into its event's line, unless it is no news to anybody, or was put there already. */
  #take(row: FactRow): void {
    if (!isTold(row.type)) return;
    const lane = this.#lanes.get(row.eventId) ?? newLane(row.eventId, row.seq - 1, 'ALONG');
    if (!isWanted(lane, row, this.#frontierSeq)) return;
    this.#lanes.set(row.eventId, lane);
    lane.queue.push(row);
    lane.readSeq = row.seq;
    this.#queued += 1;
    if (lane.status === 'READY') this.#waiting.add(lane);
    this.#startPosting();
  }

  /** Sets the refused event with the longest line aside, to make room (3); false when there is none. */
  #setAside(): boolean {
    let asideCount = 0;
    let longest: Lane | null = null;
    for (const lane of this.#lanes.values()) {
      if (lane.following === 'ASIDE') asideCount += 1;
      else if (lane.status === 'PAUSING' && lane.queue.length > (longest?.queue.length ?? 1)) longest = lane;
    }
    if (longest === null || asideCount >= ASIDE_MAX) return false;
    longest.following = 'ASIDE';
    longest.readSeq = longest.queue[0]!.seq;
    this.#queued -= longest.queue.length - 1;
    longest.queue.length = 1;
    return true;
  }

  /** At the end of the journal: whoever caught up follows along; for those about to, it is read again (4). */
  #goBack(): boolean {
    let backSeq = this.#readSeq;
    for (const lane of this.#lanes.values()) {
      if (lane.following === 'CATCHING_UP') {
        lane.following = 'ALONG';
        this.#forgetIdle(lane);
      } else if (lane.following === 'ABOUT') {
        lane.following = 'CATCHING_UP';
        backSeq = Math.min(backSeq, lane.readSeq);
      }
    }
    const isBack = backSeq < this.#readSeq;
    this.#readSeq = backSeq;
    return isBack;
  }

  // ── posting ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #startPosting(): void {
    for (const lane of this.#waiting) {
      if (this.#posting >= POSTS_MAX || this.#stopping.signal.aborted) return;
      this.#waiting.delete(lane);
      void this.#tell(lane);
    }
  }

  /** Posts an event's messages until its line is empty, one is refused, or all stops. */
  async #tell(lane: Lane): Promise<void> {
    lane.status = 'POSTING';
    this.#posting += 1;
    try {
      for (let row = lane.queue[0]; row !== undefined && !this.#stopping.signal.aborted; row = lane.queue[0]) {
        await this.#tellFact(lane, row);
        this.#noteTold(lane, row);
      }
      lane.status = 'READY';
      if (lane.following === 'ASIDE') lane.following = 'ABOUT';
      this.#forgetIdle(lane);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#pause(lane, error);
    } finally {
      this.#posting -= 1;
    }
    this.#startPosting();
  }

  async #tellFact(lane: Lane, row: FactRow): Promise<void> {
    const office = await this.#ports.officeOf(row.eventId);
    const messages: readonly Message[] = office?.look((state) => messagesOf(row, state)) ?? [];
    for (const message of messages.slice(lane.taken)) {
      await this.#ports.post(message, this.#stopping.signal);
      lane.taken += 1;
      if (lane.refusals >= OUTAGE_REFUSALS_MIN) this.#endPauses();
      lane.refusals = 0;
    }
  }

  #noteTold(lane: Lane, row: FactRow): void {
    lane.queue.shift();
    lane.taken = 0;
    lane.deliveredSeq = row.seq;
    this.#queued -= 1;
    this.#isDirty = true;
  }

  #forgetIdle(lane: Lane): void {
    const isIdle = lane.queue.length === 0 && lane.status === 'READY' && lane.following === 'ALONG';
    if (isIdle) this.#lanes.delete(lane.eventId);
  }

  #pause(lane: Lane, error: unknown): void {
    lane.status = 'PAUSING';
    lane.refusals += 1;
    if (isWorthReporting(lane.refusals)) {
      reportTrouble('notifications', `${lane.eventId}: a notification was not taken`, error);
    }
    const timer = setTimeout(() => this.#endPause(lane), retryPauseMs(lane.refusals, this.#ports.firstPauseMs));
    timer.unref();
    this.#pauses.set(lane, timer);
  }

  #endPause(lane: Lane): void {
    clearTimeout(this.#pauses.get(lane));
    this.#pauses.delete(lane);
    lane.status = 'READY';
    this.#waiting.add(lane);
    this.#startPosting();
  }

  /** The receiver is back: nobody need wait out a pause of minutes. */
  #endPauses(): void {
    for (const lane of [...this.#pauses.keys()]) this.#endPause(lane);
  }

  // ── the cursor ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Everything up to `throughSeq` was taken, but of events that do not follow along; of those `behind` says how far. */
  #cursor(): NotificationCursor {
    const behind: Record<string, number> = {};
    let throughSeq = this.#frontierSeq;
    for (const lane of this.#lanes.values()) {
      if (lane.following !== 'ALONG') behind[lane.eventId] = lane.deliveredSeq;
      else if (lane.queue.length > 0) throughSeq = Math.min(throughSeq, lane.deliveredSeq);
    }
    return { throughSeq, behind };
  }

  #keepCursor(): void {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    const cursor = this.#cursor();
    this.#keeping = this.#keeping
      .then(() => this.#ports.keep(cursor))
      .then(() => {
        this.#keptSeq = cursor.throughSeq;
      })
      .catch(() => {
        // The journal cannot be written now; the next look tries again.
        this.#isDirty = true;
      });
  }
}

function newLane(eventId: string, deliveredSeq: number, following: Following): Lane {
  const nothing = { queue: [], taken: 0, refusals: 0 };
  return { ...nothing, eventId, readSeq: deliveredSeq, deliveredSeq, status: 'READY', following };
}

/** Whether a fact that is read now belongs into an event's line now. */
function isWanted({ following, readSeq }: Lane, { seq }: FactRow, frontierSeq: number): boolean {
  switch (following) {
    case 'ALONG':
      return seq > frontierSeq;
    case 'CATCHING_UP':
      return seq > readSeq;
    case 'ASIDE':
    case 'ABOUT':
      return false;
  }
}
