import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../property.ts';
import { CSV_HEADING, csvOf, jsonOf } from '#cli/folder/order-records.ts';
import { viewOrder } from '#domain/orders/view.ts';
import type { OpenedOrder } from '#privacy/personal-data.ts';
import type { OrderView } from '#domain/view.ts';
import {
  anna,
  buy,
  checkOut,
  item,
  openCheckoutEvent,
  paymentOf,
  recordPayment,
  report,
} from '../../fixtures/commands.ts';

function orderOf(): OrderView {
  const fixture = openCheckoutEvent();
  const started = checkOut(fixture, buy([item('seat', 2)]));
  const { id } = recordPayment(fixture, report(paymentOf(started), 'paid'));
  return viewOrder(fixture.state, fixture.state.orders.byId.get(id)!);
}

/** What is known of the buyer of `orderOf`. */
function openedOf(customer: Partial<typeof anna> = {}, more: Partial<OpenedOrder> = {}): OpenedOrder {
  return {
    state: 'OPEN',
    erasedAt: null,
    customer: { ...anna, ...customer },
    attendees: [[{ name: 'Ada', email: null, documentNumber: null, phone: null }]],
    tracking: null,
    cancellationNote: null,
    refundNotes: [],
    amendmentNotes: [],
    counterNote: null,
    scanNotes: [],
    ...more,
  };
}

const ERASED: OpenedOrder = {
  ...openedOf(),
  state: 'ERASED',
  erasedAt: Date.UTC(2027, 5, 1),
  customer: null,
  attendees: [],
};

/** Reads one record of RFC 4180. */
function readCsv(line: string): string[] {
  const cells = [...line.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(?:,|\r\n$)/g)].map(([, cell]) => cell!);
  return cells.map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
}

const heading = readCsv(CSV_HEADING);
const cell = (line: string, name: string) => readCsv(line)[heading.indexOf(name)];

describe('An exported order', () => {
  it('is a line of CSV with as many cells as the heading', () => {
    const line = csvOf(orderOf(), openedOf());
    assert.equal(readCsv(line).length, heading.length);
    assert.equal(cell(line, 'status'), 'CONFIRMED');
    assert.equal(cell(line, 'total_cents'), '5198');
    assert.equal(cell(line, 'tickets'), '2');
    assert.match(cell(line, 'placed_at')!, /^2027-05-07T12:00:00\.000Z$/);
    assert.match(cell(line, 'items')!, /^2 x seat \(\S+ \S+\)$/);
  });

  it('has its sums in the minor and in the main unit of its currency', () => {
    for (const [currency, total] of Object.entries({ EUR: '51.98', JPY: '5198', KWD: '5.198' })) {
      const line = csvOf({ ...orderOf(), currency, refundsDue: [{ amountCents: 5, currency: 'USD' }] }, openedOf());
      assert.deepEqual([cell(line, 'total_cents'), cell(line, 'total'), cell(line, 'paid')], ['5198', total, total]);
      assert.equal(cell(line, 'foreign_refunds_due'), '0.05 USD');
    }
  });

  it('has no cell that a spreadsheet reads as a formula', () => {
    const order = orderOf();
    for (const name of ['=1+1', '+49 30 1', '-2', '@SUM(A1)', '\uff1d1', '\uff0b1', '\uff0d1', '\uff20A1']) {
      assert.equal(cell(csvOf(order, openedOf({ name })), 'customer_name'), `'${name}`);
      for (const before of ['a;', 'a\t', 'a\r\n', 'a\u0085', 'a\u2028', '\t']) {
        assert.equal(cell(csvOf(order, openedOf({ name: before + name })), 'customer_name'), `${before}'${name}`);
      }
      assert.equal(cell(csvOf(order, openedOf({ name: `a ${name}` })), 'customer_name'), `a ${name}`);
    }
  });

  it('has every text in quotes, and numbers and empty cells bare', () => {
    const line = csvOf(orderOf(), openedOf({ name: 'Ada "Countess" Lovelace' }));
    assert.match(line, /,"Ada ""Countess"" Lovelace",/);
    assert.match(line, /,5198,/);
    assert.match(line, /,,/);
  });

  it('has texts that read back from the CSV unchanged', () => {
    const order = orderOf();
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
        const kept = cell(csvOf(order, openedOf({ name })), 'customer_name')!;
        assert.equal(kept.replace(/(^|[;\t\n\r])'(?=[=+\-@])/g, '$1'), name);
      }),
      { numRuns: 50 },
    );
  });

  it('is JSON with every exported field; names of tracking fields are unchanged', () => {
    const tracking = { utmSource: 'x', placedAt: '5' };
    const order = JSON.parse(jsonOf(orderOf(), openedOf({}, { tracking }))) as Record<string, unknown>;
    assert.deepEqual(order['tracking'], tracking);
    assert.equal(order['placed_at'], '2027-05-07T12:00:00.000Z');
    assert.equal(order['total_cents'], 5198);
    assert.equal((order['payments'] as unknown[]).length, 1);
    const tickets = order['tickets'] as { attendee: { name: string } | null }[];
    assert.deepEqual(
      tickets.map(({ attendee }) => attendee?.name),
      ['Ada', undefined],
    );
    assert.equal((order['customer'] as { email: string }).email, anna.email);
    assert.equal(order['erased_at'], null);
  });

  it('has no time as a number, of refunds and amendments neither, and the notes of both', () => {
    const at = Date.UTC(2027, 5, 1);
    const by = { operator: null, note: null };
    const refund = { id: 'ref_1', amountCents: 5, at, finishedAt: at, nextTryAt: at, ...by };
    const cents = { differenceCents: 0, feeCents: 0, toPayCents: 0, toRefundCents: 0 };
    const times = { createdAt: at, appliedAt: at, expiresAt: at };
    const amendment = {
      id: 'amd_1',
      status: 'APPLIED',
      by: 'BUYER',
      tickets: [],
      payment: null,
      ...times,
      ...cents,
      ...by,
    };
    const order = { ...orderOf(), refunds: [refund], amendments: [amendment] } as OrderView;
    const json = jsonOf(order, openedOf({}, { refundNotes: ['by cash'], amendmentNotes: ['ill again'] }));
    assert.doesNotMatch(json, /:[0-9]{13}/);
    const { refunds, amendments } = JSON.parse(json) as Record<'refunds' | 'amendments', { readonly note: string }[]>;
    assert.deepEqual([refunds[0]!.note, amendments[0]!.note], ['by cash', 'ill again']);
    assert.equal(json.match(/2027-06-01T00:00:00\.000Z/g)?.length, 6);
  });

  it('has nothing of its buyer once it was erased, and says when', () => {
    const line = csvOf(orderOf(), ERASED);
    const personal = ['customer_name', 'customer_email', 'customer_phone', 'customer_document_number'];
    assert.deepEqual(
      personal.map((name) => cell(line, name)),
      ['', '', '', ''],
    );
    assert.deepEqual([cell(line, 'total_cents'), cell(line, 'erased_at')], ['5198', '2027-06-01T00:00:00.000Z']);
    const json = jsonOf(orderOf(), ERASED);
    const { customer, erased_at: erasedAt } = JSON.parse(json) as Record<string, unknown>;
    assert.deepEqual([customer, erasedAt], [null, '2027-06-01T00:00:00.000Z']);
    assert.doesNotMatch(json, new RegExp(`Ada|${anna.name}|${anna.email}`));
  });
});
