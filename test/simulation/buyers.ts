/**
 * The clients of a simulated sale: the next command of a buyer, a bot, a payment provider or an operator.
 *
 * A buyer knows only the answers it got; sometimes it tries ids of others. Habits are drawn for each sale (swarm
 * testing), because a sale without any release finds other faults than one with many.
 */
import { code } from '../fixtures/definitions.ts';
import { drawAmendment, drawWithdrawal } from './amending.ts';
import { MINUTE, START } from './events.ts';
import type { ModelOrder } from './model-order.ts';
import type { Chance } from './chance.ts';
import type { CheckoutItemRequest, Command, CommandOf, ItemRequest, Reply } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { HoldView, PaymentView } from '#domain/view.ts';

export const HABITS = [
  'place', 'change', 'release', 'checkout', 'buy', 'pay', 'open', 'repeat', 'join', 'poll', 'leave', 'foreign', 'read',
  'cancel', 'amend', 'withdraw', 'refund', 'erase', 'retain', 'block', 'redefine', 'call-off',
] as const; // prettier-ignore

type Habit = (typeof HABITS)[number];

/** The habits of bots: they hold, repeat, queue and try ids of others. */
export const BOT_HABITS: readonly Habit[] = ['place', 'place', 'repeat', 'join', 'poll', 'foreign'];

export type Habits = Readonly<Record<Habit, number>>;

/** Draws the weight of each habit; about a third of them get none. Some sales are mostly about orders that change. */
export function drawHabits(chance: Chance, without: ReadonlySet<string>, isAmending: boolean): Habits {
  const rare: Partial<Record<Habit, number>> = {
    'call-off': 0.15,
    redefine: 0.5,
    block: 1,
    cancel: 1,
    amend: 15,
    withdraw: 2,
    refund: 4,
    erase: 3,
    retain: 1,
    foreign: 1,
  };
  const common: Partial<Record<Habit, number>> = { place: 6, checkout: 4, pay: 6, buy: 3, poll: 3, read: 3 };
  const often: readonly Habit[] = ['buy', 'pay', 'amend', 'withdraw'];
  const draw = (habit: Habit): number => {
    if (isAmending && often.includes(habit) && !without.has(habit)) return habit === 'withdraw' ? 2 : 15;
    const isOff = chance.percent(habit === 'place' ? 5 : 30);
    const weight = (common[habit] ?? rare[habit] ?? 2) * (0.25 + chance.next() * 2);
    return without.has(habit) || isOff ? 0 : weight;
  };
  const habits = Object.fromEntries(HABITS.map((habit) => [habit, draw(habit)])) as Record<Habit, number>;
  return Object.values(habits).every((weight) => weight === 0) ? { ...habits, place: 1 } : habits;
}

/** A buyer with its session. */
export interface Buyer {
  readonly sessionKey: string;
  readonly email: string;
  readonly eventId: string;
  readonly isBot: boolean;
  hold: HoldView | null;
  entryId: string | null;
  orderIds: string[];
  /** The last request with an idempotency key. */
  lastKeyed: Command | null;
}

/** A payment that the provider knows. */
interface KnownPayment {
  readonly eventId: string;
  readonly payment: PaymentView;
}

export interface People {
  readonly buyers: readonly Buyer[];
  readonly knownPayments: KnownPayment[];
  readonly chance: Chance;
  definitionOf(eventId: string): EventDefinition;
  ordersOf(eventId: string): readonly ModelOrder[];
}

export function drawBuyers(chance: Chance, count: number, eventIds: readonly string[]): Buyer[] {
  const names = ['anna@example.org', 'Anna+2@Example.org', 'bo@example.org', 'cy@example.org'];
  return Array.from({ length: count }, (_, n) => ({
    sessionKey: `session-${n}`,
    email: names[n % names.length]!,
    eventId: chance.pick(eventIds),
    isBot: chance.percent(8),
    hold: null,
    entryId: null,
    orderIds: [],
    lastKeyed: null,
  }));
}

const operator = { operator: 'olga', note: null };

/** An operator who may write something about a person. */
const writing = (chance: Chance) => ({ operator: 'olga', note: chance.percent(50) ? 'Anna called about it' : null });

/** The next command of a buyer with this habit; null when it has no object. */
export function nextCommand(people: People, habit: Habit, buyer: Buyer): Command | null {
  const { chance } = people;
  const { sessionKey } = buyer;
  switch (habit) {
    case 'place':
      return withKey(people, buyer, {
        type: 'PlaceHold',
        sessionKey,
        items: items(people, buyer),
        queuePass: buyer.entryId,
        idempotency: null,
      });
    case 'change':
      return (
        buyer.hold && {
          type: 'ChangeHold',
          holdId: buyer.hold.id,
          sessionKey,
          items: changes(people, buyer, buyer.hold),
        }
      );
    case 'release':
      return buyer.hold && { type: 'ReleaseHold', holdId: buyer.hold.id, sessionKey };
    case 'checkout':
      return buyer.hold && withKey(people, buyer, checkout(people, buyer, holdToBuy(chance, buyer.hold)));
    case 'buy':
      return withKey(
        people,
        buyer,
        checkout(people, buyer, { items: items(people, buyer).map((item) => withExtras(chance, item)) }),
      );
    case 'pay':
      return report(people, buyer.eventId);
    case 'withdraw': {
      const orders = people.ordersOf(buyer.eventId).filter(({ amendments }) => amendments.size > 0);
      const pending = orders.filter(({ amendments }) => [...amendments.values()].at(-1)!.status === 'PENDING');
      const choice = pending.length > 0 && chance.percent(90) ? pending : orders;
      return choice.length === 0 ? null : drawWithdrawal(chance, chance.pick(choice));
    }
    case 'open': {
      const orderId = buyer.orderIds.at(-1);
      return orderId === undefined ? null : { type: 'OpenPayment', orderId };
    }
    case 'repeat': {
      const last = buyer.lastKeyed;
      if (last?.type !== 'PlaceHold' || chance.percent(80)) return last;
      return { ...last, idempotency: { ...last.idempotency!, digest: 'another' } };
    }
    case 'join':
      return { type: 'JoinQueue', sessionKey };
    case 'poll':
      return buyer.entryId === null ? null : { type: 'PollQueue', entryId: buyer.entryId, sessionKey };
    case 'leave':
      return buyer.entryId === null ? null : { type: 'LeaveQueue', entryId: buyer.entryId, sessionKey };
    case 'foreign':
      return requestOfOthers(people, buyer);
    case 'retain':
      return { type: 'EraseDueOrders', after: null, limit: chance.between(1, 3) };
    case 'cancel':
    case 'erase':
    case 'refund': {
      const orderIds = people.buyers.filter((each) => each.eventId === buyer.eventId).flatMap((each) => each.orderIds);
      if (orderIds.length === 0) return null;
      if (habit === 'erase') return { type: 'EraseOrder', orderId: chance.pick(orderIds), ...operator, note: null };
      const orderId = chance.pick(habit === 'cancel' ? orderIds : orderIds.slice(0, 2));
      return habit === 'cancel' ? { type: 'CancelOrder', orderId, ...writing(chance) } : refund(chance, orderId);
    }
    case 'amend': {
      const orders = people.ordersOf(buyer.eventId);
      const issued = orders.filter(({ tickets }) => tickets.length > 0);
      const live = issued.filter(({ status }) => status === 'CONFIRMED' || status === 'PARTIALLY_PAID');
      const choice = live.length > 0 && chance.percent(95) ? live : issued;
      const order = choice.length === 0 ? undefined : chance.pick(choice);
      return order === undefined
        ? null
        : drawAmendment(
            chance,
            order,
            people.definitionOf(buyer.eventId),
            orders.filter((each) => each !== order),
          );
    }
    case 'block': {
      const type = chance.percent(60) ? 'BlockSeats' : 'UnblockSeats';
      const seatIds = [...new Set([seat(people, buyer), seat(people, buyer)])];
      return { type, performanceId: dateOf(people, buyer), seatIds, ...operator };
    }
    case 'redefine':
      return { type: 'DefineEvent', definition: redefine(people, buyer), ...operator };
    case 'call-off':
      return {
        type: 'CancelPerformance',
        performanceId: people.definitionOf(buyer.eventId).performances.at(-1)!.id,
        ...operator,
      };
    case 'read':
      return null;
  }
}

/** A command with an id of another buyer, or an unknown one. */
function requestOfOthers({ buyers, chance }: People, { sessionKey, entryId, eventId }: Buyer): Command | null {
  const other = chance.pick(buyers.filter((each) => each.eventId === eventId));
  const holdId = other.hold?.id ?? 'hld_1_000000000000000000000000';
  const commands: Command[] = [
    { type: 'ReleaseHold', holdId, sessionKey },
    { type: 'ChangeHold', holdId, sessionKey, items: [{ ...request('guest', 1), performanceId: 'd1' }] },
    { type: 'PollQueue', entryId: other.entryId ?? 'que_1_000000000000000000000000', sessionKey },
    {
      type: 'PlaceHold',
      sessionKey,
      items: [request('guest', 1)],
      queuePass: other.entryId ?? entryId,
      idempotency: null,
    },
  ];
  return chance.pick(commands);
}

/** Gives some requests an idempotency key and remembers them for a repeat. */
function withKey(people: People, buyer: Buyer, command: CommandOf<'PlaceHold'> | CommandOf<'StartCheckout'>): Command {
  if (!people.chance.percent(40)) return command;
  const key = `key-${people.chance.between(0, 1e9)}`;
  buyer.lastKeyed = { ...command, idempotency: { key, digest: command.type } };
  return buyer.lastKeyed;
}

const request = (ticketTypeId: string, quantity: number): ItemRequest => ({
  ticketTypeId,
  sellingStageId: 'general',
  quantity,
  performanceId: null,
  seatIds: null,
});

/** Places a hold of one free ticket on the floor. */
export function placeOne(sessionKey: string, performanceId: string, queuePass: string | null): CommandOf<'PlaceHold'> {
  const items = [{ ...request('guest', 1), performanceId }];
  return { type: 'PlaceHold', sessionKey, items, queuePass, idempotency: null };
}

function dateOf({ chance, definitionOf }: People, { eventId }: Buyer): string {
  return chance.pick(definitionOf(eventId).performances).id;
}

function seat({ chance, definitionOf }: People, { eventId }: Buyer): string {
  const hall = definitionOf(eventId).localities[1]!;
  const rows = hall.seating === 'NUMBERED' ? hall.sections.flatMap((section) => section.rows) : [];
  return chance.pick(chance.pick(rows).seats).id;
}

function items(people: People, buyer: Buyer): ItemRequest[] {
  const { chance } = people;
  if (chance.percent(6)) return accessibleParty(people, buyer);
  return Array.from({ length: chance.weighted({ 1: 6, 2: 3, 3: 1 }) === '1' ? 1 : chance.between(2, 3) }, () =>
    item(people, buyer),
  );
}

/** A wheelchair place and a companion, in either order, without chosen seats. */
function accessibleParty(people: People, buyer: Buyer): ItemRequest[] {
  const { chance } = people;
  const performanceId = dateOf(people, buyer);
  const companion = chance.weighted({ seat: 4, side: 1, pair: 1 });
  const wheel = { ...request('wheel', 1), performanceId };
  const other = { ...request(companion, chance.between(1, 2)), performanceId };
  return chance.percent(50) ? [wheel, other] : [other, wheel];
}

function item(people: People, buyer: Buyer): ItemRequest {
  const { chance, definitionOf } = people;
  const type = chance.weighted({ adult: 5, group: 2, guest: 2, seat: 4, side: 2, pair: 2, wheel: 2, unknown: 0.1 });
  const several = definitionOf(buyer.eventId).performances.length > 1;
  const isNumbered = ['seat', 'side', 'pair', 'wheel'].includes(type);
  const quantity = chance.weighted({ 1: 5, 2: 3, 3: 1, 9: 0.2 });
  const perUnit = type === 'pair' ? 2 : 1;
  const named = Array.from({ length: Number(quantity) * perUnit + (chance.percent(3) ? 1 : 0) }, () =>
    seat(people, buyer),
  );
  return {
    ticketTypeId: type,
    sellingStageId: chance.weighted({ general: 8, early: 2, unknown: 0.1 }),
    quantity: Number(quantity),
    performanceId: chance.percent(several ? 97 : 40) ? (chance.percent(99) ? dateOf(people, buyer) : 'd9') : null,
    seatIds: chance.percent(isNumbered ? 45 : 1) ? (chance.percent(95) ? [...new Set(named)] : named) : null,
  };
}

function changes(people: People, buyer: Buyer, hold: HoldView): ItemRequest[] {
  const { chance } = people;
  // A hold that is over for long shows no items; what its buyer asks for is refused.
  if (hold.items.length === 0) return items(people, buyer);
  const line = chance.pick(hold.items);
  const quantity = Math.max(0, line.quantity + chance.between(-2, 2));
  const { ticketTypeId, sellingStageId, performanceId } = line;
  const changed = { ticketTypeId, sellingStageId, performanceId, quantity, seatIds: null };
  const added = { ...item(people, buyer), performanceId: dateOf(people, buyer) };
  return chance.percent(20) ? [changed, added] : [changed];
}

function checkout(
  { chance }: People,
  buyer: Buyer,
  more: Partial<CommandOf<'StartCheckout'>>,
): CommandOf<'StartCheckout'> {
  return {
    type: 'StartCheckout',
    holdId: null,
    sessionKey: chance.percent(60) ? buyer.sessionKey : null,
    items: null,
    customer: { email: buyer.email, name: 'Anna B', documentNumber: null, phone: null },
    acceptTerms: chance.percent(98),
    successUrl: null,
    cancelUrl: null,
    installmentCount: chance.weighted({ 1: 6, 2: 2, 3: 1 }) === '1' ? 1 : chance.between(2, 3),
    promoCode: chance.percent(50)
      ? typed(chance, chance.weighted({ HALF: 5, TENTH: 2, ALL: 2, OVER: 1, NONE: 0.3 }))
      : null,
    promoterCode: null,
    referralCode: null,
    tracking: null,
    queuePass: buyer.entryId,
    idempotency: null,
    ...more,
  };
}

/** A code as somebody types it: case and spaces around it do not count. */
function typed(chance: Chance, code: string): string {
  const spelling = chance.weighted({ AS_IS: 6, LOWER: 1, SPACED: 1 });
  if (spelling === 'AS_IS') return code;
  return spelling === 'LOWER' ? code.toLowerCase() : ` ${code}\u00a0`;
}

/** A checkout of a hold, sometimes with its items repeated, right or wrong. */
function holdToBuy(chance: Chance, { id: holdId, items }: HoldView): Partial<CommandOf<'StartCheckout'>> {
  if (chance.percent(65) || items.length === 0) return { holdId };
  const typed = items.map(({ ticketTypeId, sellingStageId, performanceId, quantity, seatIds }) => ({
    ...{ ticketTypeId, sellingStageId, performanceId, discountCode: null, attendees: null, barPerks: [] },
    quantity: quantity + (chance.percent(40) ? 1 : 0),
    seatIds: seatIds.length === 0 ? null : seatIds,
  }));
  return { holdId, items: typed };
}

function withExtras(chance: Chance, wanted: ItemRequest): CheckoutItemRequest {
  const takesBeer = wanted.ticketTypeId === 'adult' && chance.percent(50);
  const barPerks = takesBeer
    ? [
        {
          barPerkId: chance.percent(3) ? 'cola' : 'beer',
          quantity: chance.between(1, wanted.quantity + (chance.percent(10) ? 1 : 0)),
        },
      ]
    : [];
  return {
    ...wanted,
    discountCode: chance.percent(10) ? typed(chance, 'HALF') : null,
    attendees: chance.percent(15) ? attendees(wanted.quantity) : null,
    barPerks,
  };
}

/** One attendee for each unit, which is too few for groups. */
function attendees(count: number): NonNullable<CheckoutItemRequest['attendees']> {
  return Array.from({ length: count }, (_, n) => ({
    name: `Guest ${n}`,
    email: null,
    documentNumber: null,
    phone: null,
  }));
}

/** A refund, noted by an operator or reported by a provider, often the same twice. */
function refund(chance: Chance, orderId: string): Command {
  const isReport = chance.percent(35);
  return {
    type: 'RecordRefund',
    orderId,
    amountCents: chance.pick([1, 500, 2500, 5001]),
    currency: chance.percent(15) ? 'USD' : null,
    reference: isReport || chance.percent(40) ? chance.pick(['re_1', 're_2', 're_3']) : null,
    provider: isReport ? (chance.percent(90) ? 'provider_a' : 'provider_b') : null,
    ...writing(chance),
  };
}

/** A report of the provider on one of its sessions: in most cases right, sometimes repeated or wrong. */
function report({ chance, knownPayments }: People, eventId: string): Command | null {
  const known = knownPayments.filter((payment) => payment.eventId === eventId);
  if (known.length === 0) return null;
  const { payment } = chance.percent(60) ? known.at(-1)! : chance.pick(known);
  return {
    type: 'RecordPayment',
    provider: chance.percent(92) ? 'provider_a' : 'provider_b',
    checkoutSessionId: `cs_of_${payment.id}`,
    paymentId: null,
    outcome: chance.weighted({ paid: 10, declined: 2, cancelled: 2, expired: 1 }),
    amountCents: payment.amountCents + (chance.percent(5) ? chance.between(1, 3) : 0),
    currency: chance.percent(90) ? payment.currency : 'USD',
    webhookId: chance.percent(50) ? `msg_${payment.id}` : null,
  };
}

/** The event with another capacity, other prices, other codes, other groups, or other limits of holds. */
function redefine({ chance, definitionOf }: People, { eventId }: Buyer): EventDefinition {
  const definition = definitionOf(eventId);
  const [floor, ...others] = definition.localities;
  if (floor?.seating !== 'GENERAL' || chance.percent(40)) {
    const [early, general] = definition.sellingStages;
    const prices = { ...general!.prices, adult: chance.between(900, 1100) };
    return { ...definition, sellingStages: [early!, { ...general!, prices }] };
  }
  if (chance.percent(20)) {
    const ceilings = [0, definition.holdMinutes, definition.holdMinutes * 2.5];
    return { ...definition, holdMaxMinutes: chance.pick(ceilings), limitsAtHold: chance.percent(50) };
  }
  if (chance.percent(20)) {
    const late = code('TENTH', { percentOff: 10, endsAt: START + 1 });
    return { ...definition, promoCodes: definition.promoCodes.map((each) => (each.code === 'TENTH' ? late : each)) };
  }
  if (chance.percent(30)) {
    const regrouped = definition.ticketTypes.map((type) =>
      type.groupSize === 1 ? type : { ...type, groupSize: chance.between(2, 4) },
    );
    return { ...definition, ticketTypes: regrouped };
  }
  return {
    ...definition,
    localities: [{ ...floor, capacity: Math.max(1, floor.capacity + chance.between(-3, 3)) }, ...others],
  };
}

/** What is reported about a payment, after so long; some of it once the payment window is over. */
export function drawReports(
  chance: Chance,
  { paymentMinutes }: EventDefinition,
  { payment, soonMs }: { readonly payment: PaymentView; readonly soonMs: number },
): readonly { readonly afterMs: number; readonly report: Command }[] {
  const paths = { paid: 6, late: 4, declined: 2, cancelled: 2, none: 2 };
  const path = chance.weighted(paths);
  if (path === 'none') return [];
  const windowMs = paymentMinutes * MINUTE;
  const soon = chance.between(50, Math.min(soonMs, windowMs / 2));
  const paid = {
    afterMs: path === 'paid' ? soon : windowMs + chance.between(-1_000, 60_000),
    outcome: 'paid',
  } as const;
  const reports = path === 'declined' || path === 'cancelled' ? [{ afterMs: soon, outcome: path }, paid] : [paid];
  return reports.map(({ afterMs, outcome }) => ({ afterMs, report: reportOf(payment, outcome) }));
}

function reportOf({ id, amountCents, currency }: PaymentView, outcome: CommandOf<'RecordPayment'>['outcome']): Command {
  const session = { provider: 'provider_a', checkoutSessionId: `cs_of_${id}`, paymentId: null } as const;
  return { type: 'RecordPayment', ...session, outcome, amountCents, currency, webhookId: null };
}

/** Notes in the buyer what an answer says. */
export function learn(buyer: Buyer, command: Command, reply: Reply): void {
  if ('hold' in reply) buyer.hold = reply.hold;
  if ('entry' in reply) buyer.entryId = reply.entry.id;
  if (command.type !== 'StartCheckout' && command.type !== 'OpenPayment') return;
  if (!('order' in reply) || reply.order === null) return;
  if (!buyer.orderIds.includes(reply.order.id)) buyer.orderIds.push(reply.order.id);
}
