/**
 * Buyers that record their operations: over HTTP, many at once, on very little stock, through crashes of the service.
 *
 * Owns the event on sale, the translation between the API and the model of `stock.ts`, and the recording of histories,
 * one for each group of stock. An operation that a crash left without an answer is repeated with the same key, as the
 * contract says; both are recorded, and the first may never have happened.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { PlayerRequest } from '#rehearsal/player/connection.ts';
import {
  changeHold,
  placeHold,
  readHold,
  readOrder,
  releaseHold,
  settlePayment,
  startCheckout,
} from '#rehearsal/player/buyer-requests.ts';
import type { Answer, Json } from '../fixtures/client.ts';
import type { ServiceProcess } from '../fixtures/service.ts';
import type { Chance } from '../simulation/chance.ts';
import type { Amounts, StockGroup, StockInput, StockOperation, StockOutput } from './stock.ts';

export const EVENT = {
  id: 'evt_small',
  slug: 'small',
  name: 'Little is left',
  currency: 'EUR',
  hold_minutes: 600,
  payment_minutes: 700,
  performances: [
    { id: 'fri', name: 'Friday' },
    { id: 'sat', name: 'Saturday' },
  ],
  localities: [
    {
      id: 'hall',
      name: 'Hall',
      seating: 'NUMBERED',
      sections: [{ id: 'S', name: 'Stalls', zone_key: 'stalls', rows: [{ label: 'A', seats: 5 }] }],
    },
    { id: 'pit', name: 'Pit', seating: 'GENERAL', capacity: 4 },
    { id: 'ring', name: 'Ring', seating: 'GENERAL', capacity: 3 },
  ],
  ticketTypes: [
    { id: 'seat', name: 'Seat', locality_id: 'hall' },
    { id: 'pit', name: 'Pit', locality_id: 'pit' },
    { id: 'ring', name: 'Ring', locality_id: 'ring' },
  ],
  sellingStages: [{ id: 'general', name: 'General sale', prices: { seat: 0, pit: 1_000, ring: 2_000 } }],
} as const satisfies Json;

/**
 * Stock that is sold together: a seat, two seats, a counter, and the counters of two performances that one hold may
 * span.
 */
export const STOCK_GROUPS: Readonly<Record<string, StockGroup>> = {
  'one seat': { capacities: { 'S-A-1': 1 }, isFree: true },
  'two seats': { capacities: { 'S-A-3': 1, 'S-A-4': 1 }, isFree: true },
  'a counter': { capacities: { 'pit fri': 4 }, isFree: false },
  'counters of two performances': { capacities: { 'ring fri': 3, 'ring sat': 3 }, isFree: false },
};

/** One process of the service, from its start to its kill. */
export interface Epoch {
  readonly service: ServiceProcess;
  /** Resolves with the time at which the process had ended. */
  readonly crashed: Promise<number>;
  /** Resolves when the next process is ready. */
  readonly next: Promise<Epoch>;
}

export interface Run {
  epoch: Epoch;
  isClosing: boolean;
  readonly histories: ReadonlyMap<string, StockOperation[]>;
}

/** The ids that a buyer needs for its next calls; the model does not have them. */
interface KnownIds {
  readonly session: string;
  holdId?: string;
  orderId?: string;
  checkoutSessionId?: string | null;
}

type HoldInput = Exclude<StockInput, { readonly type: 'count' }>;

/** Milliseconds on the clock that all buyers share. */
export function moment(): number {
  return performance.now();
}

/** Buys from one group after another until the run closes; releases or cancels everything at the end. */
export async function buyUntilClosed(run: Run, buyer: number, chance: Chance): Promise<void> {
  for (let round = 0; !run.isClosing; round += 1) {
    const group = chance.pick(Object.keys(STOCK_GROUPS));
    await buyFrom(run, group, `session-${buyer}-${round}`, chance);
  }
}

async function buyFrom(run: Run, group: string, session: string, chance: Chance): Promise<void> {
  const holds: [string, KnownIds][] = [];
  const requests = chance.percent(30) ? 2 : 1;
  for (let request = 0; request < requests; request += 1) {
    const hold = `${session}-${request}`;
    const known: KnownIds = { session };
    const input = { type: 'place', hold, session, amounts: randomAmounts(group, chance) } as const;
    const placed = await insist(run, group, input, known);
    if (placed.type === 'PLACED') holds.push([hold, known]);
  }
  for (let step = chance.between(0, 3); step > 0 && holds.length > 0; step -= 1) {
    const together = Array.from({ length: chance.between(1, 2) }, () => {
      const [hold, known] = chance.pick(holds);
      return insist(run, group, nextFor(group, hold, known, chance), known);
    });
    await Promise.all(together);
  }
  for (const [hold, known] of holds) {
    await insist(run, group, { type: known.orderId === undefined ? 'release' : 'cancel', hold }, known);
  }
}

/** Random amounts that the group can fulfil when nothing of it is taken. */
function randomAmounts(group: string, chance: Chance): Amounts {
  const { capacities } = STOCK_GROUPS[group]!;
  const goods = Object.keys(capacities);
  const some = goods.filter(() => chance.percent(60));
  const chosen = some.length > 0 ? some : [chance.pick(goods)];
  return Object.fromEntries(chosen.map((good) => [good, chance.between(1, capacities[good]!)]));
}

function nextFor(group: string, hold: string, { orderId, checkoutSessionId }: KnownIds, chance: Chance): HoldInput {
  const hasCounters = !STOCK_GROUPS[group]!.isFree;
  const type = chance.weighted({
    read: 4,
    release: 1,
    start: 3,
    change: hasCounters ? 3 : 0,
    pay: typeof checkoutSessionId === 'string' ? 4 : 0,
    status: orderId === undefined ? 0 : 3,
    cancel: orderId === undefined ? 0 : 1,
  });
  return type === 'change' ? { type, hold, amounts: randomAmounts(group, chance) } : { type, hold };
}

/** Repeats an operation until it is answered, over crashes too, and records every try. */
async function insist(run: Run, group: string, input: HoldInput, known: KnownIds): Promise<StockOutput> {
  const history = run.histories.get(group)!;
  for (;;) {
    const { epoch } = run;
    const calledAt = moment();
    let answer: Answer;
    try {
      answer = await send(epoch.service, input, known);
    } catch {
      const crashedAt = await epoch.crashed;
      history.push({ input, output: null, calledAt, returnedAt: Math.max(calledAt, crashedAt) });
      await epoch.next;
      continue;
    }
    const returnedAt = moment();
    const output = answer.status === 503 ? null : outputOf(answer, input, known);
    history.push({ input, output, calledAt, returnedAt });
    if (output !== null) return output;
    await pause(5);
  }
}

// ── requests and answers of the API ──────────────────────────────────────────────────────────────────────────────────

function send(service: ServiceProcess, input: HoldInput, known: KnownIds): Promise<Answer> {
  const { method, path, headers = {}, body } = requestOf(input, known);
  return input.type === 'cancel' ? service.operate(method, path) : service.call(method, path, { headers, body });
}

function requestOf(input: HoldInput, known: KnownIds): PlayerRequest {
  const { session, holdId = '', orderId = '', checkoutSessionId = null } = known;
  switch (input.type) {
    case 'place':
      return placeHold(EVENT.id, session, itemsOf(input.amounts), {}, input.hold);
    case 'change':
      return changeHold(session, holdId, itemsOf(input.amounts));
    case 'release':
      return releaseHold(session, holdId);
    case 'read':
      return readHold(session, holdId);
    case 'start': {
      const customer = { email: `${input.hold}@example.com`, name: 'Somebody' };
      return startCheckout(EVENT.id, { hold_id: holdId, customer }, `${input.hold}-start`);
    }
    case 'pay':
      return settlePayment(checkoutSessionId, 'paid');
    case 'status':
      return readOrder(orderId);
    case 'cancel':
      return { method: 'POST', path: `/admin/orders/${orderId}/cancel` };
  }
}

/** The items of a request: seats by their ids, counters by type and performance. */
function itemsOf(amounts: Amounts): readonly Json[] {
  const seats = Object.keys(amounts).filter((good) => good.startsWith('S-'));
  const item = (type: string, date: string, quantity: number, more: Json = {}): Json => {
    return { ticket_type_id: type, selling_stage_id: 'general', performance_id: date, quantity, ...more };
  };
  if (seats.length > 0) return [item('seat', 'fri', seats.length, { seat_ids: seats })];
  return Object.entries(amounts).map(([good, quantity]) => item(good.split(' ')[0]!, good.split(' ')[1]!, quantity));
}

function amountsOf(items: HoldBody['items']): Amounts {
  const amounts: Record<string, number> = {};
  for (const { ticket_type_id: type, performance_id: date, ticket_count: count, seat_ids: seats } of items) {
    if (seats.length === 0) amounts[`${type} ${date}`] = count;
    for (const seat of seats) amounts[seat] = 1;
  }
  return amounts;
}

/** The output of the model that an answer stands for; throws for an answer that is never correct. */
function outputOf({ status, body }: Answer, input: HoldInput, known: KnownIds): StockOutput {
  if (status >= 400) {
    const refusal = refusalOf(body);
    if (refusal === null) throw new Error(`${JSON.stringify(input)}: ${status} ${JSON.stringify(body)}`);
    return refusal;
  }
  switch (input.type) {
    case 'place':
      known.holdId = sameAsBefore(known.holdId, body['id'] as string);
      return { type: 'PLACED' };
    case 'change':
      return { type: 'CHANGED' };
    case 'release':
      return { type: 'RELEASED' };
    case 'read':
      return { type: 'HOLD', status: body['status'] as string, amounts: amountsOf(body['items'] as HoldBody['items']) };
    case 'start':
      known.orderId = sameAsBefore(known.orderId, body['order_id'] as string);
      known.checkoutSessionId = body['checkout_session_id'] as string | null;
      return { type: 'STARTED' };
    case 'pay':
      return { type: 'SETTLED' };
    case 'status':
      return { type: 'ORDER', status: body['status'] as string };
    case 'cancel':
      return { type: 'CANCELLED' };
  }
}

function refusalOf({ code, detail }: Json): StockOutput | null {
  const details = detail as Json;
  switch (code) {
    case 'HOLD_NOT_ACTIVE':
      return { type: code };
    case 'SEAT_TAKEN':
      return { type: code, seats: details['seat_ids'] as string[] };
    case 'INSUFFICIENT_TICKETS':
      return {
        type: code,
        good: `${String(details['ticket_type_id'])} ${String(details['performance_id'])}`,
        available: details['available'] as number,
        reservedByOthers: details['reserved_by_others'] as boolean,
      };
    default:
      return null;
  }
}

function sameAsBefore(known: string | undefined, id: string): string {
  if (known !== undefined && known !== id) throw new Error(`one key, two answers: ${known} and ${id}`);
  return id;
}
