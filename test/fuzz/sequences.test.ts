/**
 * Purchases of several buyers in random order, with random requests of another client, waits and restarts in between.
 *
 * A model run of fast-check. The model is what each buyer was last answered, and how the API says that changes with
 * time. After every step that changed anything each buyer reads exactly what the model has, and the counters add up
 * (I7).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { HoldBody } from '#http/buyers/holds.ts';
import { settle, statusOf, type OrderStatus, type Started } from '../fixtures/checkout.ts';
import { audit } from '../fixtures/checks.ts';
import { as, HOLDS, type Json } from '../fixtures/client.ts';
import { floor, item, seat } from '../fixtures/events.ts';
import { MINUTE } from '../fixtures/service.ts';
import { openFuzzedService, type FuzzedService } from './service.ts';
import { deep } from '../depth.ts';
import { fc } from '../property.ts';
import { requestTo, type FuzzRequest } from './requests.ts';

const RUNS = deep(3);
const STEPS_MAX = 25;
const BUYERS = 3;

/** The items that a buyer may ask for. */
const REQUESTS = [
  { event_id: 'evt_club', items: [floor(2)] },
  { event_id: 'evt_gala', items: [item('single', 1), item('guest', 1)] },
  { event_id: 'evt_gala', items: [item('seat', 1)] },
  { event_id: 'evt_play', items: [seat('stalls', 'fri', 2)] },
  { event_id: 'evt_play', items: [seat('standing', 'sat', 2), seat('pair', 'sat', 1)] },
] as const;

interface Purchase {
  readonly started: Started;
  status: OrderStatus;
}

/** What the buyers were answered; holds by buyer and event. */
interface BuyersModel {
  readonly keys: readonly string[];
  readonly holds: Map<string, HoldBody>;
  readonly purchases: Map<string, Purchase>;
}

type Step = fc.AsyncCommand<BuyersModel, FuzzedService>;

const placeOf = (buyer: number, eventId: string): string => `${buyer} ${eventId}`;

/**
 * What a comparison depends on; without a new fact `fuzz/service.ts` has asserted already that the state is unchanged.
 */
function circumstances({ service }: FuzzedService): string {
  return `${service.internals.engine.journal.appendedSeq} ${service.now()} ${service.publicUrl}`;
}

/** Makes a step from its action; when the action changed anything, everything is compared with the model. */
function step(
  name: string,
  run: (model: BuyersModel, fuzzed: FuzzedService) => Promise<void>,
  check = (_: BuyersModel) => true,
): Step {
  return {
    check,
    toString: () => name,
    async run(model, fuzzed) {
      const before = circumstances(fuzzed);
      await run(model, fuzzed);
      if (circumstances(fuzzed) !== before) await compare(model, fuzzed);
    },
  };
}

function place(buyer: number, which: number): Step {
  const request = REQUESTS[which]!;
  const where = placeOf(buyer, request.event_id);
  return step(`buyer ${buyer} asks for ${JSON.stringify(request.items)}`, async ({ keys, holds }, { service }) => {
    const answer = await service.post<HoldBody & Json>(HOLDS, { ...request, session_key: keys[buyer] });
    if (answer.status === 201) holds.set(where, answer.body);
    else assert.match(String(answer.body['code']), /^(INSUFFICIENT_TICKETS|SEAT_TAKEN)$/);
  });
}

const on = (
  name: string,
  where: string,
  run: (hold: HoldBody, model: BuyersModel, fuzzed: FuzzedService) => Promise<void>,
): Step =>
  step(
    `${name} by ${where}`,
    (model, fuzzed) => run(model.holds.get(where)!, model, fuzzed),
    (model) => model.holds.has(where),
  );

function release(buyer: number, eventId: string): Step {
  const where = placeOf(buyer, eventId);
  return on('a release', where, async (hold, { keys, holds }, { service }) => {
    const { status, body } = await service.delete<HoldBody>(`${HOLDS}/${hold.id}`, as(keys[buyer]!));
    const mayGo = hold.status === 'RELEASED' || (hold.status === 'ACTIVE' && !isOver(hold, service.now()));
    assert.equal(status, mayGo ? 200 : 409);
    if (mayGo) holds.set(where, body);
  });
}

function buy(buyer: number, eventId: string): Step {
  return on('a start', placeOf(buyer, eventId), async (hold, model, { service }) => {
    const customer = { email: `${model.keys[buyer]}@example.com`, name: 'A Buyer' };
    const request = { event_id: eventId, hold_id: hold.id, customer, accept_terms: true };
    const { status, body } = await service.post<Started>('/api/checkout/start', request);
    const mayStart = hold.status === 'ACTIVE' && !isOver(hold, service.now());
    assert.equal(status, mayStart ? 201 : 409, JSON.stringify(body));
    if (!mayStart) return;
    model.purchases.set(body.order_id, { started: body, status: await statusOf(service, body) });
    await reread(model, buyer, eventId, service);
  });
}

function settleOrder(which: number, outcome: 'paid' | 'declined' | 'cancelled'): Step {
  const chosen = ({ purchases }: BuyersModel): Purchase | undefined =>
    [...purchases.values()].filter(({ status }) => status.status === 'PENDING').at(which);
  const run = async (model: BuyersModel, { service }: FuzzedService): Promise<void> => {
    const purchase = chosen(model)!;
    if (isOver(purchase.status, service.now())) return;
    purchase.status = await settle(service, purchase.started, outcome);
    const expected = { paid: 'CONFIRMED', declined: 'PENDING', cancelled: 'CANCELLED' }[outcome];
    // A declined session is closed: only a report of money on it changes the order later.
    if (outcome === 'paid') assert.equal(purchase.status.status, expected);
    for (const where of model.holds.keys()) {
      const [buyer, eventId] = where.split(' ') as [string, string];
      await reread(model, Number(buyer), eventId, service, purchase.started.order_id);
    }
  };
  return step(`an order is ${outcome}`, run, (model) => chosen(model) !== undefined);
}

const wait = (minutes: number): Step =>
  step(`${minutes} minutes pass`, async (_, { service }) => service.wait(minutes * MINUTE));
const restart: Step = step('a restart', (_, fuzzed) => fuzzed.restart());
const fuzz = (request: FuzzRequest): Step =>
  step(`another client sends ${JSON.stringify(request)}`, async (_, fuzzed) => void (await fuzzed.send(request)));

/** Reads a hold again after its order changed; only the hold of that order may have changed. */
async function reread(
  { keys, holds }: BuyersModel,
  buyer: number,
  eventId: string,
  service: FuzzedService['service'],
  orderId?: string,
): Promise<void> {
  const where = placeOf(buyer, eventId);
  const known = holds.get(where)!;
  if (orderId !== undefined && known.order_id !== orderId) return;
  holds.set(where, (await service.get<HoldBody>(`${HOLDS}/${known.id}`, as(keys[buyer]!))).body);
}

function isOver({ expires_at: at }: { readonly expires_at: string | null }, now: number): boolean {
  return at !== null && Date.parse(at) <= now;
}

/** Every buyer reads what the model has, or EXPIRED where its time has passed. */
async function compare({ keys, holds, purchases }: BuyersModel, { service }: FuzzedService): Promise<void> {
  const now = service.now();
  for (const [where, hold] of holds) {
    const { body } = await service.get<HoldBody>(`${HOLDS}/${hold.id}`, as(keys[Number(where.split(' ')[0])]!));
    const isLive = hold.status === 'ACTIVE' || hold.status === 'CONVERTED';
    assert.deepEqual(body, isLive && isOver(hold, now) ? { ...hold, status: 'EXPIRED' } : hold, where);
    holds.set(where, body);
  }
  for (const purchase of purchases.values()) {
    const { status } = purchase;
    const seen = await statusOf(service, purchase.started);
    if (status.status === 'PENDING' && isOver(status, now)) assert.equal(seen.status, 'EXPIRED');
    else assert.deepEqual(seen, status);
    purchase.status = seen;
  }
  for (const eventId of ['evt_club', 'evt_gala', 'evt_play']) await audit(service, eventId);
}

it('Holds and orders stay as they were answered, whatever another client sends', async (t) => {
  const fuzzed = await openFuzzedService();
  t.after(() => fuzzed.close());
  const fuzzRequests = fc.oneof(...fuzzed.operations.public.map((operation) => requestTo(operation)));
  const buyer = fc.nat({ max: BUYERS - 1 });
  const event = fc.constantFrom('evt_club', 'evt_gala', 'evt_play');
  const outcome = fc.constantFrom('paid', 'paid', 'declined', 'cancelled');
  const places = fc.tuple(buyer, fc.nat({ max: REQUESTS.length - 1 })).map(([who, which]) => place(who, which));
  const steps = [
    ...[places, places, places],
    fc.tuple(buyer, event).map(([who, where]) => release(who, where)),
    fc.tuple(buyer, event).map(([who, where]) => buy(who, where)),
    fc.tuple(buyer, event).map(([who, where]) => buy(who, where)),
    fc.tuple(fc.nat({ max: 2 }), outcome).map(([which, what]) => settleOrder(which, what)),
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(0.1, 5, 9.9, 10, 29).map(wait) },
      { weight: 2, arbitrary: fc.constant(restart) },
    ),
    ...[fuzzRequests, fuzzRequests, fuzzRequests].map((requests) => requests.map(fuzz)),
  ];
  let runs = 0;
  const property = fc.asyncProperty(fc.commands(steps, { maxCommands: STEPS_MAX }), async (commands) => {
    runs += 1;
    const keys = Array.from({ length: BUYERS }, (_, who) => `fuzz-buyer-${runs}-${who}`);
    const model: BuyersModel = { keys, holds: new Map(), purchases: new Map() };
    await fc.asyncModelRun(() => ({ model: model, real: fuzzed }), commands);
    for (const orderId of model.purchases.keys()) await fuzzed.service.admin.post(`/admin/orders/${orderId}/cancel`);
    await fuzzed.cancelOrders();
    fuzzed.service.wait(60 * MINUTE);
  });
  await fc.assert(property, { numRuns: RUNS });
});
