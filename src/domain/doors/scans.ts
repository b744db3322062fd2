/**
 * Scans of a station: each is checked, answered and recorded, a batch in one fact.
 *
 * 1. A known id is answered as the first time and is not counted again. A repeat may add, once, what the station
 *    decided meanwhile, also for a scan that a gate had checked. A repeat with another code, kind, date or door is
 *    ID_REUSED, and nothing of it is recorded.
 * 2. A scan without `given` is checked by what has arrived until now, and counts 1 ms after the ticket's last scan at
 *    the earliest. One with `given` counts at its moment: entry times and, for conflicts, void tickets are as of then.
 * 3. A moment over a minute ahead counts as now.
 * 4. A batch is checked scan after scan: the check of each scan knows the earlier scans of the batch.
 */
import { countedAt } from '#client/doors/merging.ts';
import { ticketDigest } from '#client/doors/digest.ts';
import { hasHappened, type Given } from '#client/doors/scan.ts';
import {
  unfitFor,
  verdictOfEntry,
  verdictOfExit,
  verdictOfUndo,
  type Entrance,
  type Presence,
  type ScanFinding,
} from '#client/doors/verdict.ts';
import { doorsOf, reentryOf, type DoorDefinition } from '../catalogue/definition.ts';
import { valuesReply, type Decision } from '../decision.ts';
import { fact } from '../fact.ts';
import {
  happenedOf,
  issuedTicket,
  keyOf,
  mergedOf,
  noDoors,
  undoneAfter,
  type Doors,
  type DoorState,
  type IssuedTicket,
  type Station,
} from './state.ts';
import { isRefusal, refuse, refuseProblems, type Problem, type Refusal } from '../refusal.ts';
import { toTicketScan } from './evolve.ts';
import { fedAfter, lastOf } from './feed.ts';
import type { FedTicket } from './fed-tickets.ts';
import { ticketIdOf } from './view.ts';
import { resultDetails } from './results.ts';
import { isAllowedAt, stationByToken } from './stations.ts';
import type { RecordedScan } from '../recorded-scan.ts';
import type { CommandOf, ScanRequest } from '../command.ts';
import type { ScanResult } from '../view.ts';
import type { RefusedScan } from './refused-scans.ts';
import type { TicketScan } from './scanned-tickets.ts';

const AHEAD_MS_MAX = 60_000;

/** Refused scans that are kept of a ticket. */
const KEPT_REFUSED_MAX = 50;

/** NOT_FOUND for an unknown token, STATION_REVOKED, STATION_NOT_ALLOWED: nothing of the batch is recorded then. */
export function decideRecordScans(
  state: DoorState,
  { tokenSha256, scans }: CommandOf<'RecordScans'>,
  { now }: { readonly now: number },
): Decision | Refusal {
  const sender = stationByToken(state, tokenSha256, now);
  if (isRefusal(sender)) return sender;
  if (sender.kind !== 'GATE' && scans.some(isOfAnother)) return refuseProblems(problemsOfStation(scans));
  const foreign = scans.filter((scan) => !mayScan(state, sender, scan));
  if (foreign.length > 0) return refuse('STATION_NOT_ALLOWED', { scanIds: foreign.map(({ id }) => id) });
  const batch = new ScanBatch(state, sender.id, now);
  const results = scans.map((scan) => batch.check(scan));
  const { recorded } = batch;
  const facts = recorded.length === 0 ? [] : [fact('TicketsScanned', { stationId: sender.id, scans: recorded })];
  return { facts, reply: valuesReply<'RecordScans'>({ results }) };
}

/** Whether only a gate may send the scan: a station sends its own scans. */
function isOfAnother({ stationId, isOfGate }: ScanRequest): boolean {
  return stationId !== null || isOfGate;
}

function problemsOfStation(scans: readonly ScanRequest[]): readonly Problem[] {
  return scans.flatMap(({ stationId, isOfGate }, index) => [
    ...(stationId === null ? [] : [{ path: ['scans', index, 'station_id'], message: 'comes from a GATE alone' }]),
    ...(isOfGate ? [{ path: ['scans', index, 'judged'], message: 'comes from a GATE alone' }] : []),
  ]);
}

/** Whether sender and scanning station, where a gate sends for another one, stand where the scan was. */
function mayScan({ doors, plan }: DoorState, sender: Station, scan: ScanRequest): boolean {
  const { stations, feed } = doors!;
  const isKnown = plan.performanceById.has(scan.performanceId) && doorOf(plan.definition, scan.doorId) !== undefined;
  if (!isKnown || !isAllowedAt(sender, scan)) return false;
  if (scan.stationId === null && feed === null) return true;
  const station = scan.stationId === null ? sender : stations.get(scan.stationId);
  const gate = feed === null ? undefined : stations.get(feed.stationId);
  return station !== undefined && isAllowedAt(station, scan) && isAllowedAt(gate ?? sender, scan);
}

function doorOf(definition: Parameters<typeof doorsOf>[0], doorId: string): DoorDefinition | undefined {
  return doorsOf(definition).find(({ id }) => id === doorId);
}

/** A scan that is known: as its ticket keeps it, or by its id alone. */
type KnownScan = (TicketScan & { readonly key: string }) | (RefusedScan & { readonly key?: never });

/** Whether a known id comes with what it came with before (rule 1). */
function isSame(known: KnownScan, { kind, performanceId, doorId, digest }: ScanRequest, key: string): boolean {
  if (known.key === undefined) return known.digest === digest;
  return known.key === key && known.kind === kind && known.performanceId === performanceId && known.doorId === doorId;
}

/** Whether a repeat adds what its station decided (rule 1). */
function adds({ given, isOfGate }: ScanRequest, known: Pick<KnownScan, 'given' | 'isOfGate'>): boolean {
  return given !== null && (known.given === null || (known.isOfGate && !isOfGate));
}

/** What was found behind the code of a scan. */
interface Found {
  readonly ticketId: string | null;
  readonly issued: IssuedTicket | null;
  readonly finding: ScanFinding;
  /** At a gate: what it knows of the ticket. */
  readonly fed?: FedTicket;
}

/** A ticket at a gate, which has its code and its service's feed in place of its order. */
function findFed({ ticketId, claims }: Extract<ScanRequest['found'], object>, fed: FedTicket): Found {
  const { performanceId = null, ticketTypeId = null, seatId = null } = claims ?? {};
  if (performanceId === null) return { ticketId, issued: null, finding: 'CANNOT_TELL' };
  const issued = { orderId: '', ticketTypeId: ticketTypeId ?? TYPE_NOT_KNOWN, performanceId, seatId, voided: null };
  return { ticketId, issued, finding: { performanceId, ticketTypeId, isVoid: fed.isVoid }, fed };
}

const NEVER_SCANNED: Presence = { isInside: false, hasEntered: false };

/** In the facts of a gate, of an older code. */
const TYPE_NOT_KNOWN = '';

function presenceBy({ presence }: FedTicket): Presence {
  return { isInside: presence === 'INSIDE', hasEntered: presence !== 'NEVER_IN' };
}

type Writable<Value> = { -readonly [Field in keyof Value]: Value[Field] };

type ScanOfTicket = Writable<RecordedScan> & { at: number };

/** The same scan as its ticket keeps it. */
function withTicket(
  base: Writable<RecordedScan>,
  at: number,
  { ticketId, issued }: Found,
  unfit: TicketScan['unfit'],
): ScanOfTicket {
  const scan = base as ScanOfTicket;
  scan.at = at;
  if (issued !== null) {
    scan.ticketId = ticketId!;
    scan.ticketTypeId = issued.ticketTypeId;
    if (issued.performanceId !== scan.performanceId) scan.ofPerformanceId = issued.performanceId;
  }
  if (unfit !== null) scan.unfit = unfit;
  return scan;
}

function countKeptRefused(scans: readonly TicketScan[]): number {
  return scans.filter((each) => !hasHappened(each)).length;
}

/** Scans of one sender; null for an operator, by hand. */
export class ScanBatch {
  readonly recorded: RecordedScan[] = [];
  readonly #state: DoorState;
  readonly #doors: Doors;
  readonly #senderId: string | null;
  readonly #now: number;
  /** Tickets and ids as this batch changes them (rule 4). */
  readonly #tickets = new Map<string, readonly TicketScan[]>();
  readonly #known = new Map<string, KnownScan>();
  /** The UNDOs of scans as this batch changes them, in place of the state's. */
  readonly #undoings = new Map<string, number>();
  /** At a gate: tickets as this batch changes them, by digest. */
  readonly #fed = new Map<string, FedTicket>();

  constructor(state: DoorState, senderId: string | null, now: number) {
    this.#state = state;
    this.#doors = state.doors ?? noDoors(reentryOf(state.plan.definition));
    this.#senderId = senderId;
    this.#now = now;
  }

  check(scan: ScanRequest): ScanResult {
    const at = scan.at > this.#now + AHEAD_MS_MAX ? this.#now : scan.at;
    const known = this.#knownScan(scan.id);
    const found = this.#find(scan, at);
    const key = keyOf({ digest: scan.digest, ...(found.issued !== null && { ticketId: found.ticketId! }) });
    if (known !== null && !isSame(known, scan, key)) return { id: scan.id, verdict: 'ID_REUSED', repeated: false };
    if (scan.kind === 'UNDO') return this.#checkUndo(scan, at, known);
    const verdict = known?.verdict ?? this.#verdictOf(scan, at, found, this.#scansOf(key));
    if (known === null) this.#record(scan, at, found, key, verdict, null);
    else if (adds(scan, known)) this.#record(scan, at, found, key, verdict, known);
    return this.#result(scan, found, key, verdict, known);
  }

  #find({ found: code, given }: ScanRequest, at: number): Found {
    if (code === null || typeof code === 'string') {
      return { ticketId: null, issued: null, finding: code ?? 'UNKNOWN' };
    }
    const fed = this.#fedTicket(code.ticketId);
    if (fed !== null) return findFed(code, fed);
    const issued = issuedTicket(this.#state, code.ticketId);
    if (issued === null) return { ticketId: code.ticketId, issued, finding: 'UNKNOWN' };
    const { voided, ticketTypeId } = issued;
    const isVoid = voided !== null && (given === null || voided.since <= at);
    const finding = { performanceId: issued.performanceId, ticketTypeId, isVoid };
    return { ticketId: code.ticketId, issued, finding };
  }

  #verdictOf(scan: ScanRequest, at: number, { finding, fed }: Found, scans: readonly TicketScan[]): Given {
    const presence = fed === undefined ? this.#presenceBy(scans) : presenceBy(fed);
    if (scan.kind === 'EXIT') return verdictOfExit(finding, presence);
    return verdictOfEntry(finding, this.#entranceOf(scan), at, presence, this.#reentry);
  }

  #presenceBy(scans: readonly TicketScan[]): Presence {
    if (scans.length === 0) return NEVER_SCANNED;
    const { isInside, admission } = mergedOf({ scans }, this.#reentry);
    return { isInside, hasEntered: admission !== null };
  }

  #fedTicket(ticketId: string): FedTicket | null {
    const { feed } = this.#doors;
    if (feed === null) return null;
    const digest = ticketDigest(ticketId);
    return this.#fed.get(digest) ?? feed.tickets.find(digest);
  }

  /** Records a scan that is new, or with what its station decided (`known`, rule 1). */
  #record(scan: ScanRequest, at: number, found: Found, key: string, verdict: Given, known: KnownScan | null): void {
    const { id, kind, digest, given, isOfGate } = scan;
    const scans = this.#scansOf(key);
    const isDone = hasHappened({ kind, verdict, given });
    const base = this.#baseOf(scan, at, verdict, known !== null);
    const isKept = known?.key !== undefined || (found.issued !== null && countKeptRefused(scans) < KEPT_REFUSED_MAX);
    if (!isDone && !isKept) return this.#note(id, base, { verdict, given, digest, isOfGate });
    const counts = given === null && isDone ? countedAt(at, [...happenedOf(scans), ...lastOf(found.fed)]) : at;
    const unfit = kind === 'ENTRY' && given === 'ADMIT' ? this.#unfitOf(scan, at, found) : null;
    const recorded = withTicket(base, counts, found, unfit);
    if (recorded.upstream !== undefined) recorded.upstream = { ...recorded.upstream, at: counts };
    const sent = { stationId: scan.stationId ?? this.#senderId, receivedAt: this.#now };
    const others = scans.filter((each) => each.id !== id);
    const waiting = this.#undoingsOf(id);
    const isUndone = known?.key === undefined ? waiting > 0 : known.isUndone;
    if (known?.key === undefined && isUndone) this.#undoings.set(id, waiting - 1);
    const ofTicket = toTicketScan(recorded, known?.key === undefined ? sent : known, isUndone);
    const before = scans.find((each) => each.id === id);
    this.#noteFed(found.fed, before, ofTicket, others);
    this.#tickets.set(key, [...others, ofTicket]);
    this.#note(id, recorded, { ...ofTicket, key });
  }

  #noteFed(
    fed: FedTicket | undefined,
    before: TicketScan | undefined,
    after: TicketScan,
    scans: readonly TicketScan[],
  ): void {
    if (fed !== undefined) this.#fed.set(fed.digest, fedAfter(fed, before, after, scans, this.#reentry));
  }

  /** What is kept of a scan, whatever was read. Every scan passes here: fields are set and objects not joined. */
  #baseOf(scan: ScanRequest, at: number, verdict: Given, isAgain: boolean): Writable<RecordedScan> {
    const { id, kind, performanceId, doorId, digest, given, isOfGate, stationId, code } = scan;
    const noted = { id, kind, performanceId, doorId, verdict };
    const base: Writable<RecordedScan> = given === null ? { ...noted, digest } : { ...noted, given, digest };
    if (isOfGate) base.isOfGate = true;
    if (stationId !== null) base.stationId = stationId;
    if (isAgain) base.isAgain = true;
    // What a gate keeps for its service.
    if (this.#doors.feed !== null) base.upstream = { at, ...(code !== undefined && { code }) };
    return base;
  }

  #unfitOf(scan: ScanRequest, at: number, { finding }: Found): 'VOID' | 'OTHERWISE' | null {
    if (typeof finding === 'string') return 'OTHERWISE';
    const unfit = unfitFor(finding, this.#entranceOf(scan), at);
    return unfit === null || unfit === 'VOID' ? unfit : 'OTHERWISE';
  }

  #checkUndo(scan: ScanRequest, at: number, known: KnownScan | null): ScanResult {
    const { id, kind, digest, given, isOfGate } = scan;
    const undoes = scan.undoes!;
    const target = this.#ticketScan(undoes);
    const by = { at, stationId: scan.stationId ?? this.#senderId };
    const verdict = known?.verdict ?? verdictOfUndo(by, target !== null && hasHappened(target) ? target : null);
    const repeated = known !== null;
    if (repeated && !adds(scan, known)) return { id, verdict, repeated };
    const { upstream, ...base } = this.#baseOf(scan, at, verdict, repeated);
    const recorded = { ...base, undoes, ...(upstream !== undefined && { upstream }) };
    this.#note(id, recorded, { verdict, given, digest, isOfGate });
    const isUndone = hasHappened({ kind, verdict, given });
    const wasUndone = known !== null && hasHappened({ ...known, kind });
    if (isUndone !== wasUndone) this.#noteUndone(undoes, target, isUndone ? 1 : -1);
    return { id, verdict, repeated };
  }

  #noteUndone(undoes: string, target: TicketScan | null, change: 1 | -1): void {
    const was = { isUndone: target && target.isUndone, waiting: this.#undoingsOf(undoes) };
    const { isUndone, waiting } = undoneAfter(was, change);
    this.#undoings.set(undoes, waiting);
    const key = this.#keyOf(undoes);
    if (key === null || isUndone === null) return;
    const scans = this.#scansOf(key);
    const ticketId = ticketIdOf(this.#state, { key, ticketTypeId: key.startsWith('~') ? null : key });
    const fed = ticketId === null ? null : this.#fedTicket(ticketId);
    this.#noteFed(fed ?? undefined, target!, { ...target!, isUndone }, scans);
    this.#tickets.set(
      key,
      scans.map((each) => (each.id === undoes ? { ...each, isUndone } : each)),
    );
  }

  #undoingsOf(scanId: string): number {
    return this.#undoings.get(scanId) ?? this.#doors.undone.get(scanId) ?? 0;
  }

  #result(scan: ScanRequest, found: Found, key: string, verdict: Given, known: KnownScan | null): ScanResult {
    const before = this.#scansOf(key).filter(({ id }) => id !== scan.id);
    const earlier = known?.key === undefined ? before : before.filter((each) => each.receivedAt <= known.receivedAt);
    const { id, performanceId } = scan;
    const repeated = known !== null;
    const details = resultDetails(this.#state, { verdict, performanceId, repeated }, found, earlier);
    return { id, verdict, repeated, ...details };
  }

  #note(id: string, recorded: RecordedScan, known: KnownScan): void {
    this.recorded.push(recorded);
    this.#known.set(id, known);
  }

  get #reentry() {
    return reentryOf(this.#state.plan.definition);
  }

  #entranceOf({ performanceId, doorId }: ScanRequest): Entrance {
    const { definition, performanceById } = this.#state.plan;
    // By hand a void ticket is scanned at its own date, which the definition may have dropped.
    const { doorsAt, endsAt = null } = performanceById.get(performanceId) ?? {};
    return {
      performanceId,
      doorsAt: doorsAt ?? null,
      endsAt,
      ticketTypeIds: doorOf(definition, doorId)!.ticketTypeIds,
    };
  }

  #scansOf(key: string): readonly TicketScan[] {
    const { tickets } = this.#doors;
    let scans = this.#tickets.get(key);
    if (scans === undefined) {
      const number = tickets.find(key);
      this.#tickets.set(key, (scans = number === null ? [] : tickets.at(number).scans));
    }
    return scans;
  }

  #keyOf(scanId: string): string | null {
    const ofBatch = this.#known.get(scanId)?.key;
    if (ofBatch !== undefined) return ofBatch;
    const { tickets } = this.#doors;
    const number = tickets.findScan(scanId);
    return number === null ? null : tickets.at(number).key;
  }

  #ticketScan(scanId: string): TicketScan | null {
    const key = this.#keyOf(scanId);
    return (key === null ? undefined : this.#scansOf(key).find(({ id }) => id === scanId)) ?? null;
  }

  #knownScan(id: string): KnownScan | null {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const key = this.#keyOf(id);
    const ofTicket = key === null ? undefined : this.#scansOf(key).find((scan) => scan.id === id);
    return ofTicket === undefined ? this.#doors.refused.find(id) : { ...ofTicket, key: key! };
  }
}
