/**
 * Runs a sale in which every type of fact happens at least once, on a manual clock and a journal in memory.
 *
 * `record.ts` stores its facts as a golden journal; the golden test checks that every type of fact still happens.
 */
import assert from 'node:assert/strict';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { CheckoutItemRequest, CommandOf, CommandType, ReplyTo, ScanRequest } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { FactRow } from '#persistence/journal.ts';
import { place } from '../fixtures/commands.ts';
import { definitionOf } from '../fixtures/events.ts';
import { openActors, START, type ActorsFixture } from '../fixtures/actors.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const by = { operator: 'Ada', note: 'as the promoter asked' };

/** Two dates, numbered seats and a floor, codes, perks, groups and installments. */
function gala(changes: object = {}): EventDefinition {
  return definitionOf({
    id: 'evt_gala',
    slug: 'gala',
    name: 'Gala – “Größe”',
    currency: 'EUR',
    hold_minutes: 10,
    max_installments: 3,
    performances: [
      { id: 'fri', name: 'Friday', starts_at: '2028-05-12T18:00:00Z', ends_at: '2028-05-12T21:00:00Z' },
      { id: 'sat', name: 'Saturday', starts_at: '2028-05-13T18:00:00Z', ends_at: '2028-05-13T21:00:00Z' },
      { id: 'sun', name: 'Sunday', starts_at: '2028-05-14T18:00:00Z', ends_at: '2028-05-14T21:00:00Z' },
    ],
    localities: [
      { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 40 },
      {
        id: 'hall',
        name: 'Hall',
        seating: 'NUMBERED',
        sections: [{ id: 'H', name: 'Hall', zone_key: 'hall', rows: [{ label: '1', seats: 12, aisle_after: [6] }] }],
      },
    ],
    ticketTypes: [
      {
        id: 'stand',
        name: 'Standing',
        locality_id: 'floor',
        barPerks: [{ id: 'beer', name: 'Beer', price: 500, stock: 20, max_per_ticket: 2 }],
      },
      { id: 'crew', name: 'Crew', locality_id: 'floor', group_size: 4 },
      { id: 'guest', name: 'Guest', locality_id: 'floor' },
      { id: 'seat', name: 'Seat', locality_id: 'hall' },
    ],
    sellingStages: [{ id: 'now', name: 'Now', prices: { stand: 1001, crew: 3600, guest: 0, seat: 4000 } }],
    promoCodes: [{ code: 'TENTH', percent_off: 10, max_uses: 5 }],
    ...changes,
  });
}

/** One date for ten, behind a waiting room that opens in five minutes and admits one a minute. */
function rush(changes: object = {}): EventDefinition {
  return definitionOf({
    id: 'evt_rush',
    slug: 'rush',
    name: 'Rush',
    currency: 'EUR',
    waiting_room: true,
    waiting_room_opens_at: new Date(START + 5 * MINUTE).toISOString(),
    waiting_room_rate: 2,
    waiting_room_minutes: 3,
    waiting_room_max_admitted: 2,
    waiting_room_pause_when_sold_out: true,
    performances: [{ id: 'night' }],
    localities: [{ id: 'club', name: 'Club', seating: 'GENERAL', capacity: 2 }],
    ticketTypes: [{ id: 'entry', name: 'Entry', locality_id: 'club' }],
    sellingStages: [{ id: 'now', name: 'Now', prices: { entry: 1500 } }],
    ...changes,
  });
}

function wanted(ticketTypeId: string, quantity: number, performanceId: string | null = 'fri'): CheckoutItemRequest {
  const item = { ticketTypeId, sellingStageId: 'now', quantity, performanceId, seatIds: null };
  return { ...item, discountCode: null, attendees: null, barPerks: [] };
}

function hold(sessionKey: string, ...items: CheckoutItemRequest[]): CommandOf<'PlaceHold'> {
  const plain = items.map(({ ticketTypeId, sellingStageId, quantity, performanceId, seatIds }) => ({
    ticketTypeId,
    sellingStageId,
    quantity,
    performanceId,
    seatIds,
  }));
  return place(plain, sessionKey);
}

function checkout(changes: Partial<CommandOf<'StartCheckout'>>): CommandOf<'StartCheckout'> {
  return {
    type: 'StartCheckout',
    holdId: null,
    sessionKey: null,
    items: null,
    customer: { email: 'Ada+vip@Example.com', name: 'Ada', documentNumber: 'X1', phone: '+49 1' },
    acceptTerms: true,
    successUrl: 'https://shop.example/ok/{ORDER_ID}',
    cancelUrl: null,
    installmentCount: 1,
    promoCode: null,
    promoterCode: 'PROMO',
    referralCode: 'REF',
    tracking: { fbp: 'fb.1', nested: { a: [1, null] } },
    queuePass: null,
    idempotency: null,
    ...changes,
  };
}

/** Runs the sale; resolves with every fact of it in order, and the fixture at its end. */
export async function playEveryFact(): Promise<{ readonly rows: readonly FactRow[]; readonly fixture: ActorsFixture }> {
  const fixture = openActors();
  await fixture.events.define(gala(), by);
  await fixture.events.define(rush(), by);
  await playGala(fixture, await actorOf(fixture, 'evt_gala'));
  await playRush(fixture, await actorOf(fixture, 'evt_rush'));
  await fixture.events.define({ ...rush({ waiting_room: false }), id: 'evt_hall', slug: 'hall', status: 'DRAFT' }, by);
  await playGate(fixture, await actorOf(fixture, 'evt_hall'));
  fixture.journal.commit();
  return { rows: [...fixture.journal.read()], fixture };
}

async function actorOf(fixture: ActorsFixture, eventId: string): Promise<EventActor> {
  const state = await fixture.events.byEventId(eventId);
  assert.ok(state);
  return state;
}

async function execute<Type extends CommandType>(
  actor: EventActor,
  command: CommandOf<Type>,
): Promise<ReplyTo<Type>> {
  const reply = await actor.execute<Type>(command);
  if (isRefusal(reply as Refusal | ReplyTo<Type>)) assert.fail(`${command.type}: ${JSON.stringify(reply)}`);
  return reply as ReplyTo<Type>;
}

const unreferenced = { currency: null, reference: null, provider: null } as const;

async function playGala(fixture: ActorsFixture, actor: EventActor): Promise<void> {
  const pass = (ms: number): void => {
    fixture.clock.now += ms;
    actor.settleDue();
  };
  const pay = (sessionId: string, changes: Partial<CommandOf<'RecordPayment'>> = {}) =>
    execute(actor, {
      type: 'RecordPayment',
      provider: 'provider_a',
      checkoutSessionId: sessionId,
      paymentId: null,
      outcome: 'paid',
      amountCents: null,
      currency: null,
      webhookId: `msg_${sessionId}`,
      ...changes,
    });
  let sessions = 0;
  const open = async (orderId: string, paymentId: string): Promise<string> => {
    const checkoutSessionId = `cs_${(sessions += 1)}`;
    const redirectUrl = `https://pay.example/${checkoutSessionId}`;
    const expiresAt = sessions % 2 === 0 ? null : fixture.clock.now + 30 * MINUTE;
    await execute(actor, {
      type: 'RecordCheckoutSession',
      orderId,
      paymentId,
      checkoutSessionId,
      redirectUrl,
      expiresAt,
    });
    return checkoutSessionId;
  };

  await fixture.events.define(gala({ description: 'Now with words' }), by);
  const seats = { performanceId: 'fri', seatIds: ['H-1-1', 'H-1-2'], ...by };
  await execute(actor, { type: 'BlockSeats', ...seats, idempotency: { key: 'k-4', digest: 'd-4' } });
  await execute(actor, { type: 'UnblockSeats', ...seats });

  // Holds: placed, changed, replaced, released, expired.
  const first = await execute(actor, hold('session-one', wanted('seat', 2), wanted('stand', 3, 'sat')));
  pass(SECOND);
  const holdId = first.hold.id;
  const { items: wantedThen } = hold('', wanted('seat', 4));
  const change = { type: 'ChangeHold', holdId, sessionKey: 'session-one', items: wantedThen } as const;
  await execute(actor, { ...change, idempotency: { key: 'k-5', digest: 'd-5' } });
  const second = await execute(actor, hold('session-one', wanted('crew', 2)));
  await execute(actor, { type: 'ReleaseHold', holdId: second.hold.id, sessionKey: 'session-one' });
  await execute(actor, { ...hold('session-two', wanted('stand', 1)), idempotency: { key: 'k-1', digest: 'd-1' } });
  pass(10 * MINUTE);

  // An order in installments, resumed, declined, paid, and money without a payment.
  const held = await execute(actor, hold('session-three', wanted('seat', 3)));
  const start = checkout({ holdId: held.hold.id, sessionKey: 'session-three', installmentCount: 3, promoCode: 'TENTH' });
  const placed = await execute(actor, { ...start, idempotency: { key: 'k-2', digest: 'd-2' } });
  await execute(actor, { ...start, idempotency: { key: 'k-3', digest: 'd-3' } });
  const { id: orderId } = placed.order;
  const declined = await open(orderId, placed.payment!.id);
  await pay(declined, { outcome: 'declined' });
  const tried = await execute(actor, { type: 'OpenPayment', orderId, idempotency: { key: 'k-6', digest: 'd-6' } });
  const paid = await open(orderId, tried.payment.id);
  await pay(paid);
  await pay(paid, { amountCents: 77, paymentId: 'pi_stray', webhookId: 'msg_stray' });
  const next = await execute(actor, { type: 'OpenPayment', orderId });
  await pay(await open(orderId, next.payment.id));
  // A new code for a fee: withdrawn, and paid.
  const [whole] = (await execute(actor, { type: 'OpenPayment', orderId })).order.tickets;
  const person = { name: 'Dora', email: null, documentNumber: null, phone: null };
  const charged = {
    cancel: [],
    reissue: [whole!.id],
    attendees: [{ ticketId: whole!.id, attendee: person }],
    feeCents: 150,
  };
  const reissue = { type: 'AmendOrder', orderId, by: 'OPERATOR', request: charged, quote: null, ...by } as const;
  const { amendment: withdrawn } = await execute(actor, reissue);
  const withdraw = { type: 'CancelAmendment', orderId, amendmentId: withdrawn.id, by: 'OPERATOR' } as const;
  await execute(actor, { ...withdraw, operator: by.operator });
  const { payment: ofAmendment } = await execute(actor, { ...reissue, successUrl: 'https://shop.example/thanks' });
  await pay(await open(orderId, ofAmendment!.id), { outcome: 'declined' });
  const tryAgain = await execute(actor, { type: 'OpenPayment', orderId });
  await pay(await open(orderId, tryAgain.payment.id));

  const cancelled = (await execute(actor, { type: 'OpenPayment', orderId })).order.tickets.slice(1, 2);
  const [changed, renamed] = (await execute(actor, { type: 'OpenPayment', orderId })).order.tickets
    .filter(({ id }) => id !== cancelled[0]?.id)
    .map(({ id }) => id);
  const stays = { performanceId: null, ticketTypeId: null, sellingStageId: null };
  const attendee = { name: 'Cleo', email: null, documentNumber: null, phone: null };
  const request = {
    cancel: cancelled.map(({ id }) => id),
    change: [{ ticketIds: [changed!], ...stays, seatIds: ['H-1-12'] }],
    attendees: [{ ticketId: renamed!, attendee }],
    feeCents: 250,
  };
  const amend = { type: 'AmendOrder', orderId, by: 'OPERATOR', request, quote: null, ...by } as const;
  await execute(actor, { ...amend, idempotency: { key: 'k-10', digest: 'd-10' } });
  const mail = { type: 'RequestMail', orderId } as const;
  await execute(actor, { ...mail, by: 'BUYER', operator: null, language: 'de' });
  await execute(actor, { ...mail, by: 'OPERATOR', operator: 'Ada', language: null, idempotency: { key: 'k-mail', digest: 'd-mail' } });
  await execute(actor, { type: 'CancelOrder', orderId, idempotency: { key: 'k-7', digest: 'd-7' }, ...by });
  await execute(actor, { type: 'RecordRefund', orderId, amountCents: 500, ...unreferenced, ...by });

  // Refunds that are executed: one that the provider works on, one that it refuses and fails later, with another one
  // made at its own page meanwhile.
  const refund = async (amountCents: number): Promise<string> => {
    const command = { type: 'ExecuteRefund', orderId, amountCents, paymentId: null, ...by } as const;
    return (await execute(actor, command)).order.refunds.at(-1)!.id;
  };
  const slow = await refund(100);
  const atWork = { outcome: 'PENDING', reference: 're_slow' } as const;
  await execute(actor, { type: 'AnswerRefund', orderId, refundId: slow, answer: atWork });
  const succeeded = { ...unreferenced, reference: 're_slow', provider: 'provider_a', ...by } as const;
  await execute(actor, { type: 'RecordRefund', orderId, amountCents: 100, ...succeeded, note: null });
  const refused = await refund(60);
  const failure = { code: 'charge_disputed', message: 'The charge is disputed.' };
  await execute(actor, { type: 'AnswerRefund', orderId, refundId: refused, answer: { outcome: 'REFUSED', failure } });
  const again = { type: 'ResolveRefund', orderId, refundId: refused, outcome: 'RETRY', reference: null, ...by } as const;
  await execute(actor, { ...again, idempotency: { key: 'k-9', digest: 'd-9' } });
  const unclear = { outcome: 'UNCLEAR', isAnswered: true } as const;
  await execute(actor, { type: 'AnswerRefund', orderId, refundId: refused, answer: unclear });
  const found = [{ reference: 're_page', refundId: null, amountCents: 20, status: 'SUCCEEDED' }] as const;
  await execute(actor, { type: 'MatchRefunds', orderId, refundId: refused, found });
  const failed = { outcome: 'FAILED', reference: 're_refused', failure } as const;
  await execute(actor, { type: 'AnswerRefund', orderId, refundId: refused, answer: failed });

  // A free order, one that runs out, one with perks and names on a date that is then called off.
  await execute(actor, checkout({ items: [wanted('guest', 2, 'sat')] }));
  await execute(actor, checkout({ items: [wanted('stand', 1)] }));
  pass(31 * MINUTE);
  const attendees = ['Ada', 'Bob'].map((name) => ({ name, email: null, documentNumber: null, phone: null }));
  const perks = { ...wanted('stand', 2, 'sat'), attendees, barPerks: [{ barPerkId: 'beer', quantity: 3 }] };
  const full = await execute(actor, checkout({ items: [perks] }));
  await pay(await open(full.order.id, full.payment!.id));
  const called = { type: 'CancelPerformance', performanceId: 'sat', ...by } as const;
  await execute(actor, { ...called, idempotency: { key: 'k-8', digest: 'd-8' } });
  const confirm = [{ amountCents: full.order.totalCents, currency: full.order.currency }];
  await execute(actor, { type: 'ExecuteDueRefunds', performanceId: 'sat', confirm, ...by });
  await execute(actor, { type: 'AskNextRefunds', after: null, limit: 1_000 });

  // Another date is called off with its tickets alone, of one that keeps others, and everything given back at once.
  const weekend = await execute(actor, checkout({ items: [wanted('stand', 1), wanted('stand', 1, 'sun')] }));
  await pay(await open(weekend.order.id, weekend.payment!.id));
  const shortened = { ...called, performanceId: 'sun', orders: 'TICKETS', executes: true } as const;
  await execute(actor, { ...shortened, idempotency: { key: 'k-11', digest: 'd-11' } });
  await execute(actor, { type: 'AskNextRefunds', after: null, limit: 1_000 });

  // Orders that were erased: of the date that was called off, with a note that an operator wrote, and once more after
  // another note.
  await execute(actor, { type: 'EraseOrder', orderId: full.order.id, operator: 'Ada', note: null });
  await execute(actor, { type: 'EraseOrder', orderId, operator: null, note: null });
  await execute(actor, { type: 'RecordRefund', orderId, amountCents: 100, ...unreferenced, ...by });
  await execute(actor, { type: 'EraseOrder', orderId, operator: 'Ada', note: null });

  // The process has too much of what was left behind, and this event most of it.
  for (const what of ['ANSWERS', 'HOLD_ITEMS', 'ENDED_HOLDS'] as const) await execute(actor, { type: 'DropOldest', of: what });

  // Made at a counter: paid in cash and given back by hand, and given away.
  const customer = { email: 'door@example.com', name: 'Dora', documentNumber: null, phone: null };
  const atCounter = { type: 'SellAtCounter', customer, exceedsLimits: false, ...by } as const;
  const cash = await execute(actor, { ...atCounter, payment: 'CASH', items: [wanted('stand', 2)] });
  await execute(actor, { type: 'CancelOrder', orderId: cash.order.id, ...by });
  await execute(actor, { type: 'RecordRefund', orderId: cash.order.id, amountCents: 2002, ...unreferenced, ...by });
  const givenAway = { ...atCounter, payment: 'FREE', exceedsLimits: true, items: [wanted('seat', 1)] } as const;
  await execute(actor, { ...givenAway, idempotency: { key: 'k-12', digest: 'd-12' } });

  // What stands at the end: a hold, a waiting order, a paid one.
  const sold = await execute(actor, checkout({ items: [wanted('seat', 2)] }));
  await pay(await open(sold.order.id, sold.payment!.id));
  await execute(actor, checkout({ items: [wanted('crew', 1)] }));
  await execute(actor, hold('session-four', wanted('stand', 5)));
  const read = await actor.read({ type: 'FindOrder', orderId: sold.order.id });
  assert.ok(!isRefusal(read));
  await playDoors(fixture, actor, read.order.tickets.map(({ id }) => id));
}

/** Scans of every form: taken, refused, repeated with what was decided, undone, of no ticket, and sent by a gate. */
async function playDoors(fixture: ActorsFixture, actor: EventActor, [one = '', other = '']: string[]): Promise<void> {
  const station = { kind: 'STATION', performanceIds: null, doorIds: null, expiresAt: null, operator: 'Ada' } as const;
  const make = async (tokenSha256: string, changes: object = {}): Promise<string> =>
    (await execute(actor, { type: 'AddStation', name: tokenSha256, ...station, tokenSha256, ...changes })).station.id;
  const north = await make('north', { doorIds: ['main'], expiresAt: fixture.clock.now + 100 * MINUTE });
  await make('gate', { kind: 'GATE', performanceIds: ['fri'] });
  let scans = 0;
  const scan = (found: ScanRequest['found'], changes: Partial<ScanRequest> = {}): ScanRequest => ({
    id: `golden-scan-${(scans += 1).toString().padStart(4, '0')}`,
    kind: 'ENTRY',
    found,
    digest: scans,
    undoes: null,
    performanceId: 'fri',
    doorId: 'main',
    at: fixture.clock.now,
    given: null,
    isOfGate: false,
    stationId: null,
    ...changes,
  });
  const send = (tokenSha256: string, ...all: ScanRequest[]) =>
    execute(actor, { type: 'RecordScans', tokenSha256, scans: all });
  const ticket = { ticketId: one };
  const entry = scan(ticket);
  const refused = scan(ticket);
  const card = scan('UNKNOWN');
  await send('north', entry, refused, card, scan({ ticketId: other }, { performanceId: 'sat' }));
  await send('north', { ...refused, given: 'ADMIT' }, { ...card, given: 'ADMIT' });
  const early = scan({ ticketId: other }, { given: 'ADMIT', isOfGate: true, stationId: north, at: START });
  const undo = { kind: 'UNDO', given: 'UNDONE' } as const;
  await send('gate', early, scan(null, { ...undo, undoes: refused.id }), scan(null, { ...undo, undoes: 'not-here-yet-0001' }));
  await send('north', scan({ ticketId: other }, { kind: 'EXIT' }), scan('FORGED'));
  // By hand: out again, refused, undone; with and without a note.
  const byHand = { type: 'ScanByHand', ticketId: other, doorId: 'main', undoes: null, operator: 'Ada' } as const;
  await execute(actor, { ...byHand, kind: 'ENTRY', note: 'Forgot his coat.', idempotency: { key: 'k-hand', digest: 'd-hand' } });
  const { result } = await execute(actor, { ...byHand, kind: 'EXIT', note: null });
  await execute(actor, { ...byHand, kind: 'EXIT', operator: null, note: null });
  await execute(actor, { ...byHand, kind: 'UNDO', doorId: null, undoes: result.id, note: 'Wrong ticket.' });
  await execute(actor, { type: 'RevokeStation', stationId: north, operator: 'Ada' });
}

/** A gate: two feeds of its service, in pages; what it checked, undone too. */
async function playGate(fixture: ActorsFixture, actor: EventActor): Promise<void> {
  const state = { cursor: 'c1', isAnew: true, more: true, includesUntil: 0 } as const;
  const station = { name: 'Hall', performanceIds: null, doorIds: null, expiresAt: null, isRevoked: false };
  const stations = [
    { ...station, stationId: 'stn_3_hall', kind: 'GATE', tokenSha256: 'hall' },
    { ...station, stationId: 'stn_3_north', kind: 'STATION', tokenSha256: 'north' },
  ] as const;
  const key = { kty: 'OKP', crv: 'Ed25519', x: 'golden', kid: 'golden' } as const;
  const performances = [{ id: 'night', status: 'ON_SALE', expected: 2 }];
  const head = { stationId: 'stn_3_hall', keys: [key], performances };
  const take = (page: Omit<CommandOf<'TakeFeed'>, 'type'>) => execute(actor, { type: 'TakeFeed', ...page });
  await take({ ...state, head, stations, changes: [['other-ticket', 'I', START - SECOND, 'main']] });
  await take({ ...state, cursor: 'c2', isAnew: false, more: false, stations: [], changes: [['void-ticket1', 'V', START, null]] });
  const ticketId = 'tkt_3_000000000000000000000001';
  const claims = { performanceId: 'night', ticketTypeId: 'entry', seatId: null };
  const scan = (place: number, changes: Partial<ScanRequest> = {}): ScanRequest => ({
    ...{ id: `golden-gate-${place}`, kind: 'ENTRY', found: { ticketId, claims }, digest: place, undoes: null },
    ...{ performanceId: 'night', doorId: 'main', at: fixture.clock.now, given: null, isOfGate: false, stationId: null },
    code: `code-${place}`,
    ...changes,
  });
  const undo = scan(3, { kind: 'UNDO', found: null, undoes: 'golden-gate-1' });
  const scans = [scan(1), scan(2, { found: 'UNKNOWN' }), undo, scan(4, { found: 'CANNOT_TELL' }), scan(5)];
  await execute(actor, { type: 'RecordScans', tokenSha256: 'north', scans });
  const revoked = stations.map((each) => ({ ...each, isRevoked: each.kind === 'STATION' }));
  await take({ ...state, cursor: 'c3', head, stations: revoked, changes: [['void-ticket1', 'W', START, 'main']] });
}

async function playRush(fixture: ActorsFixture, actor: EventActor): Promise<void> {
  const steering = { waitingRoomRate: 3, message: 'It goes on at nine.' };
  await execute(actor, { type: 'SteerSale', changes: steering, operator: 'Ada', note: null });
  const pass = (ms: number): void => {
    fixture.clock.now += ms;
    actor.settleDue();
  };
  const define = (changes: object) => fixture.events.define(rush(changes), by);
  const opensAt = (ms: number) => new Date(fixture.clock.now + ms).toISOString();
  const join = async (sessionKey: string): Promise<string> =>
    (await execute(actor, { type: 'JoinQueue', sessionKey })).entry.id;
  const poll = (entryId: string, sessionKey: string) => execute(actor, { type: 'PollQueue', entryId, sessionKey });

  // The room goes and comes back, its opening moves, people come before it opens.
  await define({ waiting_room: false, waiting_room_opens_at: null });
  await define({ waiting_room_opens_at: opensAt(10 * MINUTE) });
  await define({ waiting_room_opens_at: opensAt(MINUTE) });
  const open = { waiting_room_opens_at: opensAt(MINUTE) };
  const names = Array.from({ length: 8 }, (_, n) => `buyer-${n + 1}`);
  const entries = new Map<string, string>();
  for (const name of names) entries.set(name, await join(name));
  await execute(actor, { type: 'LeaveQueue', entryId: entries.get('buyer-8')!, sessionKey: 'buyer-8' });
  pass(MINUTE);

  // The waiting room opens: two are admitted, one buys, one lets the pass run out.
  const statusOf = async (name: string) => (await poll(entries.get(name)!, name)).entry.status;
  const admitted: string[] = [];
  for (const name of names.slice(0, 7)) if ((await statusOf(name)) === 'ADMITTED') admitted.push(name);
  const [buyer = ''] = admitted;
  const bought = await execute(actor, { ...hold(buyer, wanted('entry', 2, null)), queuePass: entries.get(buyer)! });
  const items = [wanted('entry', 2, null)];
  const sale = checkout({ holdId: bought.hold.id, sessionKey: buyer, items, queuePass: entries.get(buyer)! });
  const { order } = await execute(actor, sale);
  for (const name of names) entries.set(name, await join(name));
  pass(4 * MINUTE);
  await execute(actor, { type: 'CancelOrder', orderId: order.id, ...by });
  await execute(actor, { type: 'DropOldest', of: 'ENDED_ENTRIES' });
  entries.set('late', await join('late'));
  pass(SECOND);
  await poll(entries.get('late')!, 'late');
  await define(open);
}
