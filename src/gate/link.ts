/**
 * Keeps a gate and its service in step: sends what was scanned, takes what changed.
 *
 * 1. What is to be sent is in the journal: the scans after a cursor, which is stored like the cursor of notifications.
 *    A scan that is sent again after a crash counts once.
 * 2. Scans are sent before the feed is read, so that the feed has them. Each page says until when they are in it.
 * 3. A batch that the service refuses is sent scan by scan; what is refused then is named in the log, and the journal
 *    keeps it.
 * 4. While the service is away, or has revoked the gate's token, the gate goes on by itself and tries again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isWorthReporting, reportTrouble } from '#actors/trouble.ts';
import type { EventFinder } from '#actors/event-port.ts';
import type { EventsPort } from '#http/ports.ts';
import { outcomeOf } from '#client/doors/scan.ts';
import type { SentScan, StationHead } from '#client/doors/wire.ts';
import { doorsOf, type DoorDefinition } from '#domain/catalogue/definition.ts';
import type { FactData } from '#domain/fact.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { FactFollower, FactSource } from '#engine/deployment.ts';
import { deliveredThrough } from '#engine/service-facts.ts';
import { definitionOf, takeFeedOf } from './definition.ts';
import { UpstreamAway, UpstreamRefused, type Upstream } from './upstream.ts';

/** How far the gate had come with the feed. */
export interface KnownFeed {
  readonly eventId: string;
  readonly cursor: string;
  readonly isWhole: boolean;
  readonly doors: readonly DoorDefinition[];
}

interface LinkPorts {
  readonly upstream: Upstream;
  readonly source: FactSource;
  readonly events: Pick<EventFinder, 'byEventId'> & Pick<EventsPort, 'define'>;
  readonly eventNumber: number;
  readonly known: KnownFeed | null;
  readonly now: () => number;
  /** Whether everything that was appended to the journal is durable, and so can be read. */
  readonly isSettled: () => boolean;
  /** A page was taken; `head` where that is new. */
  readonly onPage: (head: StationHead | null, serviceNow: number) => void;
  /** The token is not the token of a gate of the event: nothing will ever come. */
  readonly onUnusable: (reason: string) => void;
}

/** Well under the 5 s in which a change is to be here. */
const PULL_EVERY_MS = 2_000;
/** How soon a scan is sent. */
const LOOK_EVERY_MS = 200;
const RETRY_MS = 2_000;
const PAGE_CHANGES = 2_000;
const BATCH_SCANS = 500;
/** Batches between two pages of the feed, so that a long queue does not keep changes away. */
const BATCHES_A_ROUND = 10;

type Scanned = FactData['TicketsScanned'];

interface Unsent {
  readonly scans: readonly SentScan[];
  readonly throughSeq: number;
}

export class UpstreamLink implements FactFollower {
  readonly #ports: LinkPorts;
  readonly #stopping = new AbortController();
  #feed: KnownFeed | null;
  #sentSeq: number;
  #countedSeq: number;
  #queued = 0;
  #includesUntil = 0;
  #failures = 0;
  #trouble: string | null = 'not asked yet';
  #running: Promise<void> = Promise.resolve();

  constructor(ports: LinkPorts) {
    this.#ports = ports;
    this.#feed = ports.known;
    this.#sentSeq = ports.source.cursor === null ? 0 : deliveredThrough(ports.source.cursor);
    this.#countedSeq = this.#sentSeq;
  }

  get deliveredSeq(): number {
    return this.#sentSeq;
  }

  /** Scans that wait. */
  get queued(): number {
    return this.#queued;
  }

  /** Why the service is not in step with this gate; null while it is. */
  get trouble(): string | null {
    return this.#trouble;
  }

  get isWhole(): boolean {
    return this.#feed?.isWhole ?? false;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Sends and takes once; returns whether the service is in step then. */
  async round(): Promise<boolean> {
    try {
      await this.#send();
      await this.#pull();
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#noteTrouble(error as Error);
      return false;
    }
    if (this.#failures > 0) reportTrouble('upstream', 'the service answers again');
    this.#failures = 0;
    this.#trouble = null;
    return true;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const isInStep = await this.round();
      const waitMs = isInStep ? PULL_EVERY_MS : RETRY_MS;
      for (let waited = 0; waited < waitMs && !signal.aborted; waited += LOOK_EVERY_MS) {
        await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
        this.#count();
        if (isInStep && this.#queued > 0) break;
      }
    }
  }

  #noteTrouble(error: Error): void {
    this.#failures += 1;
    this.#trouble = error.message;
    if (!isWorthReporting(this.#failures)) return;
    reportTrouble('upstream', `${adviceOf(error)} ${this.#queued} scans wait`, error);
  }

  // ── sending ────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #send(): Promise<void> {
    const { now, source } = this.#ports;
    for (let batches = 0; batches < BATCHES_A_ROUND; batches += 1) {
      const before = now();
      const isSettled = this.#ports.isSettled();
      this.#count();
      const { batch, isRest, nextAt } = this.#nextBatch();
      if (batch === null) {
        this.#sentSeq = this.#countedSeq;
        if (isSettled) this.#includesUntil = before - 1;
        return;
      }
      await this.#sendBatch(batch.scans);
      this.#sentSeq = batch.throughSeq;
      this.#queued = Math.max(0, this.#queued - batch.scans.length);
      await source.storeCursor({ throughSeq: batch.throughSeq, behind: {} });
      if (isRest) this.#includesUntil = Math.max(this.#includesUntil, nextAt - 1);
    }
  }

  /** Scans of whole facts, and the moment of the first fact after them. */
  #nextBatch(): { readonly batch: Unsent | null; readonly isRest: boolean; readonly nextAt: number } {
    const scans: SentScan[] = [];
    let throughSeq = this.#sentSeq;
    for (const { seq, type, data, at } of this.#ports.source.journal.read({ afterSeq: this.#sentSeq })) {
      if (type !== 'TicketsScanned') continue;
      const fact = JSON.parse(data) as Scanned;
      if (scans.length > 0 && scans.length + fact.scans.length > BATCH_SCANS) {
        return { batch: { scans, throughSeq }, isRest: true, nextAt: at };
      }
      scans.push(...fact.scans.map((scan) => toSentScan(scan, fact.stationId)));
      throughSeq = seq;
    }
    return { batch: scans.length === 0 ? null : { scans, throughSeq }, isRest: false, nextAt: 0 };
  }

  /** Rule 3. */
  async #sendBatch(scans: readonly SentScan[]): Promise<void> {
    try {
      await this.#ports.upstream.send(scans);
    } catch (error) {
      const isRefused = error instanceof UpstreamRefused && [400, 403].includes(error.status);
      if (!isRefused) throw error;
      const [only] = scans;
      if (scans.length === 1) {
        const { message } = error;
        reportTrouble('upstream', `the service refuses scan ${only!.id}, which stays in the journal alone: ${message}`);
        return;
      }
      for (const scan of scans) await this.#sendBatch([scan]);
    }
  }

  #count(): void {
    for (const { seq, type, data } of this.#ports.source.journal.read({ afterSeq: this.#countedSeq })) {
      if (type === 'TicketsScanned') this.#queued += (JSON.parse(data) as Scanned).scans.length;
      this.#countedSeq = seq;
    }
  }

  // ── the feed ───────────────────────────────────────────────────────────────────────────────────────────────────────

  async #pull(): Promise<void> {
    const { upstream, onPage, onUnusable } = this.#ports;
    for (;;) {
      const after = this.#feed?.cursor ?? null;
      const page = await upstream.sync({ after, limit: PAGE_CHANGES, queued: this.#queued });
      const { head, cursor, more, reset, changes } = page;
      if (this.#stopping.signal.aborted) return;
      if (head !== null && head.station.kind !== 'GATE') {
        return onUnusable(`the token is of station ${head.station.name}, which is none of kind GATE`);
      }
      const eventId = head?.event.id ?? this.#feed!.eventId;
      const isNews = head !== null || reset || more || changes.length > 0 || !this.isWhole;
      const doors = head === null ? this.#feed!.doors : definitionOf(head).doors!;
      if (isNews) {
        if (head !== null) await this.#define(head);
        const event = await this.#ports.events.byEventId(eventId);
        await event!.execute(takeFeedOf(page, doors, this.#includesUntil));
      }
      this.#feed = { eventId, cursor, doors, isWhole: this.isWhole || !more };
      onPage(head, Date.parse(page.now));
      if (!more) return;
    }
  }

  async #define(head: StationHead): Promise<void> {
    const { events, eventNumber } = this.#ports;
    const by = { operator: 'gate', note: null };
    const reply = await events.define(definitionOf(head), by, { eventNumber });
    if (!isRefusal(reply)) return;
    // A door that the service dropped, and at which somebody was scanned here, stays.
    const event = await events.byEventId(head.event.id);
    const { feed } = (await event?.read({ type: 'ReadFeed' })) ?? { feed: null };
    const again = await events.define(definitionOf(head, feed === null ? [] : doorsOf(feed.definition)), by);
    if (isRefusal(again)) throw new UpstreamAway(`the service's event cannot be taken over: ${JSON.stringify(again)}`);
  }
}

function toSentScan(scan: Scanned['scans'][number], senderId: string): SentScan {
  const {
    id,
    kind,
    performanceId,
    doorId,
    verdict,
    given = null,
    isOfGate = false,
    upstream,
    undoes,
    stationId,
  } = scan;
  return {
    ...{ id, kind, performance_id: performanceId, door_id: doorId },
    ...(upstream?.code !== undefined && { code: upstream.code }),
    ...(undoes !== undefined && { undoes }),
    at: new Date(upstream!.at).toISOString(),
    given: outcomeOf({ verdict, given }),
    ...((given === null || isOfGate) && { judged: true }),
    station_id: stationId ?? senderId,
  };
}

function adviceOf(error: Error): string {
  if (error instanceof UpstreamAway) return `the gate goes on by itself: ${error.message};`;
  if (!(error instanceof UpstreamRefused)) return `the gate goes on by itself: ${String(error)};`;
  const why = error.code === 'STATION_REVOKED' ? 'its token was revoked or has expired' : error.message;
  return `the gate goes on by itself, because ${why}: make another GATE, and start with its token;`;
}
