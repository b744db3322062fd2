/** The checker of histories accepts linearizable histories and rejects others, in cases written by hand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkHistory } from './checker.ts';
import { stockModel, type Amounts, type StockInput, type StockOperation, type StockOutput } from './stock.ts';

const seat = stockModel({ capacities: { seat: 1 }, isFree: true });
const counter = stockModel({ capacities: { floor: 3 }, isFree: false });

/** An operation between two moments. */
function op(calledAt: number, returnedAt: number, input: StockInput, output: StockOutput | null): StockOperation {
  return { calledAt, returnedAt, input, output };
}

const place = (hold: string, amounts: Amounts, session = hold): StockInput => ({
  type: 'place',
  hold,
  session,
  amounts,
});
const on = (type: 'release' | 'read' | 'start' | 'pay' | 'cancel' | 'status', hold: string): StockInput => ({
  type,
  hold,
});
const change = (hold: string, amounts: Amounts): StockInput => ({ type: 'change', hold, amounts });
const read = (status: string, amounts: Amounts): StockOutput => ({ type: 'HOLD', status, amounts });
const insufficient = (available: number, reservedByOthers = true, good = 'floor'): StockOutput => ({
  type: 'INSUFFICIENT_TICKETS',
  good,
  available,
  reservedByOthers,
});

const ONE = { seat: 1 };
const PLACED = { type: 'PLACED' } as const;
const RELEASED = { type: 'RELEASED' } as const;
const TAKEN = { type: 'SEAT_TAKEN', seats: ['seat'] } as const;

type Case = readonly [what: string, model: typeof seat, history: readonly StockOperation[]];

const good: readonly Case[] = [
  ['nothing at all', seat, []],
  [
    'one hold after the other',
    seat,
    [op(1, 2, place('a', ONE), PLACED), op(3, 4, on('release', 'a'), RELEASED), op(5, 6, place('b', ONE), PLACED)],
  ],
  [
    'two holds at once, of which one is refused',
    seat,
    [op(1, 4, place('a', ONE), PLACED), op(2, 3, place('b', ONE), TAKEN)],
  ],
  [
    'a hold that needs the release which was called later',
    seat,
    [op(1, 2, place('a', ONE), PLACED), op(3, 9, place('b', ONE), PLACED), op(4, 8, on('release', 'a'), RELEASED)],
  ],
  [
    'an unanswered hold that happened',
    seat,
    [op(1, 5, place('a', ONE), null), op(6, 7, place('b', ONE), TAKEN), op(8, 9, place('a', ONE), PLACED)],
  ],
  ['an unanswered hold that did not', seat, [op(1, 5, place('a', ONE), null), op(6, 7, place('b', ONE), PLACED)]],
  [
    'a session that takes its own seat again',
    seat,
    [
      op(1, 2, place('a', ONE, 'session'), PLACED),
      op(3, 4, place('b', ONE, 'session'), PLACED),
      op(5, 6, on('read', 'a'), read('RELEASED', {})),
    ],
  ],
  [
    'an order that is paid, cancelled and leaves its tickets to others',
    counter,
    [
      op(1, 2, place('a', { floor: 3 }), PLACED),
      op(3, 4, on('start', 'a'), { type: 'STARTED' }),
      op(5, 6, place('b', { floor: 1 }), insufficient(0)),
      op(7, 8, on('pay', 'a'), { type: 'SETTLED' }),
      op(9, 10, place('b', { floor: 1 }), insufficient(0, false)),
      op(11, 12, on('status', 'a'), { type: 'ORDER', status: 'CONFIRMED' }),
      op(13, 14, on('cancel', 'a'), { type: 'CANCELLED' }),
      op(15, 16, place('b', { floor: 1 }), PLACED),
      op(17, 18, { type: 'count' }, { type: 'COUNTED', free: { floor: 2 } }),
    ],
  ],
];

const bad: readonly Case[] = [
  ['a seat that is held twice', seat, [op(1, 4, place('a', ONE), PLACED), op(2, 3, place('b', ONE), PLACED)]],
  [
    'a hold that was answered and lost in a crash',
    seat,
    [op(1, 2, place('a', ONE), PLACED), op(5, 6, place('b', ONE), PLACED)],
  ],
  [
    'a hold that was answered and cannot be read',
    seat,
    [op(1, 2, place('a', ONE), PLACED), op(3, 4, on('read', 'a'), read('RELEASED', ONE))],
  ],
  [
    'a stale read of an own hold',
    counter,
    [
      op(1, 2, place('a', { floor: 1 }), PLACED),
      op(3, 4, change('a', { floor: 2 }), { type: 'CHANGED' }),
      op(5, 6, on('read', 'a'), read('ACTIVE', { floor: 1 })),
    ],
  ],
  [
    'a read that goes back',
    counter,
    [
      op(1, 2, place('a', { floor: 1 }), PLACED),
      op(3, 9, change('a', { floor: 2 }), { type: 'CHANGED' }),
      op(4, 5, on('read', 'a'), read('ACTIVE', { floor: 2 })),
      op(6, 7, on('read', 'a'), read('ACTIVE', { floor: 1 })),
    ],
  ],
  [
    'a read of what a crash then undid',
    seat,
    [op(1, 9, place('a', ONE), null), op(2, 3, place('b', ONE), TAKEN), op(10, 11, place('b', ONE), PLACED)],
  ],
  [
    'an unanswered hold that happens after the crash',
    seat,
    [
      op(1, 5, place('a', ONE), null),
      op(6, 7, place('b', ONE), PLACED),
      op(8, 9, on('release', 'b'), RELEASED),
      op(10, 11, place('c', ONE), TAKEN),
    ],
  ],
  [
    'a counter that went below zero',
    counter,
    [op(1, 9, place('a', { floor: 2 }), PLACED), op(2, 8, place('b', { floor: 2 }), PLACED)],
  ],
  [
    'a counter that does not get released tickets back',
    counter,
    [
      op(1, 2, place('a', { floor: 3 }), PLACED),
      op(3, 4, on('release', 'a'), RELEASED),
      op(5, 6, place('b', { floor: 1 }), insufficient(0)),
    ],
  ],
  [
    'a refusal with another number than was left',
    counter,
    [op(1, 2, place('a', { floor: 1 }), PLACED), op(3, 4, place('b', { floor: 3 }), insufficient(1))],
  ],
  [
    'stock that is returned twice',
    counter,
    [
      op(1, 2, place('a', { floor: 2 }), PLACED),
      op(3, 4, on('start', 'a'), { type: 'STARTED' }),
      op(5, 8, on('cancel', 'a'), { type: 'CANCELLED' }),
      op(6, 7, on('cancel', 'a'), { type: 'CANCELLED' }),
      op(9, 10, place('b', { floor: 3 }), PLACED),
      op(11, 12, place('c', { floor: 2 }), PLACED),
    ],
  ],
  [
    'a sold seat that is released',
    seat,
    [
      op(1, 2, place('a', ONE), PLACED),
      op(3, 4, on('start', 'a'), { type: 'STARTED' }),
      op(5, 6, on('release', 'a'), RELEASED),
    ],
  ],
  [
    'half of a hold over two dates',
    stockModel({ capacities: { fri: 1, sat: 1 }, isFree: true }),
    [
      op(1, 5, place('a', { fri: 1, sat: 1 }), null),
      op(6, 7, place('b', { fri: 1 }), PLACED),
      op(8, 9, place('c', { sat: 1 }), insufficient(0, true, 'sat')),
    ],
  ],
  [
    'a count at the end that does not match',
    counter,
    [op(1, 2, place('a', { floor: 2 }), PLACED), op(3, 4, { type: 'count' }, { type: 'COUNTED', free: { floor: 2 } })],
  ],
];

describe('A history is linearizable', () => {
  for (const [what, model, history] of good) {
    it(`with ${what}`, () => {
      const result = checkHistory(history, model);
      assert.ok(result.isLinearizable, JSON.stringify(result));
    });
  }
});

describe('A history is not linearizable', () => {
  for (const [what, model, history] of bad) {
    it(`with ${what}`, () => assert.equal(checkHistory(history, model).isLinearizable, false));
  }

  it('and the result names the operations that cannot come next', () => {
    const first = op(1, 2, place('a', ONE), PLACED);
    const second = op(3, 4, place('b', ONE), PLACED);
    const result = checkHistory([second, first], seat);
    assert.ok(!result.isLinearizable);
    assert.deepEqual(result.explained, [first]);
    assert.deepEqual(result.stuckAt, [second]);
  });
});
