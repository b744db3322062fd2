/**
 * What every port of an event must do, wherever the event is: run by each implementation of `EventPort` over its own
 * fixture.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRefusal } from '#domain/refusal.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { WAITS_FOR_DURABILITY, type QueryOf, type QueryType } from '#domain/event/query.ts';
import type { EventPort } from '#actors/event-port.ts';
import type { CommandOf } from '#domain/command.ts';
import { commitFirst, openActors } from '../fixtures/actors.ts';
import { anna, start } from '../fixtures/commands.ts';
import { definitionOf, sample } from '../fixtures/events.ts';

/** The port of the sample event, whose facts become durable when the test says so. */
interface PortFixture {
  readonly clock: { now: number };
  find(): Promise<EventPort>;
  /** Lets everything that was asked so far reach the event, and advisory answers come back. */
  arrive(): Promise<void>;
  /** The same, then makes all facts durable. */
  commit(): Promise<void>;
  /** The same, then loses all facts that are not durable, and everything in memory. */
  crash(): Promise<void>;
}

/** The sample event erfurt-volley in this process, for ports to reach it; `arrive` is that of the port. */
export async function openSampleEvent(arrive: () => Promise<void>) {
  const journal = new MemoryJournal({ manual: true });
  const { events, clock } = openActors(journal);
  const definition = definitionOf(sample('erfurt-volley'));
  journal.onStatus(() => events.actors.retireAll());
  await commitFirst(journal, events.define(definition, { operator: null, note: null }));
  return {
    events,
    eventId: definition.id,
    clock,
    arrive,
    async commit() {
      await arrive();
      journal.commit();
    },
    async crash() {
      await arrive();
      journal.full(true);
      journal.full(false);
    },
  };
}

const SESSION = 'session-1';

const PLACE_HOLD: CommandOf<'PlaceHold'> = {
  type: 'PlaceHold',
  sessionKey: SESSION,
  items: [
    { ticketTypeId: 'kat1', sellingStageId: 'general', quantity: 2, performanceId: 'derby', seatIds: null },
    { ticketTypeId: 'kat2', sellingStageId: 'general', quantity: 1, performanceId: 'opener', seatIds: null },
  ],
  queuePass: null,
  idempotency: null,
};

const START_CHECKOUT = start({ sessionKey: SESSION, tracking: { campaign: 'autumn' } });

/** One query of each type. */
function everyQuery(holdId: string, orderId: string): { readonly [Type in QueryType]: QueryOf<Type> } {
  const page = { after: null, limit: 10 };
  return {
    ReadPayload: { type: 'ReadPayload', performanceId: 'derby', sessionKey: null, knownRevision: null },
    ReadSeating: { type: 'ReadSeating', audience: 'BUYERS', knownRevision: null },
    ReadOccupancy: {
      type: 'ReadOccupancy',
      audience: 'OPERATORS',
      performanceId: 'derby',
      since: 0,
      knownRevision: null,
    },
    SuggestSeats: { type: 'SuggestSeats', ticketTypeId: 'kat1', count: 2, performanceId: 'derby', sessionKey: SESSION },
    FindPerformance: { type: 'FindPerformance', performanceId: 'derby' },
    ListScans: { type: 'ListScans', after: null, limit: 10 },
    FindScans: { type: 'FindScans', ticketIds: [] },
    ReadLivePerformance: { type: 'ReadLivePerformance', performanceId: 'derby', knownRevision: null },
    CountUnknownCodes: { type: 'CountUnknownCodes', codes: ['NO SUCH CODE'] },
    FindHold: { type: 'FindHold', holdId, sessionKey: SESSION },
    QuoteOrder: { type: 'QuoteOrder', holdId, sessionKey: SESSION, promoCode: null },
    FindOrder: { type: 'FindOrder', orderId, tickets: page, withDefinition: true },
    QuoteAmendment: { type: 'QuoteAmendment', orderId, by: 'OPERATOR', request: { cancel: ['tkt_1'], feeCents: 0 } },
    FindAmendment: { type: 'FindAmendment', orderId, amendmentId: 'amd_1_unknown' },
    ListOrders: { type: 'ListOrders', status: null, email: anna.email, ...page },
    FindNumbered: { type: 'FindNumbered', number: 'HF-2222-222' },
    ListPersonalData: { type: 'ListPersonalData', of: 'NAMED', from: null, limit: 10 },
    ForecastCancellation: { type: 'ForecastCancellation', performanceId: 'derby', after: null },
    FindTicket: { type: 'FindTicket', ticketId: 'tkt_1_unknown' },
    ListVoidTickets: { type: 'ListVoidTickets', performanceId: null, ...page },
    FindSession: { type: 'FindSession', checkoutSessionId: 'cs_1_unknown' },
    FindUnopenedPayments: { type: 'FindUnopenedPayments', ageMsMin: 0, limit: 10, before: null },
    FindUselessSessions: { type: 'FindUselessSessions', orderId },
    ScanUselessSessions: { type: 'ScanUselessSessions', before: null, count: 10 },
    ListRefunds: { type: 'ListRefunds', status: null, ...page },
    ListDueRefunds: { type: 'ListDueRefunds', limit: 10 },
    ListStations: { type: 'ListStations' },
    FindStation: { type: 'FindStation', tokenSha256: 'unknown' },
    ReadFeed: { type: 'ReadFeed' },
    ReadDoors: { type: 'ReadDoors', performanceId: 'derby' },
    ListAttendees: { type: 'ListAttendees', performanceId: null, after: null },
    ListConflicts: { type: 'ListConflicts', performanceId: null, ...page },
    FindDraw: { type: 'FindDraw', offset: 0, limit: 10 },
    ReadBrand: { type: 'ReadBrand' },
    ReadFact: {
      type: 'ReadFact',
      stored: { seq: 1, at: 0, type: 'OrderExpired', data: JSON.stringify({ orderId, refundDueCents: 0 }) },
    },
    ReadOperatorEvent: { type: 'ReadOperatorEvent' },
    ReadMoney: { type: 'ReadMoney' },
    ReadGauges: { type: 'ReadGauges' },
    ReadTotals: { type: 'ReadTotals', performanceId: 'derby' },
  };
}

/** Places a hold and an order for it; neither is durable yet. */
async function buy(port: EventPort, commit: () => Promise<void>) {
  const placing = port.execute(PLACE_HOLD);
  await commit();
  const placed = await placing;
  assert.ok(!isRefusal(placed));
  const { id: holdId } = placed.hold;
  const starting = port.execute({ ...START_CHECKOUT, holdId });
  return { holdId, starting };
}

export function testEventPort(name: string, open: () => Promise<PortFixture>): void {
  describe(`The port of ${name}`, () => {
    it('answers every query with plain data', async () => {
      const fixture = await open();
      const port = await fixture.find();
      const { holdId, starting } = await buy(port, () => fixture.commit());
      await fixture.commit();
      const started = await starting;
      assert.ok(!isRefusal(started));
      for (const query of Object.values(everyQuery(holdId, started.order.id))) {
        const view: unknown = await port.read(query as QueryOf<'FindHold'>);
        assert.deepStrictEqual(JSON.parse(JSON.stringify(view)), view, query.type);
      }
    });

    it('replies to a command once its facts are durable', async () => {
      const fixture = await open();
      const port = await fixture.find();
      const answered: string[] = [];
      const placing = port.execute(PLACE_HOLD).then((reply) => answered.push(reply.outcome));
      const refused = port.execute({ type: 'LeaveQueue', entryId: 'que_1_unknown', sessionKey: SESSION });
      await fixture.arrive();
      assert.deepEqual(answered, []);
      await fixture.commit();
      await placing;
      assert.deepEqual(answered, ['DONE']);
      assert.ok(isRefusal(await refused));
    });

    it('shows a hold, an order and an entry once they are durable, and advisory figures at once', async () => {
      const fixture = await open();
      const port = await fixture.find();
      const { holdId } = await buy(port, () => fixture.commit());
      const answered = new Set<string>();
      const readings = Object.values(everyQuery(holdId, 'ord_1_unknown')).map((query) =>
        port.read(query as QueryOf<'FindHold'>).then(() => answered.add(query.type)),
      );
      await fixture.arrive();
      for (const [type, waits] of Object.entries(WAITS_FOR_DURABILITY)) assert.equal(answered.has(type), !waits, type);
      await fixture.commit();
      await Promise.all(readings);
    });

    it('answers UNCHANGED to the newest revision until something that the view shows changes', async () => {
      const fixture = await open();
      const port = await fixture.find();
      const read = async (knownRevision: string | null) => {
        const view = await port.read({ type: 'ReadPayload', performanceId: null, sessionKey: null, knownRevision });
        assert.ok(!isRefusal(view));
        return 'outcome' in view ? view.outcome : view.revision!;
      };
      const first = await read(null);
      assert.equal(await read(first), 'UNCHANGED');
      const placing = port.execute(PLACE_HOLD);
      const second = await read(first);
      assert.notEqual(second, first);
      assert.equal(await read(second), 'UNCHANGED');
      await fixture.commit();
      await placing;
    });

    it('never gives a revision to two activations, which may have counted other facts', async () => {
      const fixture = await open();
      const read = async (knownRevision: string | null) => {
        const port = await fixture.find();
        const wanted = { audience: 'BUYERS', performanceId: 'derby', since: null, knownRevision } as const;
        const view = await port.read({ type: 'ReadOccupancy', ...wanted });
        assert.ok('revision' in view && view.revision !== null);
        return view.revision;
      };
      const port = await fixture.find();
      const lost = port.execute(PLACE_HOLD);
      const before = await read(null);
      await fixture.crash();
      await assert.rejects(lost);
      const placing = (await fixture.find()).execute({ ...PLACE_HOLD, sessionKey: 'session-2' });
      assert.notEqual(await read(before), before);
      await fixture.commit();
      await placing;
    });

    it('shows an expired hold as ended, to the millisecond', async () => {
      const fixture = await open();
      const port = await fixture.find();
      const placing = port.execute(PLACE_HOLD);
      await fixture.commit();
      const placed = await placing;
      assert.ok(!isRefusal(placed));
      const statusAt = async (now: number) => {
        fixture.clock.now = now;
        const reading = port.read({ type: 'FindHold', holdId: placed.hold.id, sessionKey: SESSION });
        await fixture.commit();
        const hold = await reading;
        return isRefusal(hold) ? hold.code : hold.status;
      };
      assert.equal(await statusAt(placed.hold.expiresAt - 1), 'ACTIVE');
      assert.equal(await statusAt(placed.hold.expiresAt), 'EXPIRED');
    });
  });
}
