/**
 * An evening at the doors of one event from a seed: stations with clocks that are wrong, spells without a network and
 * answers that are lost; gates; tickets that operators make void meanwhile; a service that is killed and fills its
 * disk.
 *
 * Every answer is as the model of the rule predicts (`model.ts`); at random steps counters and conflicts are the
 * model's, and a replay gives the state. When the faults end and all queues are empty, the counters say what the books
 * of the devices say, their feeds where each ticket is, and each device was told of the conflicts of its own entries.
 *
 * 1. Promise 11: what an answer says of a scan is on disk when it leaves, and after every crash.
 * 2. Promise 12: in some evenings every station reaches the service. Then no ticket is admitted that is inside.
 * 3. Promise 13: each scan that a device has shown is recorded, once, and counts once.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { listConflicts, readDoors } from '#domain/doors/view.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { CommandOf, ReplyTo, ScanRequest } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { Chance } from '../chance.ts';
import { drawEvent, MINUTE, START } from '../events.ts';
import { unitsOf } from '../model-order.ts';
import { code } from '../../fixtures/definitions.ts';
import { NOBODY, OLGA, outcomeOf, PLAIN_CHECKOUT, ServiceWorld, type Sight } from '../service-world.ts';
import { Device, type DeviceStation } from './device.ts';
import { DoorModel, type ModelEntry, type ModelResult, type SentScan } from './model.ts';
import type { Outcome, Scenario } from '../run.ts';

const EVENT = 'evt_1';
const SECOND = 1_000;

/** A station that has no answer by then decides by itself. */
const PATIENCE_MS = SECOND;

const BATCH_MAX = 12;
const SETTLE_ROUNDS_MAX = 60;
const DOOR_IDS = ['main', 'side', 'back'] as const;
const REENTRY = ['AFTER_EXIT', 'AFTER_EXIT', 'NEVER', 'ALWAYS'] as const;

const ACTIONS = {
  scan: 30, sync: 4, offline: 2, reuse: 0.7, stray: 0.5, cancel: 0.7, amend: 1, 'call-off': 0.1, redefine: 0.3,
  revoke: 0.7, crash: 1.5, full: 0.5, snapshot: 1, check: 2, wait: 2,
}; // prettier-ignore

type Action = keyof typeof ACTIONS;

/** Runs the evening of a seed to its end, or to the first failure. */
export const simulateDoors = (scenario: Scenario): Promise<Outcome> => new Evening(scenario).outcome();

class Evening {
  readonly #world: ServiceWorld;
  readonly #weights: Readonly<Record<Action, number>>;
  readonly #devices: Device[] = [];
  /** Rule 2. */
  readonly #isOnline: boolean;
  readonly #lossShare: number;
  #model = new DoorModel();
  /** What the model takes, with the newest fact of it; the last may be lost. */
  #log: (ModelEntry & { readonly seq: number })[] = [];
  /** The newest fact about each scan id. */
  #seqs = new Map<string, number>();
  /** What was answered, by scan id: with or without what its station had decided. */
  readonly #answered = new Map<string, string | null>();
  readonly #revoked = new Set<string>();
  #hasRecorded = false;

  constructor(scenario: Scenario) {
    const draw = (chance: Chance) => ({ events: [drawEvening(chance)], liveEventsMax: 10 });
    const world = (this.#world = new ServiceWorld(scenario, draw, [200, SECOND, 10 * SECOND, 90 * SECOND]));
    this.#isOnline = world.chance.percent(25);
    this.#lossShare = world.chance.percent(60) ? world.chance.between(0, 50) : 0;
    this.#weights = { ...world.drawWeights(ACTIONS), scan: 20 + world.chance.between(0, 40), wait: 1 };
    world.onLoss = () => this.#forgetLost();
    const { onAppend } = world.service;
    world.service.onAppend = () => {
      onAppend();
      this.#noteTurn();
    };
  }

  outcome(): Promise<Outcome> {
    return outcomeOf(this.#world, () => this.#run());
  }

  async #run(): Promise<void> {
    await this.#world.driven(this.#world.service.events.define(this.#world.events[0]!, NOBODY));
    const orders = this.#world.chance.between(2, 6);
    for (let n = 0; n < orders; n += 1) await this.#buy(n);
    const devices = this.#world.chance.between(1, 5);
    for (let n = 0; n < devices; n += 1) await this.#addDevice(n);
    await this.#world.pass(this.#world.chance.between(0, 25) * MINUTE);
    for (; this.#world.steps < this.#world.scenario.stepsMax; this.#world.steps += 1) {
      await this.#world.pass(this.#world.chance.between(0, this.#world.pauseMs));
      await this.#act(this.#world.chance.weighted(this.#weights));
      await this.#world.rest();
      if (this.#world.service.status === 'OPEN' && this.#world.chance.percent(2)) await this.#world.proveState();
    }
    await this.#settle();
    await this.#compare();
  }

  // ── what became durable ────────────────────────────────────────────────────────────────────────────────────────────

  /** Notes what a turn changed of tickets. Scans are noted with their request. */
  #noteTurn(): void {
    const seq = this.#world.service.headOf(EVENT);
    const at = this.#world.service.now;
    for (const { type, data } of this.#world.service.turns.splice(0).flatMap(({ facts }) => facts)) {
      if (type === 'TicketsScanned') this.#hasRecorded = true;
      if (type === 'EventDefined') this.#note({ type: 'DEFINED', definition: data.definition, seq });
    }
    const [tickets, ids] = [this.#issued(), this.#void()];
    const isNew = tickets.filter(({ id }) => !this.#model.tickets.has(id));
    const ended = ids.filter((id) => !this.#model.voidSince.has(id));
    if (isNew.length > 0) this.#note({ type: 'TICKETS', tickets: isNew, seq });
    if (ended.length > 0) this.#note({ type: 'VOID', ids: ended, at, seq });
  }

  #note(entry: ModelEntry & { readonly seq: number }): readonly ModelResult[] {
    this.#log.push(entry);
    return this.#take(entry);
  }

  #take(entry: ModelEntry & { readonly seq: number }): readonly ModelResult[] {
    if (entry.type !== 'SCANS') return this.#model.take(entry);
    const news = entry.scans.filter((scan) => this.#model.isNews([scan]));
    for (const { id } of news) this.#seqs.set(id, entry.seq);
    return this.#model.take(entry);
  }

  /** Facts may be lost: the process was killed, the disk is full, or there is room again. */
  #forgetLost(): void {
    const { status, durableSeq } = this.#world.service;
    const left = this.#log.filter(({ seq }) => seq <= durableSeq);
    if (status !== 'FULL') {
      this.#log = left;
      this.#assertAnswered();
    }
    this.#model = new DoorModel();
    this.#seqs = new Map();
    for (const entry of left) this.#take(entry);
  }

  /** Rule 1, after a crash. */
  #assertAnswered(): void {
    const recorded = new Map<string, string | null>();
    for (const { data } of this.#world.service.durableFacts('TicketsScanned')) {
      for (const { id, given } of (data as { readonly scans: readonly ScanRequest[] }).scans) {
        recorded.set(id, given ?? recorded.get(id) ?? null);
      }
    }
    for (const [id, given] of this.#answered) {
      assert.ok(recorded.has(id), `an answered scan is on disk: ${id}`);
      assert.ok(given === null || recorded.get(id) !== null, `what its station decided is on disk: ${id}`);
    }
  }

  #issued() {
    return [...this.#world.service.models.get(EVENT)!.orders.values()].flatMap((order) =>
      unitsOf(order).flatMap(({ item, ticketIds }) =>
        ticketIds.map((id) => ({ id, typeId: item.ticketTypeId, performanceId: item.performanceId })),
      ),
    );
  }

  #void(): readonly string[] {
    const orders = [...this.#world.service.models.get(EVENT)!.orders.values()];
    return orders.flatMap(({ status, voided, tickets }) => [...voided, ...(status === 'CANCELLED' ? tickets : [])]);
  }

  // ── tickets and stations ───────────────────────────────────────────────────────────────────────────────────────────

  async #buy(n: number): Promise<void> {
    const { performances, ticketTypes } = this.#world.events[0]!;
    const types = ticketTypes.filter(({ localityId }) => localityId === 'floor');
    const item = (performanceId: string) => ({
      ...{ ticketTypeId: this.#world.chance.pick(types).id, sellingStageId: 'general', seatIds: null, performanceId },
      ...{ discountCode: null, attendees: null, barPerks: [], quantity: this.#world.chance.between(1, 2) },
    });
    const answer = await this.#world.ask(EVENT, {
      ...PLAIN_CHECKOUT,
      ...{ promoCode: 'FREE', installmentCount: 1 },
      items: this.#world.chance.percent(50)
        ? performances.map(({ id }) => item(id))
        : [item(this.#world.chance.pick(performances).id)],
      customer: { email: `visitor-${n}@example.org`, name: 'Anna B', documentNumber: null, phone: null },
    });
    assert.ok(!isRefusal(answer), 'tickets are bought');
  }

  async #addDevice(n: number): Promise<void> {
    const { chance } = this.#world;
    const { performances } = this.#world.events[0]!;
    const performanceIds = chance.percent(30) ? [chance.pick(performances).id] : null;
    const doorIds = chance.percent(30) ? [chance.pick(DOOR_IDS)] : null;
    const kind = n > 0 && !this.#isOnline && chance.percent(20) ? 'GATE' : 'STATION';
    const station = await this.#addStation({ performanceIds, doorIds, kind });
    const clockOffMs = chance.percent(50) ? 0 : chance.between(-10 * MINUTE, 10 * MINUTE);
    this.#devices.push(new Device(station, chance, clockOffMs));
  }

  async #addStation({
    performanceIds,
    doorIds,
    kind,
  }: Omit<DeviceStation, 'id' | 'tokenSha256'>): Promise<DeviceStation> {
    const tokenSha256 = `token-${this.#world.newNumber()}`;
    const made = { performanceIds, doorIds, kind };
    const about = { name: tokenSha256, tokenSha256, expiresAt: null, operator: 'olga' };
    const added = await this.#world.ask(EVENT, { type: 'AddStation', ...made, ...about });
    assert.ok(!isRefusal(added));
    return { id: added.station.id, tokenSha256, ...made };
  }

  // ── what happens ───────────────────────────────────────────────────────────────────────────────────────────────────

  async #act(action: Action): Promise<void> {
    const { chance } = this.#world;
    const device = chance.pick(this.#devices);
    switch (action) {
      case 'wait':
        return;
      case 'scan':
        return this.#scan(device);
      case 'sync':
        return this.#sync(device);
      case 'offline':
        if (!this.#isOnline)
          device.offlineUntil = this.#world.service.now + chance.between(1, 10 * this.#world.pauseMs);
        return;
      case 'reuse':
        return this.#reuse(device);
      case 'stray':
        return this.#stray(device);
      case 'crash':
        return this.#world.schedule(chance.between(0, 3_000), () => this.#world.crash());
      case 'full':
        return this.#world.fill();
      case 'snapshot':
        return this.#world.snapshotAll();
      case 'check':
        return this.#world.at(EVENT, (sight) => this.#assertShown(sight));
      case 'revoke':
        if (this.#world.service.status === 'OPEN') await this.#revoke(device);
        return;
      case 'redefine': {
        const { definition } = this.#model;
        if (this.#world.service.status !== 'OPEN' || this.#isOnline) return;
        await this.#world.driven(
          this.#world.service.events.define({ ...definition, reentry: chance.pick(REENTRY) }, NOBODY),
        );
        return;
      }
      case 'call-off': {
        const { id: performanceId } = chance.pick(this.#world.events[0]!.performances);
        return this.#world.send(EVENT, { type: 'CancelPerformance', performanceId, ...OLGA });
      }
      default:
        return this.#world.at(EVENT, ({ model }) => {
          const orders = [...model.orders.values()].filter(({ status }) => status === 'CONFIRMED');
          if (orders.length === 0) return;
          const order = chance.pick(orders);
          if (action === 'cancel') return this.#world.send(EVENT, { type: 'CancelOrder', orderId: order.id, ...OLGA });
          const { ticketIds } = chance.pick(unitsOf(order));
          const isNew = chance.percent(50);
          const request = {
            ...{ cancel: isNew ? [] : ticketIds, reissue: isNew ? ticketIds : [], feeCents: 0 },
            ...(chance.percent(70) && { evenAdmitted: true as const }),
          };
          this.#world.send(EVENT, {
            type: 'AmendOrder',
            orderId: order.id,
            by: 'OPERATOR',
            request,
            quote: null,
            ...OLGA,
          });
        });
    }
  }

  // ── scans ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  #scan(device: Device): void {
    if (device.isRevoked) return;
    const scan = this.#read(device);
    if (scan === null) return;
    device.queue.set(scan.id, scan);
    const isAlone = device.offlineUntil > this.#world.service.now || device.station.kind === 'GATE';
    if (isAlone) device.decide(scan);
    else if (!this.#isOnline) {
      this.#world.schedule(PATIENCE_MS, () => {
        // An answer would have come by then.
        if (device.queue.get(scan.id)?.given === null) device.decide(scan);
      });
    }
    this.#flush(device, [scan.id]);
  }

  /** What somebody holds before the scanner; null where there is nothing to undo. */
  #read(device: Device): SentScan | null {
    const { chance } = this.#world;
    const { station } = device;
    const scanner = this.#scannerOf(device);
    if (scanner === null) return null;
    const own = [...device.book.values()].filter(({ scan }) => scan.kind !== 'UNDO').slice(-4);
    const kind = chance.weighted({ ENTRY: 10, EXIT: 3, UNDO: own.length > 0 ? 1.5 : 0 });
    const { performances } = this.#world.events[0]!;
    const performanceId = chance.pick(
      scanner.performanceIds ?? station.performanceIds ?? performances.map(({ id }) => id),
    );
    return {
      id: `scan-${String(this.#world.newNumber()).padStart(14, '0')}`,
      kind,
      code: kind === 'UNDO' ? null : this.#code(performanceId),
      undoes: kind === 'UNDO' ? chance.pick(own).scan.id : null,
      performanceId,
      doorId: chance.pick(scanner.doorIds ?? station.doorIds ?? DOOR_IDS),
      at: this.#world.service.now + device.clockOffMs,
      given: null,
      isOfGate: station.kind === 'GATE' && chance.percent(70),
      stationId: station.kind === 'GATE' ? scanner.id : null,
    };
  }

  /** The station that scans at a device: its own, or one that a gate serves. */
  #scannerOf({ station }: Device): DeviceStation | null {
    if (station.kind === 'STATION') return station;
    const fits = (own: readonly string[] | null, of: readonly string[] | null): boolean =>
      own === null || of === null || of.every((id) => own.includes(id));
    const served = this.#devices
      .map((device) => device.station)
      .filter((each) => each.kind === 'STATION')
      .filter((each) => fits(station.performanceIds, each.performanceIds) && fits(station.doorIds, each.doorIds));
    return served.length === 0 ? null : this.#world.chance.pick(served);
  }

  #code(performanceId: string): SentScan['code'] {
    const { chance } = this.#world;
    const is = chance.weighted({ TICKET: 20, UNKNOWN: 0.5, FORGED: 0.3, WRONG_EVENT: 0.3 });
    const tickets = [...this.#model.tickets.values()];
    const here = tickets.filter((ticket) => ticket.performanceId === performanceId);
    const isNone = is !== 'TICKET' || chance.percent(1);
    if (isNone) return { is, text: `tkt_1_none${String(this.#world.newNumber()).padStart(20, '0')}` };
    // The same few tickets, so that they are scanned often.
    const pool = here.length > 0 && chance.percent(90) ? here.slice(0, 5) : tickets;
    return { is, text: chance.pick(pool).id };
  }

  /** Sends what waits, some of it, in any order; again after a while. */
  #flush(device: Device, ids: readonly string[] | null = null): void {
    const { chance } = this.#world;
    const waiting = [...device.queue.values()];
    if (waiting.length === 0) return;
    if (!device.isRevoked && device.offlineUntil <= this.#world.service.now) {
      const isAll = ids === null || chance.percent(40);
      const batch = isAll
        ? waiting.slice(0, chance.between(1, BATCH_MAX))
        : waiting.filter(({ id }) => ids.includes(id));
      if (chance.percent(20)) batch.reverse();
      const times = chance.percent(this.#lossShare / 2) ? 2 : 1;
      for (let n = 0; n < times; n += 1) this.#transmit(device, batch);
    }
    if (ids !== null) this.#world.schedule(chance.between(500, 10 * SECOND), () => this.#flush(device));
    else this.#world.schedule(chance.between(SECOND, 20 * SECOND), () => this.#flush(device));
  }

  #transmit(device: Device, batch: readonly SentScan[]): void {
    const { station } = device;
    const isSlow = this.#world.chance.percent(this.#lossShare);
    const delay = (): number => this.#world.chance.between(0, isSlow ? 20 * SECOND : 80);
    if (this.#world.chance.percent(this.#lossShare)) return this.#world.count('request lost');
    const isAnswerLost = this.#world.chance.percent(this.#lossShare);
    const back = delay();
    this.#world.schedule(delay(), () =>
      this.#record(station, batch, (answer) => {
        if (isAnswerLost) return this.#world.count('answer lost');
        this.#world.schedule(back, () => this.#takeAnswer(device, batch, answer));
      }),
    );
  }

  #takeAnswer(device: Device, batch: readonly SentScan[], answer: ReplyTo<'RecordScans'> | Refusal): void {
    if (isRefusal(answer)) return;
    for (const [index, { verdict }] of answer.results.entries()) device.take(batch[index]!, verdict);
  }

  /** Has scans recorded; the answer is compared with what the model says of them. */
  #record(
    station: DeviceStation,
    scans: readonly SentScan[],
    answered: (answer: ReplyTo<'RecordScans'> | Refusal) => void,
  ): void {
    const command = {
      type: 'RecordScans',
      tokenSha256: station.tokenSha256,
      scans: scans.map(toRequest),
    } as CommandOf<'RecordScans'>;
    let expected: readonly ModelResult[] | null = null;
    let refusal: string | null = null;
    let dependsOn = 0;
    this.#hasRecorded = false;
    const taken = (): void => {
      const { now } = this.#world.service;
      if (this.#revoked.has(station.id)) refusal = 'STATION_REVOKED';
      else if (scans.some(({ doorId }) => station.doorIds?.includes(doorId) === false)) refusal = 'STATION_NOT_ALLOWED';
      const isNews = this.#model.isNews(scans);
      const entry = {
        type: 'SCANS',
        senderId: station.id,
        scans,
        at: now,
        seq: this.#world.service.headOf(EVENT),
      } as const;
      if (this.#hasRecorded) {
        assert.ok(refusal === null && isNews, 'what is refused or known is not recorded');
        expected = this.#note(entry);
      } else if (!isNews) expected = this.#model.take(entry);
      this.#hasRecorded = false;
      dependsOn = Math.max(0, ...scans.map(({ id }) => this.#seqs.get(id) ?? 0));
    };
    this.#world.send(
      EVENT,
      command,
      (answer) => {
        assert.equal(isRefusal(answer) ? answer.code : null, refusal, 'a batch is refused as predicted');
        if (!isRefusal(answer)) this.#assertAnswer(scans, answer, expected, dependsOn);
        answered(answer);
      },
      taken,
    );
  }

  #assertAnswer(
    scans: readonly SentScan[],
    { results }: ReplyTo<'RecordScans'>,
    expected: readonly ModelResult[] | null,
    dependsOn: number,
  ): void {
    assert.ok(expected !== null, 'what is new is recorded before it is answered');
    assert.ok(dependsOn <= this.#world.service.durableSeq, 'an answered scan is on disk');
    for (const [index, { id, verdict, repeated, admitted }] of results.entries()) {
      const { admittedBy, ...predicted }: ModelResult = expected[index]!;
      const context = (): string => JSON.stringify({ scan: scans[index], known: this.#model.scans.get(id) });
      assert.deepEqual({ id, verdict, repeated }, predicted, context());
      if (admittedBy !== undefined) assert.equal(admitted?.scanId ?? null, admittedBy, context());
      this.#world.count(repeated ? 'repeated' : verdict);
      if (verdict !== 'ID_REUSED') this.#answered.set(id, scans[index]!.given ?? this.#answered.get(id) ?? null);
    }
  }

  /** Somebody sends a known id with another code, kind or door. */
  #reuse(device: Device): void {
    const { durableSeq } = this.#world.service;
    const all = [...this.#model.scans.values()].map(({ scan }) => scan);
    const known = all.filter(({ id }) => this.#seqs.get(id)! <= durableSeq);
    if (device.isRevoked || device.station.kind === 'GATE' || known.length === 0) return;
    const scan = this.#world.chance.pick(known);
    const { performanceIds, doorIds } = device.station;
    const doorId = this.#world.chance.pick(doorIds ?? DOOR_IDS);
    if (performanceIds?.includes(scan.performanceId) === false || doorId === scan.doorId || scan.stationId !== null)
      return;
    this.#record(device.station, [{ ...scan, doorId, isOfGate: false }], () => {});
  }

  /** A batch with one scan of another door is refused as a whole. */
  #stray(device: Device): void {
    const { station } = device;
    const other = DOOR_IDS.find((id) => station.doorIds?.includes(id) === false);
    const scan = this.#read(device);
    if (other === undefined || station.kind === 'GATE' || scan === null) return;
    const foreign = { ...scan, id: `${scan.id}-far`, doorId: other };
    this.#record(station, [scan, foreign], () => {});
  }

  #sync(device: Device): void {
    if (device.offlineUntil > this.#world.service.now || device.isRevoked) return;
    const { cursor: after } = device;
    const limit = this.#world.chance.pick([1, 2, 5, 5_000]);
    const about = { queued: device.queue.size, version: null, keysDigest: 'keys' };
    const { tokenSha256 } = device.station;
    this.#world.send(EVENT, { type: 'SyncStation', tokenSha256, after, limit, ...about }, (answer) => {
      if (isRefusal(answer) || this.#world.chance.percent(this.#lossShare)) return;
      assert.ok(answer.changes.length <= limit, 'a page has at most so many changes');
      const digests = answer.changes.map(([digest]) => digest);
      assert.equal(new Set(digests).size, digests.length, 'an answer has each ticket once');
      device.sync(after, answer);
      if (answer.more && this.#world.chance.percent(80)) this.#sync(device);
    });
  }

  /** Revokes a device; it is paired anew later, with what waits on it. */
  async #revoke(device: Device): Promise<void> {
    const { id: stationId } = device.station;
    if (device.isRevoked) return;
    const { actor } = await this.#world.sight(EVENT);
    this.#revoked.add(stationId);
    const answer = await this.#world.driven(actor.execute({ type: 'RevokeStation', stationId, operator: 'olga' }));
    assert.ok(!isRefusal(answer));
    this.#world.count('revoked');
    device.isRevoked = true;
  }

  // ── what must be so ────────────────────────────────────────────────────────────────────────────────────────────────

  #assertShown({ actor }: Sight): void {
    const { now } = this.#world.service;
    const model = this.#model;
    actor.inspect((state) => {
      for (const { id } of this.#world.events[0]!.performances) {
        const read = readDoors(state, { performanceId: id }, now);
        assert.ok(!isRefusal(read));
        const [counts] = read.performances;
        const minutes = counts!.minutes.filter((each) => each.entries + each.exits > 0);
        assert.deepEqual({ ...counts!, minutes }, model.countsOf(id, now), 'counters are as in the model');
      }
      const page = listConflicts(state, { performanceId: null, after: null, limit: Number.MAX_SAFE_INTEGER });
      assert.ok(!isRefusal(page));
      for (const [index, { second }] of page.conflicts.entries()) {
        assert.ok(index === 0 || second.at <= page.conflicts[index - 1]!.second.at, 'the newest conflict comes first');
      }
      const found = page.conflicts.map(({ kind, ticketId, performanceId, first, second }) =>
        JSON.stringify({ kind, ticketId, performanceId, first: first?.scanId ?? null, second: second.scanId }),
      );
      const predicted = model.conflicts().map((each) => JSON.stringify(each));
      for (const { kind } of page.conflicts) this.#world.count(`conflict ${kind}`);
      assert.deepEqual(found.sort(), predicted.sort(), 'conflicts are as in the model');
    });
    this.#world.count('counters compared');
  }

  /** Faults stop, devices are paired and online, and send until nothing waits. */
  async #settle(): Promise<void> {
    this.#world.free();
    this.#world.activateAll();
    for (const device of this.#devices) {
      device.offlineUntil = 0;
      if (device.isRevoked) device.pair(await this.#addStation(device.station));
    }
    await this.#world.pass(MINUTE);
    for (let round = 0; this.#devices.some(({ queue }) => queue.size > 0); round += 1) {
      assert.ok(round < SETTLE_ROUNDS_MAX, 'queues become empty');
      for (const device of this.#devices) await this.#drain(device);
    }
  }

  async #drain(device: Device): Promise<void> {
    const batch = [...device.queue.values()].slice(0, BATCH_MAX);
    if (batch.length === 0) return;
    this.#record(device.station, batch, (answer) => this.#takeAnswer(device, batch, answer));
    await this.#world.rest();
    this.#world.service.commit();
    await this.#world.rest();
  }

  async #compare(): Promise<void> {
    await this.#world.proveState();
    const sight = await this.#world.sight(EVENT);
    this.#assertShown(sight);
    this.#assertBooks(sight);
    this.#assertRecordedOnce();
    if (this.#isOnline) this.#assertAdmittedOnce();
    for (const device of this.#devices) await this.#compareFeed(device);
  }

  /** Rule 3: what devices have shown, without a look at what was recorded. */
  #assertBooks({ actor }: Sight): void {
    const shown = this.#devices.flatMap(({ book }) => [...book.values()]);
    const undone = new Set(shown.filter(({ outcome }) => outcome === 'UNDONE').map(({ scan }) => scan.undoes));
    const counted = shown.filter(({ scan }) => !undone.has(scan.id));
    for (const { id } of this.#world.events[0]!.performances) {
      const read = actor.inspect((state) => readDoors(state, { performanceId: id }, this.#world.service.now));
      assert.ok(!isRefusal(read));
      const { entries, exits } = read.performances[0]!;
      const here = counted.filter(({ scan }) => scan.performanceId === id);
      const countOf = (outcome: string): number => here.filter((each) => each.outcome === outcome).length;
      const where = `${id}: no scan that a station showed is lost or counted twice`;
      assert.deepEqual({ entries, exits }, { entries: countOf('ADMIT'), exits: countOf('EXIT') }, where);
    }
    this.#world.seen.set('scans', shown.length);
  }

  #assertRecordedOnce(): void {
    const facts = this.#world.service.durableFacts('TicketsScanned').map(({ data }) => data as RecordedBatch);
    const ids = facts.flatMap(({ scans }) => scans.filter((scan) => scan.isAgain !== true).map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length, 'a scan is recorded once');
    const recorded = new Set(ids);
    for (const { book } of this.#devices) for (const id of book.keys()) assert.ok(recorded.has(id), `${id} is lost`);
  }

  /** Rule 2: by what was recorded, in its order. */
  #assertAdmittedOnce(): void {
    if (this.#model.definition.reentry === 'ALWAYS') return;
    const standing = new Map<string, { readonly id: string; readonly kind: string }[]>();
    for (const { data } of this.#world.service.durableFacts('TicketsScanned')) {
      for (const { id, kind, ticketId, verdict, undoes } of (data as RecordedBatch).scans) {
        if (verdict === 'UNDONE') {
          for (const [key, scans] of standing) standing.set(key, scans.filter((each) => each.id !== undoes)); // prettier-ignore
        }
        if (ticketId === undefined || (verdict !== 'ADMIT' && verdict !== 'EXIT')) continue;
        const scans = standing.get(ticketId) ?? [];
        const isInside = scans.at(-1)?.kind === 'ENTRY';
        assert.ok(verdict === 'EXIT' || !isInside, `${ticketId} is admitted twice without an exit between`);
        standing.set(ticketId, [...scans, { id, kind }]);
      }
    }
    this.#world.count('evening without offline scans');
  }

  async #compareFeed(device: Device): Promise<void> {
    const { tokenSha256, performanceIds } = device.station;
    const about = { queued: 0, version: null, keysDigest: 'keys' };
    for (let more = true; more;) {
      const after = device.cursor;
      const answer = await this.#world.ask(EVENT, { type: 'SyncStation', tokenSha256, after, limit: 50, ...about });
      assert.ok(!isRefusal(answer));
      device.sync(after, answer);
      more = answer.more;
    }
    for (const { id, performanceId } of this.#model.tickets.values()) {
      if (performanceIds?.includes(performanceId) === false) continue;
      const digest = createHash('sha256').update(id).digest('base64url').slice(0, 12);
      assert.equal(device.feed.get(digest) ?? 'N', this.#model.stateOf(id), `the feed says where ${id} is`);
      const predicted = this.#model.toldOf(id, device.station.kind === 'GATE' ? null : device.station.id);
      assert.deepEqual([...(device.told.get(digest) ?? [])].sort(), predicted, `its stations are told what ${id} has`);
      if (predicted.length > 0) this.#world.count('conflict told');
    }
    this.#world.count('feed compared');
  }
}

interface RecordedBatch {
  readonly scans: readonly {
    readonly id: string;
    readonly kind: string;
    readonly verdict: string;
    readonly ticketId?: string;
    readonly undoes?: string;
    readonly isAgain?: true;
  }[];
}

/** As the HTTP layer reads a scan. */
function toRequest({ code: read, ...scan }: SentScan): ScanRequest {
  const found = read === null ? null : read.is === 'TICKET' ? { ticketId: read.text } : read.is;
  const said = [scan.kind, scan.performanceId, scan.doorId, read?.text ?? scan.undoes].join('\n');
  const digest = createHash('sha256').update(said).digest().readUInt32BE();
  return { ...scan, found, digest } as ScanRequest;
}

/** Everybody has tickets; dates open and end during the evening. */
function drawEvening(chance: Chance): EventDefinition {
  const event = drawEvent(chance, 1, false);
  const [floor, ...others] = event.localities;
  const unlimited = { maxTicketsPerEmail: null, maxTicketsPerOrder: null, retentionDays: null };
  const startsAt = START + 30 * MINUTE;
  const performances = event.performances.map((date) => ({
    ...date,
    startsAt,
    ...(chance.percent(60) && { doorsAt: START + chance.between(0, 20) * MINUTE }),
    endsAt: chance.percent(40) ? startsAt + chance.between(1, 60) * MINUTE : null,
  }));
  return {
    ...event,
    ...unlimited,
    performances,
    localities: [{ ...floor!, seating: 'GENERAL', capacity: 100 }, ...others] as EventDefinition['localities'],
    ticketTypes: event.ticketTypes.map((type) => ({ ...type, quota: null, maxPerOrder: null })),
    promoCodes: [code('FREE', { percentOff: 100 })],
    doors: DOOR_IDS.map((id) => ({ id, name: id, ticketTypeIds: id === 'side' ? ['adult', 'group'] : null })),
    reentry: chance.pick(REENTRY),
  };
}
