/**
 * Public views of events that other nodes own: what need not be asked again. The views themselves are kept by those who
 * show them.
 *
 * 1. A revision that the owner confirmed within the last second is answered UNCHANGED here, unless a notice came since
 *    that the event changed. A notice may be lost: then it is the second that bounds how old an answer is.
 * 2. The same question that is asked several times at once is asked of the owner once, unless a notice came since the
 *    first of them.
 * 3. A view for one session is always asked at the owner.
 * 4. What is remembered is bounded, and what was asked last stays (I10).
 */
import type { Query } from '#domain/event/query.ts';
import type { Timing } from '#persistence/nats/timing.ts';

/** How old a confirmed revision may be. */
export const FRESH_MS = 1_000;

/** Events that something is remembered of; one that is in use is asked once a second, and stays. */
export const REMEMBERED_MAX = 5_000;

interface Question {
  /** Names the view; null for one that shows changes, which has no revision. */
  readonly view: string | null;
  readonly knownRevision: string | null;
  /** The same for questions that have the same answer. */
  readonly text: string;
}

interface Confirmed {
  readonly revision: string;
  readonly askedAt: number;
}

/** What is known of one event. A notice drops it as a whole. */
interface Remembered {
  /** By view. */
  readonly confirmed: Map<string, Confirmed>;
  /** By the text of the question. */
  readonly underWay: Map<string, Promise<unknown>>;
}

const UNCHANGED = { outcome: 'UNCHANGED' } as const;

export class RemoteReads {
  readonly #time: Pick<Timing, 'stopwatchMs'>;
  /** By event id; the event that was asked longest ago is the first. */
  readonly #events = new Map<string, Remembered>();

  constructor(time: Pick<Timing, 'stopwatchMs'>) {
    this.#time = time;
  }

  /** Events that something is remembered of. */
  get size(): number {
    return this.#events.size;
  }

  /**
   * The events have changed. What is under way may show them as they were before: it is not remembered, and nobody else
   * joins it.
   */
  forget(eventIds: readonly string[]): void {
    for (const eventId of eventIds) this.#events.delete(eventId);
  }

  /** The view of a query, from what is remembered or by `read`. */
  read(eventId: string, query: Query, read: () => Promise<unknown>): Promise<unknown> {
    const question = questionOf(query);
    if (question === null) return read();
    const remembered = this.#events.get(eventId);
    if (remembered !== undefined && this.#isFresh(remembered, question)) return Promise.resolve(UNCHANGED);
    return remembered?.underWay.get(question.text) ?? this.#ask(eventId, question, read);
  }

  #isFresh({ confirmed }: Remembered, { view, knownRevision }: Question): boolean {
    const known = view === null ? undefined : confirmed.get(view);
    if (known === undefined || known.revision !== knownRevision) return false;
    return this.#time.stopwatchMs() - known.askedAt < FRESH_MS;
  }

  async #ask(eventId: string, question: Question, read: () => Promise<unknown>): Promise<unknown> {
    const { view, knownRevision, text } = question;
    // A notice replaces this object: what an answer then adds to it is seen by nobody.
    const remembered = this.#remember(eventId);
    const askedAt = this.#time.stopwatchMs();
    const reading = read();
    remembered.underWay.set(text, reading);
    try {
      const answer = await reading;
      const revision = isUnchanged(answer) ? knownRevision : revisionOf(answer);
      if (view !== null && revision !== null) remembered.confirmed.set(view, { revision, askedAt });
      return answer;
    } finally {
      remembered.underWay.delete(text);
    }
  }

  #remember(eventId: string): Remembered {
    const remembered = this.#events.get(eventId) ?? { confirmed: new Map(), underWay: new Map() };
    this.#events.delete(eventId);
    this.#events.set(eventId, remembered);
    if (this.#events.size > REMEMBERED_MAX) {
      const [oldest] = this.#events.keys();
      this.#events.delete(oldest!);
    }
    return remembered;
  }
}

/**
 * What a query asks of a view that is the same for everybody; null for any other query, and for one of a session (rule
 * 3).
 */
function questionOf(query: Query): Question | null {
  switch (query.type) {
    case 'ReadPayload':
      return query.sessionKey === null ? revised(`payload ${query.performanceId}`, query.knownRevision) : null;
    case 'ReadSeating':
      return query.audience === 'BUYERS' ? revised('seating', query.knownRevision) : null;
    case 'ReadOccupancy': {
      if (query.audience !== 'BUYERS') return null;
      const { performanceId, since, knownRevision } = query;
      const view = `occupancy ${performanceId}`;
      return since === null ? revised(view, knownRevision) : changes(`${view} since ${since} ${knownRevision}`);
    }
    case 'ReadLivePerformance':
      return revised(`live ${query.performanceId}`, query.knownRevision);
    default:
      return null;
  }
}

function revised(view: string, knownRevision: string | null): Question {
  return { view, knownRevision, text: `${view} ${knownRevision}` };
}

function changes(text: string): Question {
  return { view: null, knownRevision: null, text };
}

function isUnchanged(answer: unknown): boolean {
  return (answer as { readonly outcome?: unknown }).outcome === 'UNCHANGED';
}

function revisionOf(answer: unknown): string | null {
  return (answer as { readonly revision?: string | null }).revision ?? null;
}
