/**
 * Plays a schedule over HTTP: every person on time, whatever becomes of the others (an open loop).
 *
 * 1. A step is due at its moment, or once the person's step before is answered, or after the admission that it follows.
 * 2. A step that needs what was refused before (a checkout without its hold) is not tried, and counted.
 * 3. People who wait poll until the service admits them; those who were never admitted in the trace stop when they
 *    stopped there.
 * 4. Nobody waits longer than `endMs`; whoever still waits at that moment is counted.
 * 5. Nothing is tried again, with one exception: a party whose best seats are no longer side by side takes the largest
 *    block. Where no waiting room asks for a pass, it takes the rest as another session.
 */
import type { Connections } from './connections.ts';
import { Purchases, type PurchaseCounts } from './buying.ts';
import { bodyOf, type ReadAnswer, type RequestBuilder } from './requests.ts';
import type { RoutedRequest } from './buyer-requests.ts';
import type { Schedule, Step } from './schedule.ts';
import type { Sales } from '../trace/sales.ts';
import { Tally, type TallyReport } from './tally.ts';
import type { Timeline } from './timeline.ts';

interface Rehearsal {
  readonly schedule: Schedule;
  readonly requests: RequestBuilder;
  readonly connections: Connections;
  readonly timeline: Timeline;
  /** A moment of the service's clock, on the timeline. */
  momentOf(at: number): number;
  readonly hasWaitingRoom: boolean;
  /** Adds up what is bought. */
  readonly sales: Sales;
  readonly endMs: number;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface Played extends PurchaseCounts {
  readonly tally: TallyReport;
  readonly lengthMs: number;
  /** Steps that could not be tried, by kind and reason. */
  readonly notTried: Readonly<Record<string, number>>;
  readonly polls: number;
}

interface Person {
  readonly number: number;
  readonly steps: Step[];
  readonly waits: Map<number, Wait>;
}

interface Wait {
  readonly entryId: string;
  /** On the timeline; null while not admitted. */
  admittedAt: number | null;
}

interface EntryBody {
  readonly id: string;
  readonly status: 'WAITING' | 'ADMITTED' | 'EXPIRED' | 'LEFT';
  readonly admitted_at: string | null;
}

const PROGRESS_EVERY = 256;

export async function play(rehearsal: Rehearsal): Promise<Played> {
  return new Player(rehearsal).play();
}

class Player {
  readonly #rehearsal: Rehearsal;
  readonly #tally = new Tally();
  readonly #purchases: Purchases;
  readonly #notTried: Record<string, number> = {};
  /** The newest version of each performance's occupancy that anybody has seen; all read on from it. */
  readonly #versions = new Map<string, number>();
  #polls = 0;
  #done = 0;

  constructor(rehearsal: Rehearsal) {
    this.#rehearsal = rehearsal;
    const { requests, hasWaitingRoom, sales } = rehearsal;
    this.#purchases = new Purchases({
      requests,
      canSplit: !hasWaitingRoom,
      sales,
      send: (request, dueAt) => this.#send(request, dueAt),
      skip: (what) => this.#skip(what),
    });
  }

  async play(): Promise<Played> {
    const { schedule, timeline } = this.#rehearsal;
    const people = new Map<number, Person>();
    for (const step of schedule.steps) {
      const person = people.get(step.person) ?? { number: step.person, steps: [], waits: new Map<number, Wait>() };
      people.set(step.person, person);
      person.steps.push(step);
    }
    await Promise.all(Array.from(people.values(), (person) => this.#live(person)));
    return {
      ...this.#purchases.counts(),
      tally: this.#tally.report(),
      lengthMs: timeline.now(),
      notTried: this.#notTried,
      polls: this.#polls,
    };
  }

  async #live(person: Person): Promise<void> {
    const { timeline, schedule, endMs, onProgress } = this.#rehearsal;
    let readyAt = 0;
    for (const step of person.steps) {
      const dueAt = this.#dueAt(person, step, readyAt);
      if (typeof dueAt === 'string') this.#skip(`${step.kind}: ${dueAt}`);
      else if (dueAt > endMs) this.#skip(`${step.kind}: the rehearsal was over`);
      else {
        await timeline.at(dueAt);
        await this.#take(person, step, dueAt);
        readyAt = timeline.now();
      }
      this.#done += 1;
      if (this.#done % PROGRESS_EVERY === 0) onProgress?.(this.#done, schedule.steps.length);
    }
  }

  /** When a step is due (rule 1), or why it never is. */
  #dueAt({ waits }: Person, { at, afterEntry }: Step, readyAt: number): number | string {
    const wait = afterEntry === null ? undefined : waits.get(afterEntry.entry);
    if (wait === undefined)
      return afterEntry !== null && this.#rehearsal.hasWaitingRoom ? 'has no place in line' : Math.max(at, readyAt);
    if (wait.admittedAt === null) return 'was not admitted';
    return Math.max(readyAt, wait.admittedAt + afterEntry!.ms);
  }

  async #take(person: Person, step: Step, dueAt: number): Promise<void> {
    const { requests } = this.#rehearsal;
    const { intent } = step;
    if (step.kind === 'READ_EVENT') return void (await this.#send(requests.readEvent(), dueAt));
    if (step.kind === 'READ_SEATS') return this.#readSeats(String(step.subject), dueAt);
    if (step.kind === 'READ_ORDER') return this.#purchases.readOrders(Number(step.subject), dueAt);
    if (intent === null) return;
    if (intent.kind === 'JOIN') return this.#wait(person, intent.entry, dueAt);
    if (intent.kind === 'LEAVE') return this.#leave(person, intent.entry, dueAt);
    const entry = [...person.waits.values()].at(-1);
    const pass = this.#rehearsal.hasWaitingRoom ? (entry?.entryId ?? null) : null;
    return this.#purchases.take(intent, pass, dueAt, () => this.#rehearsal.timeline.now());
  }

  async #readSeats(performanceId: string, dueAt: number): Promise<void> {
    const known = this.#versions.get(performanceId) ?? null;
    const reply = await this.#send(this.#rehearsal.requests.readSeats(performanceId, known), dueAt);
    const version = Number(/"version":(\d+)/.exec(reply?.body.slice(0, VERSION_CHARS_MAX) ?? '')?.[1] ?? 0);
    if (version > (known ?? 0)) this.#versions.set(performanceId, version);
  }

  // ── the waiting room ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Joins, and polls until the wait is over (rules 3 and 4). An event without a waiting room lets everybody pass. */
  async #wait({ number, waits }: Person, entry: number, dueAt: number): Promise<void> {
    const { requests, timeline, schedule, endMs, hasWaitingRoom } = this.#rehearsal;
    if (!hasWaitingRoom) return void waits.set(entry, { entryId: '', admittedAt: dueAt });
    const sessionKey = requests.sessionKey(number, 0);
    const joined = readEntry(await this.#send(requests.join(sessionKey), dueAt));
    if (joined === null) return;
    const wait: Wait = { entryId: joined.id, admittedAt: this.#admittedAt(joined, dueAt) };
    waits.set(entry, wait);
    const end = schedule.waitEnds.get(entry)!;
    const stopAt = end.by === 'ADMITTED' ? endMs : Math.min(endMs, end.at);
    let pollAt = dueAt + schedule.pollEveryMs;
    while (wait.admittedAt === null && pollAt < stopAt) {
      await timeline.at(pollAt);
      this.#polls += 1;
      const polled = readEntry(await this.#send(requests.poll(sessionKey, wait.entryId), pollAt));
      if (polled !== null) wait.admittedAt = this.#admittedAt(polled, pollAt);
      if (polled?.status === 'EXPIRED' || polled?.status === 'LEFT') break;
      pollAt = Math.max(pollAt + schedule.pollEveryMs, timeline.now());
    }
    if (wait.admittedAt === null)
      this.#skip(end.by === 'ADMITTED' ? 'still waiting at the end' : 'gave up waiting, as then');
  }

  /** When the service admitted them, but not before they could have learned of it. */
  #admittedAt({ status, admitted_at: at }: EntryBody, askedAt: number): number | null {
    if (status !== 'ADMITTED') return null;
    const { momentOf, timeline, schedule } = this.#rehearsal;
    const told = at === null ? askedAt : momentOf(Date.parse(at));
    return Math.min(timeline.now(), Math.max(told, askedAt - schedule.pollEveryMs));
  }

  async #leave({ number, waits }: Person, entry: number, dueAt: number): Promise<void> {
    const { requests, hasWaitingRoom } = this.#rehearsal;
    const wait = waits.get(entry);
    if (!hasWaitingRoom || wait === undefined) return this.#skip('LEAVE: has no place in line');
    await this.#send(requests.leave(requests.sessionKey(number, 0), wait.entryId), dueAt);
  }

  // ── requests ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Sends a request that was due at a moment; null when there was no answer. */
  async #send(request: RoutedRequest, dueAt: number): Promise<ReadAnswer | null> {
    const { connections, timeline } = this.#rehearsal;
    const { answer, sentAt, wasFree } = await connections.send(request);
    const answeredAt = timeline.now();
    if (wasFree) this.#tally.late(sentAt - dueAt);
    this.#tally.answered({
      route: request.route,
      status: answer?.status ?? null,
      code: answer !== null && answer.status >= 400 ? codeIn(answer.body) : null,
      dueAt,
      sentAt,
      answeredAt,
      serverTiming: answer === null ? null : (/\r\nserver-timing: ([^\r]*)/i.exec(answer.head)?.[1] ?? null),
    });
    return answer;
  }

  #skip(what: string): void {
    this.#notTried[what] = (this.#notTried[what] ?? 0) + 1;
  }
}

/** The version stands at the beginning of an occupancy. */
const VERSION_CHARS_MAX = 400;

function readEntry(reply: ReadAnswer | null): EntryBody | null {
  if (reply === null || reply.status >= 300) return null;
  return bodyOf<EntryBody>(reply);
}

function codeIn(body: string): string | null {
  try {
    return (JSON.parse(body) as { readonly code?: string }).code ?? null;
  } catch {
    return null;
  }
}
