/**
 * The sequential model of the sale that histories are checked against: seats and counters, the holds on them, their
 * orders.
 *
 * It follows the contract and shares no code with the service. A seat is a good with the capacity 1. A hold is named by
 * its Idempotency-Key, which its client knows even without an answer. No hold expires here; best-available seats are
 * tested elsewhere.
 */
import type { Model, Operation } from './checker.ts';

/** Tickets by good. */
export type Amounts = Readonly<Record<string, number>>;

type Holding = Readonly<{ hold: string }>;

export type StockInput =
  | ({ readonly type: 'place'; readonly session: string; readonly amounts: Amounts } & Holding)
  | ({ readonly type: 'change'; readonly amounts: Amounts } & Holding)
  | ({ readonly type: 'release' | 'read' | 'start' | 'pay' | 'cancel' | 'status' } & Holding)
  | { readonly type: 'count' };

export type StockOutput =
  | { readonly type: 'PLACED' | 'CHANGED' | 'RELEASED' | 'STARTED' | 'SETTLED' | 'CANCELLED' }
  | { readonly type: 'HOLD_NOT_ACTIVE' }
  | { readonly type: 'SEAT_TAKEN'; readonly seats: readonly string[] }
  | {
      readonly type: 'INSUFFICIENT_TICKETS';
      readonly good: string;
      readonly available: number;
      readonly reservedByOthers: boolean;
    }
  | { readonly type: 'HOLD'; readonly status: string; readonly amounts: Amounts }
  | { readonly type: 'ORDER'; readonly status: string }
  | { readonly type: 'COUNTED'; readonly free: Amounts };

export type StockOperation = Operation<StockInput, StockOutput>;

interface Hold {
  readonly session: string;
  readonly status: 'ACTIVE' | 'CONVERTED' | 'CONSUMED' | 'RELEASED';
  readonly amounts: Amounts;
  readonly order: 'PENDING' | 'CONFIRMED' | 'CANCELLED' | null;
}

interface Stock {
  readonly free: Amounts;
  readonly holds: ReadonlyMap<string, Hold>;
}

export interface StockGroup {
  /** Tickets of each good when nothing is taken. */
  readonly capacities: Amounts;
  /** Whether the tickets cost nothing: an order is then confirmed at once. */
  readonly isFree: boolean;
}

/** The model of goods that are sold together; goods of different groups are independent. */
export function stockModel({ capacities, isFree }: StockGroup): Model<Stock, StockInput, StockOutput> {
  return {
    initial: { free: capacities, holds: new Map() },
    step(stock, input, output) {
      if (input.type === 'count') return output === null || isCount(output, stock) ? [stock] : [];
      const hold = stock.holds.get(input.hold);
      const allowed =
        input.type === 'place' ? outcomesOfPlace(stock, input) : hold ? outcomesOf(stock, input, hold, isFree) : [];
      if (output === null) return [stock, ...allowed.map(({ next }) => next).filter((next) => next !== stock)];
      return allowed.filter(({ answer }) => answersEqually(answer, output)).map(({ next }) => next);
    },
    keyOf({ holds }) {
      const lines = Array.from(holds, ([key, { status, amounts, order }]) => {
        const counts = Object.keys(amounts).sort();
        return `${key}:${status}:${order ?? ''}:${counts.map((good) => `${good}=${amounts[good]}`).join()}`;
      });
      return lines.sort().join(';');
    },
  };
}

interface Outcome {
  readonly answer: StockOutput;
  readonly next: Stock;
}

type InputOf<Type extends StockInput['type']> = Extract<StockInput, { readonly type: Type }>;

/**
 * Placing a hold by its key: known already, granted in place of the session's ACTIVE hold, or refused without a change.
 */
function outcomesOfPlace(stock: Stock, input: InputOf<'place'>): readonly Outcome[] {
  const { hold: key, session, amounts } = input;
  if (stock.holds.has(key)) return [{ answer: { type: 'PLACED' }, next: stock }];
  const [ownKey, own] = [...stock.holds].find(([, hold]) => hold.session === session && hold.status === 'ACTIVE') ?? [];
  // A hold that was replaced keeps its id and state alone.
  const given = own === undefined ? stock : withHold(stock, ownKey!, { ...own, status: 'RELEASED', amounts: {} });
  const refusals = refusalsOf(given, amounts, session).map((answer) => ({ answer, next: stock }));
  if (refusals.length > 0) return refusals;
  const next = withHold(given, key, { session, status: 'ACTIVE', amounts, order: null });
  return [{ answer: { type: 'PLACED' }, next }];
}

function outcomesOf(
  stock: Stock,
  input: Exclude<StockInput, InputOf<'place' | 'count'>>,
  hold: Hold,
  isFree: boolean,
): readonly Outcome[] {
  const { status, order, amounts } = hold;
  const become = (changes: Partial<Hold>): Stock => withHold(stock, input.hold, { ...hold, ...changes });
  const isOver = { answer: { type: 'HOLD_NOT_ACTIVE' }, next: stock } as const;
  switch (input.type) {
    case 'read':
      return [{ answer: { type: 'HOLD', status, amounts }, next: stock }];
    case 'status':
      return order === null ? [] : [{ answer: { type: 'ORDER', status: order }, next: stock }];
    case 'change': {
      if (status !== 'ACTIVE') return [isOver];
      const given = become({ status: 'RELEASED' });
      const refusals = refusalsOf(given, input.amounts, hold.session);
      if (refusals.length > 0) return refusals.map((answer) => ({ answer, next: stock }));
      const wanted = { ...amounts, ...input.amounts };
      return [{ answer: { type: 'CHANGED' }, next: withHold(given, input.hold, { ...hold, amounts: wanted }) }];
    }
    case 'release':
      if (status === 'RELEASED') return [{ answer: { type: 'RELEASED' }, next: stock }];
      if (status !== 'ACTIVE') return [isOver];
      return [{ answer: { type: 'RELEASED' }, next: become({ status: 'RELEASED' }) }];
    case 'start': {
      if (order !== null) return [{ answer: { type: 'STARTED' }, next: stock }];
      if (status !== 'ACTIVE') return [isOver];
      const taken = isFree ? become({ status: 'CONSUMED', order: 'CONFIRMED' }) : become(PENDING);
      return [{ answer: { type: 'STARTED' }, next: taken }];
    }
    case 'pay': {
      const paid = order === 'PENDING' ? become({ status: 'CONSUMED', order: 'CONFIRMED' }) : stock;
      return [{ answer: { type: 'SETTLED' }, next: paid }];
    }
    case 'cancel':
      // A cancelled order stays cancelled: a repeat has the same answer and changes nothing.
      if (order === 'CANCELLED') return [{ answer: { type: 'CANCELLED' }, next: stock }];
      return [{ answer: { type: 'CANCELLED' }, next: become({ status: 'RELEASED', order: 'CANCELLED' }) }];
  }
}

const PENDING = { status: 'CONVERTED', order: 'PENDING' } as const;

/** The refusals that a request may get after the session's own hold is released; none when it can be granted. */
function refusalsOf({ free, holds }: Stock, wanted: Amounts, session: string): readonly StockOutput[] {
  const short = Object.keys(wanted).filter((good) => wanted[good]! > free[good]!);
  if (short.length === 0) return [];
  const isInCart = (good: string): boolean =>
    [...holds.values()].some(
      (hold) => hold.session !== session && (hold.amounts[good] ?? 0) > 0 && /^(ACTIVE|CONVERTED)$/.test(hold.status),
    );
  return [
    { type: 'SEAT_TAKEN', seats: short },
    ...short.map((good) => ({
      type: 'INSUFFICIENT_TICKETS' as const,
      good,
      available: free[good]!,
      reservedByOthers: isInCart(good),
    })),
  ];
}

/** The stock with the new state of a hold: what the hold took before is free again, what it takes now is not. */
function withHold({ free, holds }: Stock, key: string, hold: Hold): Stock {
  const left: Record<string, number> = { ...free };
  const before = holds.get(key);
  if (before !== undefined) for (const good of takenBy(before)) left[good]! += before.amounts[good]!;
  for (const good of takenBy(hold)) left[good]! -= hold.amounts[good]!;
  return { free: left, holds: new Map(holds).set(key, hold) };
}

function takenBy({ status, amounts }: Hold): readonly string[] {
  return status === 'RELEASED' ? [] : Object.keys(amounts);
}

function isCount(output: StockOutput, { free }: Stock): boolean {
  return output.type === 'COUNTED' && haveSameAmounts(output.free, free);
}

function answersEqually(expected: StockOutput, given: StockOutput): boolean {
  switch (expected.type) {
    case 'SEAT_TAKEN':
      return given.type === expected.type && given.seats.toSorted().join() === expected.seats.toSorted().join();
    case 'INSUFFICIENT_TICKETS':
      return (
        given.type === expected.type &&
        given.good === expected.good &&
        given.available === expected.available &&
        given.reservedByOthers === expected.reservedByOthers
      );
    case 'HOLD':
      return (
        given.type === expected.type &&
        given.status === expected.status &&
        haveSameAmounts(given.amounts, expected.amounts)
      );
    case 'ORDER':
      return given.type === expected.type && given.status === expected.status;
    default:
      return given.type === expected.type;
  }
}

function haveSameAmounts(a: Amounts, b: Amounts): boolean {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((good) => (a[good] ?? 0) === (b[good] ?? 0));
}
