/**
 * Shoppers in the middle of it: ordinary purchases in any order, with garbage from strangers, waits and restarts in between.
 *
 * A model run of fast-check. The model is the shoppers' own ledger: what each was last answered, and what the API says becomes
 * of that when time passes. After every step that did
 * anything each shopper reads exactly what the ledger has, and the books add up.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { HoldBody } from '#http/schemas/holds.ts';
import { settle, statusOf, type OrderStatus, type Started } from '../fixtures/checkout.ts';
import { audit } from '../fixtures/checks.ts';
import { as, HOLDS, type Json } from '../fixtures/client.ts';
import { floor, item, seat } from '../fixtures/events.ts';
import { MINUTE } from '../fixtures/service.ts';
import { openFuzzedService, type FuzzedService } from './service.ts';
import { deep } from '../depth.ts';
import { fc } from '../property.ts';
import { requestTo, type WildRequest } from './requests.ts';

const RUNS = deep(3);
const STEPS_MAX = 25;
const SHOPPERS = 3;

/** What can be wished for, one line each. */
const WISHES = [
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

/** What the shoppers know; holds by shopper and event. */
interface Ledger {
  readonly keys: readonly string[];
  readonly holds: Map<string, HoldBody>;
  readonly purchases: Map<string, Purchase>;
}

type Step = fc.AsyncCommand<Ledger, FuzzedService>;

const placeOf = (shopper: number, eventId: string): string => `${shopper} ${eventId}`;

/** What a comparison depends on; without a new fact `service.ts` has seen already that the state is what it was. */
function circumstances({ service }: FuzzedService): string {
  return `${service.internals.engine.journal.appendedSeq} ${service.now()} ${service.publicUrl}`;
}

/** Makes a step out of what it does; when it did anything, everything is compared with the ledger. */
function step(
  name: string,
  run: (ledger: Ledger, fuzzed: FuzzedService) => Promise<void>,
  check = (_: Ledger) => true,
): Step {
  return {
    check,
    toString: () => name,
    async run(ledger, fuzzed) {
      const before = circumstances(fuzzed);
      await run(ledger, fuzzed);
      if (circumstances(fuzzed) !== before) await compare(ledger, fuzzed);
    },
  };
}

function place(shopper: number, which: number): Step {
  const wish = WISHES[which]!;
  const where = placeOf(shopper, wish.event_id);
  return step(`shopper ${shopper} wishes for ${JSON.stringify(wish.items)}`, async ({ keys, holds }, { service }) => {
    const answer = await service.post<HoldBody & Json>(HOLDS, { ...wish, session_key: keys[shopper] });
    if (answer.status === 201) holds.set(where, answer.body);
    else assert.match(String(answer.body['code']), /^(INSUFFICIENT_TICKETS|SEAT_TAKEN)$/);
  });
}

const on = (
  name: string,
  where: string,
  run: (hold: HoldBody, ledger: Ledger, fuzzed: FuzzedService) => Promise<void>,
): Step =>
  step(
    `${name} by ${where}`,
    (ledger, fuzzed) => run(ledger.holds.get(where)!, ledger, fuzzed),
    (ledger) => ledger.holds.has(where),
  );

function release(shopper: number, eventId: string): Step {
  const where = placeOf(shopper, eventId);
  return on('a release', where, async (hold, { keys, holds }, { service }) => {
    const { status, body } = await service.delete<HoldBody>(`${HOLDS}/${hold.id}`, as(keys[shopper]!));
    const mayGo = hold.status === 'RELEASED' || (hold.status === 'ACTIVE' && !isOver(hold, service.now()));
    assert.equal(status, mayGo ? 200 : 409);
    if (mayGo) holds.set(where, body);
  });
}

function buy(shopper: number, eventId: string): Step {
  return on('a start', placeOf(shopper, eventId), async (hold, ledger, { service }) => {
    const customer = { email: `${ledger.keys[shopper]}@example.com`, name: 'A Shopper' };
    const request = { event_id: eventId, hold_id: hold.id, customer, accept_terms: true };
    const { status, body } = await service.post<Started>('/api/checkout/start', request);
    const mayStart = hold.status === 'ACTIVE' && !isOver(hold, service.now());
    assert.equal(status, mayStart ? 201 : 409, JSON.stringify(body));
    if (!mayStart) return;
    ledger.purchases.set(body.order_id, { started: body, status: await statusOf(service, body) });
    await reread(ledger, shopper, eventId, service);
  });
}

function settleOrder(which: number, outcome: 'paid' | 'declined' | 'cancelled'): Step {
  const chosen = ({ purchases }: Ledger): Purchase | undefined =>
    [...purchases.values()].filter(({ status }) => status.status === 'PENDING').at(which);
  const run = async (ledger: Ledger, { service }: FuzzedService): Promise<void> => {
    const purchase = chosen(ledger)!;
    if (isOver(purchase.status, service.now())) return;
    purchase.status = await settle(service, purchase.started, outcome);
    const expected = { paid: 'CONFIRMED', declined: 'PENDING', cancelled: 'CANCELLED' }[outcome];
    // A session that was declined is closed: what is told of it later changes the order no more, but for money.
    if (outcome === 'paid') assert.equal(purchase.status.status, expected);
    for (const where of ledger.holds.keys()) {
      const [shopper, eventId] = where.split(' ') as [string, string];
      await reread(ledger, Number(shopper), eventId, service, purchase.started.order_id);
    }
  };
  return step(`an order is ${outcome}`, run, (ledger) => chosen(ledger) !== undefined);
}

const wait = (minutes: number): Step =>
  step(`${minutes} minutes pass`, async (_, { service }) => service.wait(minutes * MINUTE));
const restart: Step = step('a restart', (_, fuzzed) => fuzzed.restart());
const garbage = (request: WildRequest): Step =>
  step(`a stranger: ${JSON.stringify(request)}`, async (_, fuzzed) => void (await fuzzed.visit(request)));

/** Reads a hold anew after its order moved; only the hold of that order may have changed. */
async function reread(
  { keys, holds }: Ledger,
  shopper: number,
  eventId: string,
  service: FuzzedService['service'],
  orderId?: string,
): Promise<void> {
  const where = placeOf(shopper, eventId);
  const known = holds.get(where)!;
  if (orderId !== undefined && known.order_id !== orderId) return;
  holds.set(where, (await service.get<HoldBody>(`${HOLDS}/${known.id}`, as(keys[shopper]!))).body);
}

function isOver({ expires_at: at }: { readonly expires_at: string | null }, now: number): boolean {
  return at !== null && Date.parse(at) <= now;
}

/** Every shopper reads what the ledger has, or what time has made of it. */
async function compare({ keys, holds, purchases }: Ledger, { service }: FuzzedService): Promise<void> {
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

it('Shoppers keep what they were answered, whatever strangers send', async (t) => {
  const fuzzed = await openFuzzedService();
  t.after(() => fuzzed.close());
  const strangers = fc.oneof(...fuzzed.operations.public.map((operation) => requestTo(operation)));
  const shopper = fc.nat({ max: SHOPPERS - 1 });
  const event = fc.constantFrom('evt_club', 'evt_gala', 'evt_play');
  const outcome = fc.constantFrom('paid', 'paid', 'declined', 'cancelled');
  const places = fc.tuple(shopper, fc.nat({ max: WISHES.length - 1 })).map(([who, which]) => place(who, which));
  const steps = [
    ...[places, places, places],
    fc.tuple(shopper, event).map(([who, where]) => release(who, where)),
    fc.tuple(shopper, event).map(([who, where]) => buy(who, where)),
    fc.tuple(shopper, event).map(([who, where]) => buy(who, where)),
    fc.tuple(fc.nat({ max: 2 }), outcome).map(([which, what]) => settleOrder(which, what)),
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(0.1, 5, 9.9, 10, 29).map(wait) },
      { weight: 2, arbitrary: fc.constant(restart) },
    ),
    ...[strangers, strangers, strangers].map((requests) => requests.map(garbage)),
  ];
  let runs = 0;
  const property = fc.asyncProperty(fc.commands(steps, { maxCommands: STEPS_MAX }), async (commands) => {
    runs += 1;
    const keys = Array.from({ length: SHOPPERS }, (_, who) => `shopper-${runs}-${who}`);
    const ledger: Ledger = { keys, holds: new Map(), purchases: new Map() };
    await fc.asyncModelRun(() => ({ model: ledger, real: fuzzed }), commands);
    for (const orderId of ledger.purchases.keys()) await fuzzed.service.admin.post(`/admin/orders/${orderId}/cancel`);
    await fuzzed.tidyUp();
    fuzzed.service.wait(60 * MINUTE);
  });
  await fc.assert(property, { numRuns: RUNS });
});
