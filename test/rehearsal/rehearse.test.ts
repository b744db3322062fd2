/** A recorded sale is rehearsed at a service: the same is sold, nothing personal is sent, and what differs is named. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { viewJournal } from '#persistence/sqlite/view.ts';
import { readTrace, type Period } from '#rehearsal/trace/builder.ts';
import { rehearse, type RehearsalOptions } from '#rehearsal/rehearse.ts';
import type { Difference, RehearsalReport } from '#rehearsal/report/report.ts';
import { startOwnService } from '#rehearsal/server/service.ts';
import type { Trace } from '#rehearsal/trace/trace.ts';
import type { OrderStatusBody } from '#http/buyers/orders/schema.ts';
import { isClusterMode } from '../fixtures/cluster.ts';
import { definitionOf } from '../fixtures/events.ts';
import { openServiceWith, type TestService } from '../fixtures/service.ts';
import { startHere } from './own-service.ts';
import { buyers, concert, itemOf, sellOut } from './sales.ts';

const WHOLE: Period = { from: null, to: null };

async function record(definition: object, sell: (service: TestService) => Promise<void>): Promise<TestService> {
  const service = await openServiceWith([definition]);
  await sell(service);
  return service;
}

async function traceOf(service: TestService, period = WHOLE): Promise<Trace> {
  const view = viewJournal(service.folder)!;
  try {
    const trace = await readTrace(view, 'evt_concert', period);
    assert.ok(trace !== null);
    return trace;
  } finally {
    view.close();
  }
}

/** Options of a rehearsal at a service of its own in this process, ten times as fast, with a short look before. */
function optionsOf(trace: Trace, more: Partial<RehearsalOptions> = {}): RehearsalOptions {
  return {
    trace,
    pace: { speed: 10, pollSeconds: 1, pageReads: 1, lookSeconds: 2 },
    connections: 8,
    against: null,
    startService: startHere,
    definition: null,
    title: 'test',
    version: '0',
    run: 'test',
    ...more,
  };
}

/** The differences without that of the time, which a busy machine makes longer. */
function beside({ differences }: RehearsalReport): readonly Difference[] {
  return differences.filter(({ what }) => what !== 'sold out after');
}

describe('A rehearsal', { skip: isClusterMode, concurrency: 2 }, () => {
  let sale: TestService;
  before(async () => void (sale = await record(concert(), sellOut)));
  after(() => sale.close());

  it('of a sale that sold out sells the same seats again, and finds nothing different', async () => {
    const trace = await traceOf(sale);
    assert.equal(trace.outcome.ticketsSold, 100);
    assert.equal(trace.outcome.seatsSold.length, 60);
    assert.ok(trace.outcome.soldOutAt !== null);
    assert.deepEqual(trace.leftOut, {});
    const kinds = new Set(trace.intents.map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), ['CHANGE', 'HOLD', 'PAY', 'RELEASE', 'REQUEST_PAYMENT', 'START']);
    const paid = trace.intents.flatMap((each) => (each.kind === 'PAY' ? [each.outcome] : []));
    assert.deepEqual([...new Set(paid)].sort(), ['cancelled', 'declined', 'paid']);
    const report = await rehearse(optionsOf(trace, { startService: startOwnService }));
    assert.deepEqual(beside(report), []);
    assert.deepEqual(report.now.seatsSold, trace.outcome.seatsSold);
    assert.equal(report.now.ticketsSold, 100);
    assert.equal(report.now.soldCents, trace.outcome.soldCents);
    assert.deepEqual(report.now.pricesCents, trace.outcome.pricesCents);
    const answers = report.tally.routes.reduce((sum, { latency }) => sum + latency.count, 0);
    assert.equal(
      answers,
      report.askedBySecond.reduce((sum, each) => sum + each, 0),
    );
    assert.ok(report.meter!.cpuMicros > 0);
    assert.deepEqual(Object.keys(report.tally.steps).sort(), ['admission', 'disk', 'total', 'turn']);
  });

  it('names best seats where the best were taken, and picked ones where they were picked', async () => {
    const trace = await traceOf(sale);
    const holds = trace.intents.flatMap((each) => (each.kind === 'HOLD' ? each.items : []));
    const named = holds.filter(({ seatIds }) => seatIds !== null);
    assert.deepEqual(
      named.map(({ seatIds }) => seatIds),
      [['H-5-11', 'H-5-12']],
    );
  });

  it('with other prices, quotas and windows names what they change for buyers', async () => {
    const trace = await traceOf(sale);
    const stages = [{ id: 'now', name: 'Now', prices: { seat: 4600, stand: 2000 }, quotas: { stand: 22 } }];
    const definition = {
      file: 'other.json',
      definition: definitionOf(concert({ sellingStages: stages, hold_minutes: 5 })),
    };
    const report = await rehearse(optionsOf(trace, { definition }));
    assert.deepEqual(
      [...report.definitionChanges].sort(),
      [
        'minutes of a hold: 10 then, 5 now',
        'minutes to pay: 30 then, 25 now',
        'price of seat, now: 4500 then, 4600 now',
        'quota of stand, now: none then, 22 now',
      ].filter((line) => !line.startsWith('minutes to pay') || report.definitionChanges.includes(line)),
    );
    const whats = new Map(report.differences.map(({ what, then, now }) => [what, [then, now]]));
    assert.deepEqual(whats.get('price of one seat, now (in cents)'), ['4500', '4600']);
    assert.ok(Number(whats.get('tickets sold')![1]) < 100);
    assert.match(whats.get('POST /api/checkout/holds: 400 INSUFFICIENT_TICKETS')![1]!, /refused$/);
    assert.match(whats.get('totals of orders (in cents)')![1]!, /differ, together by \+\d+, such as/);
    assert.deepEqual(whats.get('sold out after')![1], 'not sold out');
  });

  it('lets people of a waiting room follow its admissions, so that another rate makes the sale longer or shorter', async (t) => {
    const room = concert({ waiting_room: true, waiting_room_rate: 2 });
    const service = await record(room, sellThroughRoom);
    t.after(() => service.close());
    const trace = await traceOf(service);
    assert.equal(trace.outcome.ticketsSold, 12);
    const same = await rehearse(
      optionsOf(trace, { pace: { speed: 30, pollSeconds: 5, pageReads: 0, lookSeconds: 0 } }),
    );
    assert.deepEqual(beside(same), []);
    assert.ok(same.polls > 0);
    const faster = {
      file: 'faster.json',
      definition: definitionOf(concert({ waiting_room: true, waiting_room_rate: 6 })),
    };
    const other = await rehearse(
      optionsOf(trace, { definition: faster, pace: { speed: 30, pollSeconds: 5, pageReads: 0, lookSeconds: 0 } }),
    );
    assert.equal(other.now.ticketsSold, 12);
    assert.deepEqual(other.definitionChanges, ['admissions a minute: 2 then, 6 now']);
    assert.ok(other.lengthMs < same.lengthMs / 2, `${other.lengthMs} of ${same.lengthMs}`);
  });

  it('with a waiting room that then had none has everybody join it first', async () => {
    const trace = await traceOf(sale);
    const definition = {
      file: 'room.json',
      definition: definitionOf(concert({ waiting_room: true, waiting_room_rate: 600 })),
    };
    const report = await rehearse(optionsOf(trace, { definition }));
    assert.equal(report.trace.intents['JOIN'], trace.people);
    assert.deepEqual(report.definitionChanges.slice(0, 1), ['waiting room: false then, true now']);
    assert.equal(report.now.ticketsSold, 100);
    assert.deepEqual(beside(report), []);
  });

  it('does what operators did to the event and its seats, and counts what it leaves out', async (t) => {
    const service = await record(concert(), sellBesideOperators);
    t.after(() => service.close());
    const trace = await traceOf(service);
    assert.deepEqual(
      trace.operations.map(({ kind }) => kind),
      ['DEFINE', 'BLOCK', 'UNBLOCK'],
    );
    assert.deepEqual(trace.leftOut, { 'orders cancelled by operators': 1 });
    const report = await rehearse(optionsOf(trace));
    assert.deepEqual(report.now.pricesCents, { 'seat, now': [4500, 4600] });
    assert.deepEqual(report.now.pricesCents, trace.outcome.pricesCents);
    // The order that an operator cancelled then is sold now, because that is left out.
    assert.equal(report.now.ticketsSold, trace.outcome.ticketsSold + 2);
    assert.deepEqual(report.tally.refusals, []);
    assert.deepEqual(report.notTried, {});
  });

  it('leaves out amendments with what was paid for them, and cancels a performance by tickets where that was so', async (t) => {
    const service = await record(concert({ buyer_changes: { cancel: {} } }), sellAndAmend);
    t.after(() => service.close());
    const trace = await traceOf(service);
    assert.deepEqual(
      trace.intents.map(({ kind }) => kind),
      ['HOLD', 'START', 'PAY', 'HOLD', 'START', 'PAY'],
    );
    assert.deepEqual(
      trace.operations.map(({ at: _at, ...operation }) => operation),
      [{ kind: 'CANCEL_PERFORMANCE', performanceId: 'eve', orders: 'TICKETS' }],
    );
    assert.deepEqual(trace.leftOut, { 'amendments to be paid': 1, 'orders amended': 2 });
    const report = await rehearse(optionsOf(trace));
    assert.deepEqual([report.tally.refusals, report.notTried], [[], {}]);
  });

  it('makes orders at a counter again as such, beside buyers, leaves out what was scanned, and counts one that the service refuses now', async (t) => {
    const service = await record(concert(), sellAtCounter);
    t.after(() => service.close());
    const trace = await traceOf(service);
    const sales = trace.operations.filter(({ kind }) => kind === 'SELL_AT_COUNTER');
    assert.deepEqual(
      sales.map(({ at: _at, ...sale }) => sale),
      [
        counterSale(1, 'CASH', false, { ticketTypeId: 'seat', seatIds: ['H-3-1', 'H-3-2'] }),
        counterSale(2, 'FREE', true, { ticketTypeId: 'stand', seatIds: null }),
      ],
    );
    assert.deepEqual(
      trace.intents.map(({ kind }) => kind),
      ['HOLD', 'START', 'PAY', 'HOLD', 'START', 'PAY'],
    );
    assert.deepEqual(trace.leftOut, { 'scans at the doors': 2 });
    assert.deepEqual([trace.outcome.ordersSold, trace.outcome.ticketsSold], [4, 8]);
    const { operations } = trace;
    const report = await rehearse(optionsOf({ ...trace, operations: [...operations, operations[0]!] }));
    assert.deepEqual(report.now.seatsSold, trace.outcome.seatsSold);
    assert.ok(report.now.seatsSold.includes('eve H-3-2'));
    assert.deepEqual([report.now.ordersSold, report.now.soldCents], [4, 3 * 9_000]);
    const refused = 'operation SELL_AT_COUNTER: the service refused it';
    assert.deepEqual(report.notTried, { [refused]: 1 });
    assert.deepEqual(beside(report), [{ what: `not tried: ${refused}`, then: 'done', now: '1' }]);
  });

  it('of a later period leaves out of sale what was taken before', async () => {
    const whole = await traceOf(sale);
    const from = whole.beganAt + whole.lengthMs / 2;
    const trace = await traceOf(sale, { from, to: null });
    assert.ok(trace.outcome.ticketsSold > 0 && trace.outcome.ticketsSold < 100);
    const report = await rehearse(optionsOf(trace));
    assert.deepEqual(report.now.seatsSold, trace.outcome.seatsSold);
    assert.equal(report.now.ticketsSold, trace.outcome.ticketsSold);
  });
});

/** Six buyers for two places a minute: three minutes of waiting, under the test's clock. */
async function sellThroughRoom(service: TestService): Promise<void> {
  const { arrive, hold, start, settle } = buyers(service);
  const waiting = Array.from({ length: 6 }, () => arrive());
  const passes = new Map<string, string>();
  for (const { key } of waiting) {
    const { body } = await service.post('/api/checkout/queue', { event_id: 'evt_concert', session_key: key });
    passes.set(key, String(body['id']));
  }
  while (passes.size > 0) {
    for (const [key, pass] of passes) {
      const { body } = await service.get(`/api/checkout/queue/${pass}`, { 'x-session-key': key });
      if (body['status'] !== 'ADMITTED') continue;
      passes.delete(key);
      const held = await hold({ key, pass }, [itemOf('stand', 2)]);
      const { checkout_session_id: session } = await start({ key, pass }, held.id);
      await settle(session, 'paid');
    }
    service.wait(5_000);
  }
}

function counterSale(buyer: number, payment: 'CASH' | 'FREE', exceedsLimits: boolean, more: object): object {
  const items = [
    {
      ...{ performanceId: 'eve', sellingStageId: 'now', quantity: 2, ticketCount: 2 },
      ...{ isNamed: false, discountCode: null, barPerks: [], ...more },
    },
  ];
  return { kind: 'SELL_AT_COUNTER', buyer, items, payment, exceedsLimits };
}

/** An order, two at a counter, in cash with seats and given away, another order, and two scans. */
async function sellAtCounter(service: TestService): Promise<void> {
  const { arrive, hold, start, settle } = buyers(service);
  const buy = async (): Promise<void> => {
    const buyer = arrive();
    const { checkout_session_id: session } = await start(buyer, (await hold(buyer, [itemOf('seat', 2)])).id);
    await settle(session, 'paid');
    service.wait(1_000);
  };
  const event = '/admin/events/evt_concert';
  const sell = async (name: string, payment: string, items: readonly object[], more: object = {}) => {
    const customer = { name, email: `${payment.toLowerCase()}@people.example` };
    const { status, body } = await service.admin.post(`${event}/orders`, { customer, payment, items, ...more });
    assert.equal(status, 201);
    service.wait(1_000);
    return String(body['order_id']);
  };
  await buy();
  const sold = await sell('Ada Lovelace', 'CASH', [itemOf('seat', 2, { seat_ids: ['H-3-1', 'H-3-2'] })]);
  await sell('Grace Hopper', 'FREE', [itemOf('stand', 2)], { exceed_limits: true, note: 'For the band' });
  await buy();
  const { body } = await service.get<Pick<OrderStatusBody, 'ticket_objects'>>(`/api/checkout/status/${sold}`);
  const [first, second] = body.ticket_objects!;
  const byHand = { kind: 'ENTRY', door_id: 'main' };
  assert.equal((await service.admin.post(`/admin/tickets/${first!.id}/scans`, byHand)).status, 201);
  const { token } = (await service.admin.post<{ token: string }>(`${event}/stations`, { name: 'Phone' })).body;
  const at = new Date(service.now()).toISOString();
  const scan = { ...byHand, id: 'scan-of-the-phone', code: second!.code, performance_id: 'eve', at };
  const scanned = await service.post('/api/doors/scans', { scans: [scan] }, { authorization: `Bearer ${token}` });
  assert.equal(scanned.status, 200);
}

/**
 * Two orders: a buyer gives one back, the other goes to dearer places, after a decline; then its performance is
 * cancelled.
 */
async function sellAndAmend(service: TestService): Promise<void> {
  const { arrive, hold, start, settle } = buyers(service);
  const buy = async (type: string) => {
    const buyer = arrive();
    const { order_id: id, checkout_session_id: session } = await start(
      buyer,
      (await hold(buyer, [itemOf(type, 2)])).id,
    );
    await settle(session, 'paid');
    service.wait(1_000);
    const { tickets } = (await service.get<OrderStatusBody>(`/api/checkout/status/${id}`)).body;
    return { tickets, path: `/api/checkout/orders/${id}`, id };
  };
  const given = await buy('seat');
  const cancel = { cancel: given.tickets };
  const { quote } = (await service.post(`${given.path}/amendments/quote`, cancel)).body;
  assert.equal((await service.post(`${given.path}/amendments`, { ...cancel, quote })).status, 201);
  const { id, path, tickets } = await buy('stand');
  const change = { change: [{ ticket_ids: tickets, ticket_type_id: 'seat' }] };
  const { status, body: pending } = await service.admin.post(`/admin/orders/${id}/amendments`, change);
  assert.deepEqual([status, pending['status']], [201, 'PENDING']);
  await settle(String(pending['checkout_session_id']), 'declined');
  const again = await service.post(`${path}/payments`, {});
  await settle(String(again.body['checkout_session_id']), 'paid');
  // A rehearsal at a busy machine may be late by a second with what buyers did before.
  service.wait(10_000);
  const eve = '/admin/events/evt_concert/performances/eve/cancel';
  assert.equal((await service.admin.post(eve, { orders: 'TICKETS' })).status, 200);
}

/** Three orders, between which operators raise the price and block the best seats for a while. */
async function sellBesideOperators(service: TestService): Promise<void> {
  const { arrive, hold, start, settle } = buyers(service);
  const buy = async (): Promise<string> => {
    const buyer = arrive();
    const { order_id: orderId, checkout_session_id: session } = await start(
      buyer,
      (await hold(buyer, [itemOf('seat', 2)])).id,
    );
    await settle(session, 'paid');
    service.wait(5_000);
    return orderId;
  };
  const cancelled = await buy();
  const dearer = [{ id: 'now', name: 'Now', prices: { seat: 4600, stand: 2000 } }];
  assert.equal((await service.admin.put('/admin/events/evt_concert', concert({ sellingStages: dearer }))).status, 200);
  const seats = '/admin/events/evt_concert/performances/eve/seats';
  const seatIds = ['H-1-1', 'H-1-2', 'H-1-3'];
  assert.equal((await service.admin.post(seats, { seat_ids: seatIds, action: 'block' })).status, 200);
  service.wait(5_000);
  await buy();
  assert.equal((await service.admin.post(seats, { seat_ids: seatIds, action: 'unblock' })).status, 200);
  service.wait(5_000);
  await buy();
  assert.equal((await service.admin.post(`/admin/orders/${cancelled}/cancel`, {})).status, 200);
}
