import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OrderRecords } from '#domain/orders/order-records.ts';
import type { Order } from '#domain/orders/order.ts';

const TICKETS = 5_000;
/** Several times as many tickets as are kept unpacked. */
const ORDERS = 60;

const orderOf = (number: number): Order =>
  ({
    id: `ord_1_${number}`,
    number,
    status: 'CONFIRMED',
    payments: [],
    refunds: [],
    ticketIds: Array.from({ length: TICKETS }, (_, n) => `tkt_1_${number}_${n}`),
    mailsRequestedAt: [],
  }) as unknown as Order;

describe('Large orders that are settled', () => {
  it('are read as they were settled last, however many there are', () => {
    const records = new OrderRecords(({ mailsRequestedAt }) => mailsRequestedAt!.length);
    const change = (id: string): void => {
      const order = records.open(id)!;
      order.mailsRequestedAt = [...order.mailsRequestedAt!, order.number];
      records.settle(order);
    };
    const expect = (times: number): void => {
      for (let number = 0; number < ORDERS; number += 1) {
        const mailsRequestedAt = Array.from({ length: times }, () => number);
        assert.deepEqual(records.at(number), { ...orderOf(number), mailsRequestedAt });
        assert.equal(records.tagAt(number), times);
      }
      assert.equal(records.settledCount, ORDERS);
    };
    for (let number = 0; number < ORDERS; number += 1) {
      const order = orderOf(number);
      records.append(order);
      records.settle(order);
    }
    expect(0);
    for (let number = 0; number < ORDERS; number += 1) for (let n = 0; n < 2; n += 1) change(`ord_1_${number}`);
    expect(2);
    // The same ones again, now that they were read from their texts.
    for (let number = 0; number < ORDERS; number += 1) change(`ord_1_${number}`);
    expect(3);
  });

  it('are not packed by every turn that changes them', () => {
    const records = new OrderRecords(() => 0);
    const order = orderOf(0);
    records.append(order);
    const settle = (times: number): number => {
      const begin = process.threadCpuUsage().user;
      for (let n = 0; n < times; n += 1) records.settle(records.open(order.id)!);
      return process.threadCpuUsage().user - begin;
    };
    settle(100);
    const micros = settle(1_000) / 1_000;
    assert.ok(micros < 200, `${micros} µs to take a large order and to give it back`);
  });
});
