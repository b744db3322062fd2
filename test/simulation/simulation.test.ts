/** The part of the simulation that runs in the suite; `npm run simulate` runs as many sales as there is time for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate } from './run.ts';
import { playSeeds } from './seeds.ts';
import { commandOf } from './shrink.ts';
import { deep } from '../depth.ts';

const SEEDS_OF_THE_SUITE = 100;
const SEEDS = deep(SEEDS_OF_THE_SUITE);
const SCENARIO = { stepsMax: 40, buyersMax: 8, without: new Set<string>() };

/** The cases that a run must reach; the rarest come once in about 200 sales. */
// prettier-ignore
const MUST_BE_SEEN = [
  'PlaceHold', 'ChangeHold', 'ReleaseHold', 'StartCheckout', 'OpenPayment', 'RecordCheckoutSession', 'RecordPayment', 'CancelOrder',
  'RecordRefund', 'AmendOrder', 'amendment: paid', 'amended by OPERATOR', 'AMENDMENT_NOT_ALLOWED', 'ORDER_NOT_AMENDABLE', 'EraseOrder', 'EraseDueOrders', 'JoinQueue', 'PollQueue', 'LeaveQueue', 'DefineEvent', 'CancelPerformance', 'BlockSeats', 'UnblockSeats',
  'INSUFFICIENT_TICKETS', 'SEAT_TAKEN', 'SEAT_COUNT_MISMATCH', 'SEAT_NOT_IN_TICKET_TYPE', 'HOLD_EXPIRED',
  'HOLD_NOT_ACTIVE', 'HOLD_NOT_FOUND', 'QUEUE_PASS_REQUIRED', 'QUEUE_PASS_INVALID', 'QUEUE_NOT_ENABLED',
  'MAX_TICKETS_PER_EMAIL_EXCEEDED', 'IDEMPOTENCY_KEY_REUSED', 'ORDER_NOT_ERASABLE', 'OVERLOADED', 'crash',
  'full disk', 'read', 'read while full', 'replay', 'leap', 'snapshot', 'over HTTP', 'damaged disk', 'draw', 'erased again',
  'by a front', 'front died at work', 'beside the ring',
];

/** The cases that only a deep run must reach. */
const MUST_BE_SEEN_IN_TIME = [
  'refund again',
  'retention',
  'note erased',
  'keys not destroyed',
  'erasure cut short',
  'cancellation cut short',
  'refund matched',
  'amended by BUYER',
  'CancelAmendment',
  'amendment: opened again',
  'amendment: declined',
  'amendment: cancelled at the provider',
  'amendment: withdrawn again',
  'amendment: late money taken',
  'amendment: late money due back',
  'AMENDMENT_PENDING',
  'AMENDMENT_NOT_PENDING',
  'TICKET_VOID',
  'ORDER_ERASED',
  'foreign money',
  'report of the other provider',
  'late money taken',
  'late money due back',
  'UPDATE_CONFLICT',
  'PROMO_CODE_EXHAUSTED',
  'ATTENDEE_COUNT_MISMATCH',
  'HOLD_ITEMS_MISMATCH',
  'PROMO_CODE_INVALID',
  'SEAT_NOT_SELLABLE',
];

describe('A simulated sale', () => {
  it(`gives every answer as predicted under crashes, full disks and a bad network, in ${SEEDS} sales`, async () => {
    await playSeeds(
      SEEDS,
      SEEDS > SEEDS_OF_THE_SUITE ? [...MUST_BE_SEEN, ...MUST_BE_SEEN_IN_TIME] : MUST_BE_SEEN,
      (seed) => simulate({ ...SCENARIO, seed }),
      (seed) => commandOf({ ...SCENARIO, seed }),
    );
  });

  it('is the same every time for the same seed', async () => {
    // One with threads that ask, one without.
    for (const seed of [5, 6]) {
      const [first, second] = [await simulate({ ...SCENARIO, seed }), await simulate({ ...SCENARIO, seed })];
      assert.deepEqual(first, second);
      assert.equal(first.seen.has('by a front'), seed === 5);
    }
  });
});
