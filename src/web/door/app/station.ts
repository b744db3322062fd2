/**
 * A station: pairing, scans, their queue and the feed, without a screen.
 *
 * 1. A scan is stored before it is sent and before its verdict is shown, and leaves the queue only when an answer names
 *    its id. An answered scan leaves it before its verdict is shown: a scan that is found in the queue later was never
 *    shown with the service's verdict.
 * 2. The station itself decides a scan that has no answer within a second, or 429 or 5xx, and sends its verdict as
 *    `given`. The next scan tries the service again.
 * 3. A scan whose page ended before anything was shown let nobody in: it is sent as CANNOT_TELL, or NOT_UNDOABLE, which
 *    takes back what the service may have counted.
 * 4. A refused batch is sent scan by scan. What is refused stays in the queue, is listed, and is sent again once the
 *    station is paired anew.
 * 5. A revoked station scans and sends no more, and keeps its queue for the next pairing.
 */
import { readCode } from '#client/doors/code.ts';
import { ticketDigest } from '#client/doors/digest.ts';
import { hasHappened, type Given } from '#client/doors/scan.ts';
import { verdictOfUndo } from '#client/doors/verdict.ts';
import type { ScanResult, StationHead, StationSync } from '#client/doors/wire.ts';
import { checkAlone, type CheckSignature, type DoorChoice, type OwnVerdict } from './check.ts';
import { conflictsAfter, keptConflicts, othersOf, withConflicts, withoutSeen, type Conflict } from './conflicts.ts';
import { Feed, type OwnScan } from './feed.ts';
import { failureKind, type FailureKind, type StationRequests } from './requests.ts';
import { UNPAIRED, type QueuedScan, type StationRecord, type StationStore } from './store.ts';

interface StationPorts {
  readonly store: StationStore;
  readonly requests: StationRequests;
  readonly checkSignature: CheckSignature;
  /** The device's clock. */
  now(): number;
  /** An id that no other scan has. */
  newId(): string;
  /** What the page runs. */
  readonly version: string;
}

type StationState = 'unpaired' | 'revoked' | 'not-ready' | 'offline' | 'ready';

/** What is shown of a scan. */
export interface ShownScan extends OwnVerdict {
  readonly id: string;
  readonly kind: QueuedScan['kind'];
  /** Whether the station decided. */
  readonly isOwn: boolean;
}

export interface ScanStationView {
  readonly state: StationState;
  readonly isOnline: boolean;
  readonly head: StationHead | null;
  readonly choice: DoorChoice | null;
  /** When the last whole sync came, by the service's clock; null before the first. */
  readonly syncedAt: number | null;
  readonly waiting: number;
  readonly refused: readonly QueuedScan[];
  /** Scans with which the service does not agree, until somebody has seen them; the newest first. */
  readonly conflicts: readonly Conflict[];
  readonly inside: number;
  /** What the next UNDO would take back. */
  readonly undoable: ShownScan | null;
}

const SCAN_MS_MAX = 1_000;
/** A longer text is no code, and the service does not accept it. */
const CODE_LENGTH_MAX = 2_048;
const BATCH_MS_MAX = 20_000;
const BATCH_SCANS_MAX = 500;

/** Why a token was not taken; null where it was. */
type PairingProblem = 'unknown' | null;

interface Undoable {
  readonly own: OwnScan;
  readonly shown: ShownScan;
}

export class ScanStation {
  readonly #ports: StationPorts;
  readonly #feed = new Feed();
  readonly #queue = new Map<string, QueuedScan>();
  /** Scans whose verdict is not shown yet. */
  readonly #pending = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #record: StationRecord = UNPAIRED;
  #head: StationHead | null = null;
  #isOnline = false;
  #last: Undoable | null = null;
  #round: Promise<void> | null = null;

  constructor(ports: StationPorts) {
    this.#ports = ports;
  }

  /** Reads what the device has. */
  async open(): Promise<void> {
    const { record, head, changes, scans } = await this.#ports.store.read();
    this.#record = record;
    this.#setHead(head);
    this.#feed.apply(changes, { reset: true, isWhole: true });
    const shown = scans.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)).map(neverShown);
    await this.#ports.store.write({ put: shown.filter((scan, index) => scan !== scans[index]) });
    for (const scan of shown) this.#queue.set(scan.id, scan);
    for (const scan of shown) this.#countOwn(scan);
    for (const { given, undoes = '' } of shown) {
      const undone = this.#queue.get(undoes);
      const own = given === 'UNDONE' && undone !== undefined ? ownScanOf(undone) : null;
      if (own !== null) this.#feed.undo(own);
    }
    this.#changed();
  }

  get view(): ScanStationView {
    const { token, isRevoked, syncedAt, choice, conflicts = [] } = this.#record;
    const scans = [...this.#queue.values()];
    const state = isRevoked
      ? 'revoked'
      : token === null
        ? 'unpaired'
        : syncedAt === null
          ? 'not-ready'
          : this.#isOnline
            ? 'ready'
            : 'offline';
    return {
      state,
      isOnline: this.#isOnline,
      head: this.#head,
      choice,
      syncedAt,
      waiting: scans.filter(({ id, refused }) => refused === undefined && !this.#pending.has(id)).length,
      refused: scans.filter(({ refused }) => refused !== undefined),
      conflicts,
      inside: this.#feed.inside,
      undoable: this.#last?.shown ?? null,
    };
  }

  /** Calls back at each change of the view; the returned function ends that. */
  follow(onChange: () => void): () => void {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }

  /** The service's time, as far as it is known. */
  now(): number {
    return this.#ports.now() + this.#record.aheadMs;
  }

  // ── pairing ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Takes a token in place of the one that it had, and sends with it what waits. */
  async pair(token: string): Promise<PairingProblem> {
    await this.#round;
    let problem: PairingProblem = null;
    await this.#alone(async () => {
      problem = await this.#pair(token);
    });
    if (problem === null) await this.refresh();
    return problem;
  }

  async #pair(token: string): Promise<PairingProblem> {
    this.#feed.beginSync();
    const outcome = await this.#ports.requests.sync(token, this.#query(null));
    const failure = 'failure' in outcome ? outcome.failure : null;
    this.#isOnline = failure === null || failureKind(failure) !== 'unanswered';
    if (failure !== null && failure.status === 401 && failure.code !== 'STATION_REVOKED') return 'unknown';
    const again = [...this.#queue.values()].map(({ refused: _refused, ...scan }) => scan);
    for (const scan of again) this.#queue.set(scan.id, scan);
    await this.#begin({ token, isRevoked: failure?.status === 401 }, again);
    if (!('failure' in outcome)) await this.#take(outcome.body);
    return null;
  }

  /** Forgets the pairing and the feed; the queue stays for the next pairing. */
  async unpair(): Promise<void> {
    await this.#round;
    await this.#begin({});
    this.#changed();
  }

  /** Begins another pairing, or none: what was known before is forgotten, except the queue. */
  async #begin(record: Partial<StationRecord>, put: readonly QueuedScan[] = []): Promise<void> {
    this.#record = { ...UNPAIRED, aheadMs: this.#record.aheadMs, ...keptConflicts(this.#record), ...record };
    this.#setHead(null);
    this.#feed.clear();
    this.#last = null;
    await this.#ports.store.write({ record: this.#record, head: null, reset: true, put });
  }

  async choose(choice: DoorChoice | null): Promise<void> {
    await this.#keep({ choice });
    this.#changed();
  }

  // ── scans ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The verdict of a code; null where the station does not scan. */
  async scan(read: string, kind: 'ENTRY' | 'EXIT'): Promise<ShownScan | null> {
    const code = read.slice(0, CODE_LENGTH_MAX);
    const sent = await this.#send({ kind, code }, (at, choice) => this.#checkAlone(code, kind, at, choice));
    if (sent === null) return null;
    const own = ownScanOf(sent.scan);
    this.#last = own && { own, shown: sent.shown };
    this.#changed();
    return sent.shown;
  }

  /** Takes the last entry or exit of this station back; null where there is none. */
  async undo(): Promise<ShownScan | null> {
    const last = this.#last;
    if (last === null) return null;
    const { id: undoes, at: undoneAt, digest } = last.own;
    const sent = await this.#send({ kind: 'UNDO', undoes }, (at) => {
      const target = { at: undoneAt, stationId: '', isUndone: false };
      return Promise.resolve({ verdict: verdictOfUndo({ at, stationId: '' }, target) });
    });
    if (sent === null) return null;
    this.#last = null;
    if (sent.shown.verdict === 'UNDONE') {
      this.#feed.undo(last.own, othersOf(undoes, this.#record));
      this.#leaveConflicts(undoes);
      await this.#ports.store.write({ record: this.#record, changes: [this.#feed.changeOf(digest)] });
    }
    this.#changed();
    const { ticket } = last.shown;
    return { ...sent.shown, ...(ticket !== undefined && { ticket }) };
  }

  /** Null where the station does not scan, or not any more. */
  async #send(
    what: Pick<QueuedScan, 'kind' | 'code' | 'undoes'>,
    decide: (at: number, choice: DoorChoice) => Promise<OwnVerdict>,
  ): Promise<{ readonly shown: ShownScan; readonly scan: QueuedScan } | null> {
    const { token, choice, isRevoked } = this.#record;
    if (token === null || choice === null || isRevoked) return null;
    const at = Math.floor(this.now());
    const { performanceId: performance_id, doorId: door_id } = choice;
    const id = this.#ports.newId();
    const scan = { id, ...what, performance_id, door_id, at: new Date(at).toISOString(), given: null };
    this.#pending.add(id);
    try {
      await this.#put(scan);
      const outcome = await this.#ports.requests.scan(token, [scan], SCAN_MS_MAX);
      const failure = 'failure' in outcome ? outcome.failure : null;
      const failed = failure && failureKind(failure);
      this.#isOnline = failed !== 'unanswered';
      const result = 'failure' in outcome ? undefined : outcome.body.results.find((each) => each.id === id);
      if (result !== undefined) {
        const answered = { ...scan, given: result.verdict };
        this.#countOwn(answered);
        await this.#remove([[answered, result]]);
        return { shown: { ...result, kind: scan.kind, isOwn: false }, scan: answered };
      }
      if (failed === 'revoked') {
        await this.#put(neverShown(scan));
        await this.#revoke();
        return null;
      }
      const refused = failed === 'refused' && { refused: { status: failure!.status, code: failure!.code } };
      const own = refused ? { verdict: cannotTell(scan) } : await decide(at, choice);
      const decided = { ...scan, given: own.verdict, ...refused };
      await this.#put(decided);
      this.#countOwn(decided);
      return { shown: { ...own, id, kind: scan.kind, isOwn: true }, scan: decided };
    } finally {
      const left = this.#queue.get(id);
      if (left !== undefined) this.#queue.set(id, neverShown(left));
      this.#pending.delete(id);
      this.#changed();
    }
  }

  #checkAlone(code: string, kind: 'ENTRY' | 'EXIT', at: number, choice: DoorChoice): Promise<OwnVerdict> {
    if (this.#head === null) return Promise.resolve({ verdict: 'CANNOT_TELL' });
    const { checkSignature } = this.#ports;
    const isWhole = this.#record.syncedAt !== null;
    return checkAlone({ kind, code, at, choice }, { head: this.#head, feed: this.#feed, isWhole, checkSignature });
  }

  /** Lays an entry or exit that happened over the feed. */
  #countOwn(scan: QueuedScan): void {
    const own = ownScanOf(scan);
    if (own !== null) this.#feed.addOwn(own);
  }

  // ── conflicts ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Somebody has seen these. */
  async seen(conflicts: readonly Conflict[]): Promise<void> {
    await this.#keep(withoutSeen(this.#record, conflicts));
    this.#changed();
  }

  #leaveConflicts(scanId: string): void {
    const { conflicts = [] } = this.#record;
    this.#record = { ...this.#record, conflicts: conflicts.filter(({ id }) => id !== scanId) };
  }

  /** They are stored with what they came with. */
  #note(found: readonly Conflict[]): void {
    if (found.length === 0) return;
    this.#record = { ...this.#record, conflicts: withConflicts(this.#record.conflicts ?? [], found) };
  }

  // ── queue and feed ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** Sends what waits, then takes what is new; a call during another one waits for that. */
  refresh(): Promise<void> {
    return this.#round ?? this.#alone(() => this.#refresh());
  }

  /** Runs work while no other work runs that sends or forgets. */
  #alone(work: () => Promise<void>): Promise<void> {
    this.#round = work().finally(() => {
      this.#round = null;
      this.#changed();
    });
    return this.#round;
  }

  async #refresh(): Promise<void> {
    const { token, isRevoked } = this.#record;
    if (token === null || isRevoked) return;
    if (!(await this.#flush(token))) return;
    for (let more = true; more;) {
      this.#feed.beginSync();
      const outcome = await this.#ports.requests.sync(token, this.#query(this.#record.cursor));
      if ('failure' in outcome) {
        await this.#failed(failureKind(outcome.failure));
        return;
      }
      this.#isOnline = true;
      await this.#take(outcome.body);
      ({ more } = outcome.body);
      this.#changed();
    }
  }

  /** Sends what waits; false where the service did not answer. */
  async #flush(token: string): Promise<boolean> {
    for (;;) {
      const waiting = [...this.#queue.values()].filter((scan) => this.#isSendable(scan)).slice(0, BATCH_SCANS_MAX);
      if (waiting.length === 0) return true;
      const failed = await this.#sendBatch(token, waiting);
      if (failed === 'refused' && waiting.length > 1) {
        for (const scan of waiting) {
          const alone = await this.#sendBatch(token, [scan]);
          if (alone !== null && alone !== 'refused') return this.#failed(alone);
        }
      } else if (failed !== null && failed !== 'refused') return this.#failed(failed);
    }
  }

  #isSendable({ id, refused }: QueuedScan): boolean {
    return refused === undefined && !this.#pending.has(id);
  }

  /** Null where all were answered. A scan that is refused alone is not sent again. */
  async #sendBatch(token: string, scans: readonly QueuedScan[]): Promise<FailureKind | null> {
    const outcome = await this.#ports.requests.scan(token, scans, BATCH_MS_MAX);
    if ('failure' in outcome) {
      const kind = failureKind(outcome.failure);
      if (kind === 'refused' && scans.length === 1) {
        const { status, code } = outcome.failure;
        await this.#put({ ...scans[0]!, refused: { status, code } });
        this.#changed();
      }
      return kind;
    }
    this.#isOnline = true;
    const sent = new Map(scans.map((scan) => [scan.id, scan]));
    const answered = outcome.body.results.flatMap((result) => {
      const scan = sent.get(result.id);
      return scan === undefined ? [] : [[scan, result] as const];
    });
    await this.#remove(answered);
    this.#changed();
    return answered.length === sent.size ? null : 'unanswered';
  }

  async #failed(kind: FailureKind): Promise<false> {
    this.#isOnline = kind !== 'unanswered';
    if (kind === 'revoked') await this.#revoke();
    return false;
  }

  async #take(answer: StationSync): Promise<void> {
    const { now, cursor, reset, head, changes } = answer;
    const aheadMs = Date.parse(now) - this.#ports.now();
    const isWhole = !answer.more;
    if (head !== null) this.#setHead(head);
    this.#feed.apply(changes, { reset, isWhole });
    const { choice } = this.#record;
    const syncedAt = isWhole ? Date.parse(now) : reset ? null : this.#record.syncedAt;
    const conflicts = conflictsAfter(this.#record, answer);
    this.#record = { ...this.#record, cursor, aheadMs, syncedAt, choice: this.#allowed(choice), ...conflicts };
    await this.#ports.store.write({ record: this.#record, reset, changes, ...(head !== null && { head }) });
  }

  /** A choice that the head still has; the only one, where there is but one. */
  #allowed(choice: DoorChoice | null): DoorChoice | null {
    if (this.#head === null) return choice;
    const [dates, doors] = [this.#head.performances, ownDoors(this.#head)];
    const isThere =
      dates.some(({ id }) => id === choice?.performanceId) && doors.some(({ id }) => id === choice?.doorId);
    if (isThere) return choice;
    return dates.length === 1 && doors.length === 1 ? { performanceId: dates[0]!.id, doorId: doors[0]!.id } : null;
  }

  #query(cursor: string | null): Readonly<Record<string, string>> {
    const queued = String(this.view.waiting);
    return { ...(cursor !== null && { after: cursor }), queued, version: this.#ports.version };
  }

  async #put(scan: QueuedScan): Promise<void> {
    await this.#ports.store.write({ put: [scan] });
    this.#queue.set(scan.id, scan);
  }

  /** Takes answered scans off the queue; what they say of their tickets, and contradict, is stored with that. */
  async #remove(answered: readonly (readonly [QueuedScan, ScanResult])[]): Promise<void> {
    const undone = new Set([...this.#queue.values()].map(({ undoes, given }) => (given === 'UNDONE' ? undoes : null)));
    const found = answered.flatMap(([scan, result]) => (undone.has(scan.id) ? [] : (conflictOf(scan, result) ?? [])));
    this.#note(found);
    const ids = answered.map(([{ id }]) => id);
    const digests = ids.flatMap((id) => {
      const code = this.#queue.get(id)?.code;
      const ticketId = code === undefined ? undefined : readCode(code)?.ticketId;
      this.#feed.answered(id);
      return ticketId === undefined ? [] : [ticketDigest(ticketId)];
    });
    const changes = digests.map((digest) => this.#feed.changeOf(digest));
    await this.#ports.store.write({ ...(found.length > 0 && { record: this.#record }), remove: ids, changes });
    for (const id of ids) this.#queue.delete(id);
  }

  async #revoke(): Promise<void> {
    await this.#keep({ isRevoked: true });
    this.#last = null;
  }

  async #keep(changes: Partial<StationRecord>): Promise<void> {
    this.#record = { ...this.#record, ...changes };
    await this.#ports.store.write({ record: this.#record });
  }

  #setHead(head: StationHead | null): void {
    this.#head = head;
    this.#feed.doorIds = head?.doors.map(({ id }) => id) ?? [];
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The doors at which a station may stand. */
export function ownDoors({ doors, station }: StationHead): StationHead['doors'] {
  return doors.filter(({ id }) => station.door_ids?.includes(id) ?? true);
}

/** What the result of a scan that the station decided contradicts; null where it does not. */
function conflictOf(scan: QueuedScan, { repeated: _repeated, ...result }: ScanResult): Conflict | null {
  const own = ownScanOf(scan);
  if (own === null || [scan.given, 'ALREADY_ADMITTED'].includes(result.verdict)) return null;
  return { ...result, kind: own.kind, at: scan.at };
}

/** Rule 3. */
function neverShown(scan: QueuedScan): QueuedScan {
  return scan.given === null ? { ...scan, given: cannotTell(scan) } : scan;
}

function cannotTell({ kind }: Pick<QueuedScan, 'kind'>): Given {
  return kind === 'UNDO' ? 'NOT_UNDOABLE' : 'CANNOT_TELL';
}

/** The entry or exit that a decided scan is; null where it let nobody in or out. */
function ownScanOf({ id, kind, code, given, at, door_id: doorId }: QueuedScan): OwnScan | null {
  if (kind === 'UNDO' || given === null || !hasHappened({ kind, verdict: given, given })) return null;
  const ticketId = code === undefined ? undefined : readCode(code)?.ticketId;
  return ticketId === undefined ? null : { id, kind, digest: ticketDigest(ticketId), at: Date.parse(at), doorId };
}
