/**
 * Scans of an event: conflicts and counters do not depend on how they arrive, replay and snapshot keep all of it, a
 * ticket that entered is not amended by itself, and a scanned ticket is small; the cursor of a feed is read as it was
 * written.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ScanRequest } from '#domain/command.ts';
import { readCursor, writeCursor } from '#domain/doors/sync.ts';
import { listConflicts, readDoors } from '#domain/doors/view.ts';
import { ScannedTickets } from '#domain/doors/scanned-tickets.ts';
import { isRefusal } from '#domain/refusal.ts';
import { fc } from '../property.ts';
import { amend, amended, ask, bought, change, idsOf, oddEvent, orderOf, quoted } from '../fixtures/amendments.ts';
import { buy, cancelByOperator, item, openCheckoutEvent, visitor } from '../fixtures/commands.ts';
import { code } from '../fixtures/definitions.ts';
import { scannedTicket } from '../fixtures/scanned-tickets.ts';
import { assertSameAfterReplay, given, MINUTE, START, type EventFixture } from '../fixtures/event-state.ts';

const STATIONS = ['north', 'south'];

interface Doors {
  readonly fixture: EventFixture;
  readonly ticketIds: readonly string[];
}

/** Three tickets of two orders, of which one is cancelled, and two stations. */
function openDoors(reentry: 'AFTER_EXIT' | 'NEVER' | 'ALWAYS'): Doors {
  const doors = [
    { id: 'main', name: 'Main', ticketTypeIds: null },
    { id: 'side', name: 'Side', ticketTypeIds: ['none'] },
  ];
  const fixture = openCheckoutEvent({ reentry, doors, promoCodes: [code('ALL', { percentOff: 100 })] });
  const type = fixture.state.plan.ticketTypes[0]!.id;
  const orders = [2, 1].map((quantity) => fixture.do(buy([item(type, quantity)], { promoCode: 'ALL' })).order);
  addStations(fixture);
  fixture.now = START + 10 * MINUTE;
  fixture.do(cancelByOperator(orders[1]!.id));
  fixture.now = START + 100 * MINUTE;
  return { fixture, ticketIds: orders.flatMap(({ tickets }) => tickets.map(({ id }) => id)) };
}

const ALL = { performanceIds: null, doorIds: null, expiresAt: null, operator: null };

function addStations(fixture: EventFixture): void {
  for (const name of STATIONS) {
    fixture.do({ type: 'AddStation', name, kind: 'STATION', tokenSha256: name, ...ALL });
  }
  fixture.do({ type: 'AddStation', name: 'gate', kind: 'GATE', tokenSha256: 'gate', ...ALL });
}

interface SentScan extends Pick<ScanRequest, 'id' | 'kind' | 'doorId' | 'given' | 'undoes'> {
  readonly station: string;
  readonly minute: number;
  /** The place of the ticket; beyond them a business card. */
  readonly ticket: number;
  /** Sent by the gate, which had checked it. */
  readonly isOfGate?: true;
}

function send({ fixture, ticketIds }: Doors, sender: string, scans: readonly SentScan[]): void {
  const idOfStation = ({ station }: SentScan): string =>
    [...fixture.state.doors!.stations.values()].find(({ name }) => name === station)!.id;
  fixture.do({
    type: 'RecordScans',
    tokenSha256: sender,
    scans: scans.map(({ minute, ticket, station, ...scan }) => ({
      isOfGate: false,
      ...scan,
      found:
        scan.kind === 'UNDO' ? null : ticketIds[ticket] === undefined ? 'UNKNOWN' : { ticketId: ticketIds[ticket]! },
      digest: scan.kind === 'UNDO' ? Number(scan.undoes!.slice(-4)) : 10_000 + ticket,
      performanceId: 'd1',
      at: START + minute * MINUTE,
      stationId: scan.isOfGate === true ? idOfStation({ minute, ticket, station, ...scan }) : null,
    })),
  });
}

/** What operators see at the end, without when scans arrived. */
function shown({ fixture }: Doors): unknown {
  const counts = readDoors(fixture.state, { performanceId: 'd1' }, fixture.now);
  const page = listConflicts(fixture.state, { performanceId: null, after: null, limit: 1_000 });
  assert.ok(!isRefusal(page));
  return {
    counts,
    conflicts: page.conflicts.map(({ first, second, ...of }) => ({
      ...of,
      first: first?.scanId,
      second: second.scanId,
    })),
  };
}

const decided = (place: number) =>
  fc
    .record({
      kind: fc.constantFrom('ENTRY' as const, 'ENTRY' as const, 'EXIT' as const, 'UNDO' as const),
      station: fc.constantFrom(...STATIONS),
      doorId: fc.constantFrom('main', 'main', 'side'),
      minute: fc.integer({ min: 0, max: 40 }),
      ticket: fc.integer({ min: 0, max: 3 }),
      refuses: fc.boolean(),
      of: fc.nat(7),
    })
    .map(({ refuses, of, ...scan }): SentScan => {
      const done = { ENTRY: 'ADMIT', EXIT: 'EXIT', UNDO: 'UNDONE' } as const;
      const refused = { ENTRY: 'CANNOT_TELL', EXIT: 'NOT_INSIDE', UNDO: 'UNDONE' } as const;
      const given = refuses && place % 3 === 0 ? refused[scan.kind] : done[scan.kind];
      return { ...scan, id: idOf(place), given, undoes: scan.kind === 'UNDO' ? idOf(of) : null };
    });

const idOf = (place: number): string => `property-scan-${String(place).padStart(4, '0')}`;

const arrivals = fc.tuple(...Array.from({ length: 8 }, (_, place) => decided(place)));

describe('The scans that stations decided by themselves', () => {
  it('come to the same conflicts and counters in whatever order, batches and repeats they arrive', () => {
    const cases = fc.record({
      scans: arrivals,
      reentry: fc.constantFrom('AFTER_EXIT' as const, 'NEVER' as const, 'ALWAYS' as const),
      order: fc.shuffledSubarray([...Array(16).keys()], { minLength: 16 }),
      batches: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 16, maxLength: 16 }),
    });
    fc.assert(
      fc.property(cases, ({ scans, reentry, order, batches }) => {
        const plain = openDoors(reentry);
        for (const scan of scans) send(plain, scan.station, [scan]);
        const mixed = openDoors(reentry);
        const waiting = order.map((place) => scans[place % scans.length]!);
        for (const size of batches) {
          const [first] = waiting;
          if (first === undefined) break;
          // A batch is of one station.
          const batch = waiting.slice(0, size).filter(({ station }) => station === first.station);
          for (const scan of batch) waiting.splice(waiting.indexOf(scan), 1);
          send(mixed, first.station, batch);
          mixed.fixture.wait(1);
        }
        for (const scan of waiting) send(mixed, scan.station, [scan]);
        assert.deepEqual(shown(mixed), shown(plain));
        assertSameAfterReplay(mixed.fixture);
      }),
      { numRuns: 60 },
    );
  });
});

describe('The scans that a gate had checked', () => {
  it('come to the same, whether they or what their stations decided meanwhile arrive first', () => {
    const done = { ENTRY: 'ADMIT', EXIT: 'EXIT', UNDO: 'UNDONE' } as const;
    const refused = { ENTRY: 'ALREADY_ADMITTED', EXIT: 'NOT_INSIDE', UNDO: 'NOT_UNDOABLE' } as const;
    const cases = fc.record({
      scans: arrivals,
      // What its gate has sent of each: nothing, that it was done, or that it was refused; and whether that is all.
      checked: fc.array(fc.constantFrom(null, done, refused), { minLength: 8, maxLength: 8 }),
      isDecided: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
      order: fc.shuffledSubarray([...Array(16).keys()], { minLength: 16 }),
    });
    fc.assert(
      fc.property(cases, ({ scans, checked, isDecided, order }) => {
        const sent = [
          ...scans.map((scan, place) => (checked[place] === null || isDecided[place] ? scan : null)),
          ...scans.map((scan, place) => {
            const verdicts = checked[place]!;
            return verdicts && { ...scan, given: verdicts[scan.kind], isOfGate: true as const };
          }),
        ];
        const deliver = (places: readonly number[]): Doors => {
          const doors = openDoors('AFTER_EXIT');
          for (const scan of places.map((place) => sent[place]!)) {
            if (scan !== null) send(doors, scan.isOfGate === true ? 'gate' : scan.station, [scan]);
          }
          assertSameAfterReplay(doors.fixture);
          return doors;
        };
        assert.deepEqual(shown(deliver(order)), shown(deliver([...order].sort((one, other) => one - other))));
      }),
      { numRuns: 60 },
    );
  });
});

/** A station that syncs, and keeps what it is told of conflicts: its entry, and the other one. */
class Synced {
  readonly #fixture: EventFixture;
  readonly #token: string;
  readonly #told = new Map<string, readonly string[]>();
  #cursor: string | null = null;
  pages = 0;

  constructor(fixture: EventFixture, token: string) {
    this.#fixture = fixture;
    this.#token = token;
  }

  /** All pages, of so many changes. */
  sync(limit = 5_000): this {
    for (let more = true; more;) {
      const about = { queued: null, version: null, keysDigest: 'keys' };
      const command = { type: 'SyncStation', tokenSha256: this.#token, after: this.#cursor, limit, ...about } as const;
      const answer = this.#fixture.do(command);
      if (answer.reset) this.#told.clear();
      const conflicts = Map.groupBy(answer.conflicts ?? [], ({ digest }) => digest);
      for (const [digest] of answer.changes) this.#told.delete(digest);
      for (const [digest, found] of conflicts) {
        assert.ok(answer.changes.some(([changed]) => changed === digest));
        this.#told.set(
          digest,
          found.map(({ scanId, admitted }) => `${scanId} ${admitted.scanId}`),
        );
      }
      assert.notEqual(answer.conflicts?.length, 0);
      ({ cursor: this.#cursor, more } = answer);
      this.pages += 1;
    }
    return this;
  }

  get told(): readonly string[] {
    return [...this.#told.values()].flat().sort();
  }
}

/** What the stations with these ids have to be told, by the list of operators. */
function sidesOf({ fixture }: Doors, isTold: (stationId: string) => boolean): readonly string[] {
  const page = listConflicts(fixture.state, { performanceId: null, after: null, limit: 1_000 });
  assert.ok(!isRefusal(page));
  const sides = page.conflicts.flatMap(({ ticketId, first, second }) =>
    first === null || ticketId === null ? [] : [[first, second] as const, [second, first] as const],
  );
  return sides
    .filter(([{ stationId }]) => stationId !== null && isTold(stationId))
    .map(([own, other]) => `${own.scanId} ${other.scanId}`)
    .sort();
}

describe('Stations that sync', () => {
  const idOfStation = ({ fixture }: Doors, name: string): string =>
    [...fixture.state.doors!.stations.values()].find((each) => each.name === name)!.id;

  it('are told of exactly the conflicts of entries of their own, a gate of those of all, whatever arrives when', () => {
    const cases = fc.record({
      scans: arrivals,
      reentry: fc.constantFrom('AFTER_EXIT' as const, 'NEVER' as const, 'ALWAYS' as const),
      order: fc.shuffledSubarray([...Array(8).keys()], { minLength: 8 }),
      syncs: fc.array(fc.constantFrom(0, 0, 1, 2, 5_000), { minLength: 8, maxLength: 8 }),
    });
    let count = 0;
    fc.assert(
      fc.property(cases, ({ scans, reentry, order, syncs }) => {
        const doors = openDoors(reentry);
        const names = [...STATIONS, 'gate'];
        const all = names.map((name) => new Synced(doors.fixture, name));
        for (const [step, place] of order.entries()) {
          send(doors, scans[place]!.station, [scans[place]!]);
          doors.fixture.wait(1);
          if (syncs[step]! > 0) all[step % all.length]!.sync(syncs[step]);
        }
        for (const [number, name] of names.entries()) {
          const { told } = all[number]!.sync(2);
          const own = name === 'gate' ? null : idOfStation(doors, name);
          assert.deepEqual(
            told,
            sidesOf(doors, (id) => own === null || id === own),
          );
          assert.deepEqual(new Synced(doors.fixture, name).sync(1).told, told, 'one that begins anew is told the same');
          count += told.length;
        }
      }),
      { numRuns: 100 },
    );
    assert.ok(count > 0, 'some are told');
  });

  it('are told of three entries, and of none any more that an operator undid or the event allows', () => {
    const doors = openDoors('AFTER_EXIT');
    const { fixture, ticketIds } = doors;
    const scan = { kind: 'ENTRY', given: 'ADMIT', undoes: null, doorId: 'main', ticket: 0 } as const;
    const entries = [0, 1, 2].map((place) => ({
      ...scan,
      id: idOf(place),
      station: STATIONS[place % 2]!,
      minute: place,
    }));
    for (const entry of [entries[1]!, entries[2]!, entries[0]!]) send(doors, entry.station, [entry]);
    const [north, south] = STATIONS.map((name) => new Synced(fixture, name).sync());
    const told = (): readonly (readonly string[])[] => [north!, south!].map((station) => station.sync().told);
    const [one, two, three] = entries.map(({ id }) => id);
    const all = [[`${one} ${three}`, `${one} ${two}`, `${three} ${one}`].sort(), [`${two} ${one}`]];
    assert.deepEqual(told(), all);
    const [digest] = fixture.do({
      ...{ type: 'SyncStation', tokenSha256: 'north', after: null, limit: 1 },
      ...{ queued: null, version: null, keysDigest: 'keys' },
    }).conflicts!;
    const { ticketTypeName, seatLabel } = digest!.ticket;
    assert.deepEqual([digest!.at, ticketTypeName, seatLabel], [START, 'Adult', null]);
    const byHand = {
      type: 'ScanByHand',
      ticketId: ticketIds[0]!,
      operator: 'olga',
      note: null,
      idempotency: null,
    } as const;
    fixture.do({ ...byHand, kind: 'UNDO', doorId: null, undoes: one! });
    assert.deepEqual(told(), [[`${three} ${two}`], [`${two} ${three}`]]);
    fixture.do({
      type: 'DefineEvent',
      definition: { ...fixture.state.plan.definition, reentry: 'ALWAYS' },
      operator: null,
      note: null,
    });
    assert.deepEqual(told(), [[], []]);
    fixture.do({
      type: 'DefineEvent',
      definition: { ...fixture.state.plan.definition, reentry: 'NEVER' },
      operator: null,
      note: null,
    });
    assert.deepEqual(told(), [[`${three} ${two}`], [`${two} ${three}`]]);
    assertSameAfterReplay(fixture);
  });

  it('are told of many conflicts in several answers', () => {
    const doors = openDoors('AFTER_EXIT');
    const scans = Array.from({ length: 378 }, (_, place) => {
      const at = { station: STATIONS[place % 2]!, minute: 0, ticket: place % 3 };
      return { id: idOf(place), kind: 'ENTRY' as const, given: 'ADMIT' as const, undoes: null, doorId: 'main', ...at };
    });
    for (const station of STATIONS)
      send(
        doors,
        station,
        scans.filter((scan) => scan.station === station),
      );
    const gate = new Synced(doors.fixture, 'gate').sync();
    assert.deepEqual([gate.told.length, gate.pages], [3 * 125 * 2, 2]);
  });
});

describe('A gate', () => {
  it('tells a station of so many tickets in one answer that other scans need not wait', () => {
    const { fixture } = openDoors('AFTER_EXIT');
    const gate = [...fixture.state.doors!.stations.values()].find(({ kind }) => kind === 'GATE')!;
    const changes = Array.from({ length: 1_001 }, (_, place) => {
      return [String(place).padStart(12, '0'), 'I', START, 'main'] as const;
    });
    const page = { cursor: 'end', isAnew: true, more: false, includesUntil: 0, stations: [], changes };
    fixture.do({ type: 'TakeFeed', ...page, head: { stationId: gate.id, keys: [], performances: [] } });
    assert.equal(new Synced(fixture, 'north').sync().pages, 2);
  });
});

describe('A ticket that entered', () => {
  /** A crew of four and two who stand, of one order; and what a station says of one of them. */
  function setUp() {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('crew', 1), item('stand', 2), item('stand', 1, { performanceId: 'd2' })]);
    const ids = idsOf(order);
    addStations(fixture);
    fixture.now = START + 100 * MINUTE;
    let count = 0;
    const scanned = (ticket: number, kind: 'ENTRY' | 'EXIT' | 'UNDO', given: SentScan['given'] = null): void => {
      const undoes = kind === 'UNDO' ? idOf(count - 1) : null;
      const scan = { id: idOf(count), kind, given, undoes, doorId: 'main', station: 'north', minute: count, ticket };
      send({ fixture, ticketIds: ids }, 'north', [scan]);
      count += 1;
    };
    return { fixture, order, ids, scanned };
  }

  it('is not amended, whether it is inside or has left, but for operators who say so', () => {
    const { fixture, order, ids, scanned } = setUp();
    const [, , , , first = '', second = '', elsewhere = ''] = ids;
    scanned(4, 'ENTRY', 'ADMIT');
    const refused = { ticketIds: [first] };
    const requests = [
      { cancel: [second, first] },
      { reissue: [first, elsewhere] },
      { attendees: [{ ticketId: first, attendee: visitor('Eve') }] },
    ];
    const all = [
      ...requests.map((request) => ask(order.id, request)),
      change(order.id, [first], { performanceId: 'd2' }),
    ];
    for (const command of all) fixture.when(command).refuses('TICKET_ADMITTED', refused);
    fixture.when({ ...all[0]!, by: 'BUYER' }).refuses('TICKET_ADMITTED', refused);
    scanned(4, 'EXIT', 'EXIT');
    fixture.when(all[0]!).refuses('TICKET_ADMITTED', refused);
    const request = { cancel: [first], evenAdmitted: true } as const;
    const { quote } = quoted(fixture, ask(order.id, request));
    fixture.when({ ...ask(order.id, { cancel: [first] }), quote }).refuses('TICKET_ADMITTED', refused);
    const left = idsOf(amended(fixture, { ...ask(order.id, request), quote }));
    assert.deepEqual(left, [...ids.slice(0, 4), second, elsewhere]);
    fixture.when(all[0]!).refuses('TICKET_VOID', refused);
  });

  it('is refused after tickets that are none, void or a part of a group', () => {
    const { fixture, order, ids, scanned } = setUp();
    scanned(0, 'ENTRY', 'ADMIT');
    const [part, crew] = [ids.slice(0, 3), ids.slice(0, 4)];
    fixture.when(amend(order.id, [...part, 'tkt_1_none'])).refuses('TICKET_NOT_FOUND', { ticketIds: ['tkt_1_none'] });
    fixture.when(amend(order.id, part)).refuses('UNIT_INCOMPLETE', { ticketIds: ids.slice(3, 4) });
    fixture.when(amend(order.id, crew)).refuses('TICKET_ADMITTED', { ticketIds: ids.slice(0, 1) });
    assert.equal(idsOf(amended(fixture, ask(order.id, { reissue: ids.slice(1, 2) }))).length, 7);
  });

  it('is amended as before where its entry was undone, or nobody was let in', () => {
    const { fixture, order, ids, scanned } = setUp();
    scanned(4, 'ENTRY', 'ADMIT');
    scanned(4, 'UNDO', 'UNDONE');
    scanned(5, 'ENTRY', 'CANNOT_TELL');
    assert.equal(idsOf(amended(fixture, amend(order.id, ids.slice(4, 6)))).length, 5);
  });

  it('goes with its date where the tickets of that are cancelled', () => {
    const { fixture, order, ids, scanned } = setUp();
    scanned(4, 'ENTRY', 'ADMIT');
    const said = { orders: 'TICKETS', operator: null, note: null } as const;
    fixture.do({ type: 'CancelPerformance', performanceId: 'd1', ...said });
    fixture.cancelOrders();
    assert.deepEqual(idsOf(orderOf(fixture, order)), ids.slice(6));
    assertSameAfterReplay(fixture);
  });
});

describe('A ticket that was scanned', () => {
  it('is read as it was put, with its last change alone', () => {
    const tickets = new ScannedTickets();
    for (let number = 0; number < 300; number += 1) tickets.put(null, scannedTicket(number), true);
    for (let round = 0; round < 3; round += 1) {
      for (let number = 0; number < 300; number += 2) tickets.put(number, scannedTicket(number), true);
    }
    const changed = [...tickets.changedAfter(0)].map(({ number }) => number);
    assert.deepEqual(
      changed.slice(0, 150),
      Array.from({ length: 150 }, (_, index) => 2 * index + 1),
    );
    assert.deepEqual(
      changed.slice(150),
      Array.from({ length: 150 }, (_, index) => 2 * index),
    );
    assert.deepEqual([...tickets.changedAfter(tickets.lastChange)], []);
    for (const number of [0, 1, 299]) {
      assert.deepEqual(tickets.at(tickets.find(scannedTicket(number).key)!), scannedTicket(number));
      assert.equal(tickets.findScan(scannedTicket(number).scans[0]!.id), number);
    }
    assert.equal(tickets.find('nobody'), null);
    assert.equal(tickets.findScan('c2Nhbi0'), null, 'the beginning of an id is no id');
  });
});

describe('The cursor of a feed', () => {
  it('is read as it was written', () => {
    const cursor = {
      stationId: 'stn_1_abc-D_e',
      change: 70_000,
      voidSince: 1_790_000_000_123,
      voidCount: 2,
      head: 'h-1',
    };
    assert.deepEqual(readCursor(writeCursor(cursor)), cursor);
  });

  it('is nothing where the text is another', () => {
    for (const text of ['', 'x', 'a.b.c', 'a.1.2.3', 'a.1.2.3.', 'a.1.-2.3.h', `a.${'z'.repeat(11)}.1.1.h`]) {
      assert.equal(readCursor(text), null, text);
    }
  });
});
