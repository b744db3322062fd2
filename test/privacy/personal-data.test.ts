import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Overloaded } from '#actors/admission.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { createSealer } from '#privacy/sealing.ts';
import { keyIdOf, type PersonalData, type SealedOrder } from '#domain/personal.ts';
import { MemoryKeys } from '#persistence/memory/keys.ts';
import type { CancellationView, RefundView } from '#domain/view.ts';
import { troublesAt } from '../fixtures/troubles.ts';

const MARIA = { email: 'maria@example.com', name: 'Maria', documentNumber: null, phone: '+49 361 1' };
const GRACE = { name: 'Grace', email: 'grace@example.com', documentNumber: null, phone: null };
const DATA: PersonalData = {
  customer: MARIA,
  attendees: [[{ name: 'Ada', email: null, documentNumber: '7', phone: null }], null],
  tracking: { utm_source: 'mail' },
};

function openFixture() {
  const keys = new MemoryKeys();
  const { seal } = createSealer(keys)('evt_a');
  const sealedOrder = (orderId: string, data: PersonalData = DATA): SealedOrder => ({
    orderId,
    sealed: seal(orderId, 'OrderPlaced', data),
    open: null,
    erasure: null,
  });
  return { keys, seal, sealedOrder, reader: new PersonalDataReader(keys) };
}

const refundOf = (more: Partial<RefundView>): RefundView => ({
  id: 'ref_1',
  amountCents: 100,
  at: 5,
  operator: null,
  note: null,
  ...more,
});

describe('The personal data of an order', () => {
  it('are opened with its key, notes included, and open ones of older facts are shown as they are', async () => {
    const { reader, seal, sealedOrder } = openFixture();
    const cancellation: CancellationView = {
      cause: 'OPERATOR',
      at: 4,
      operator: 'Ada',
      note: null,
      sealedNote: seal('ord_1', 'OrderCancelled', 'ERASED'),
    };
    const refunds = [
      refundOf({ sealedNote: seal('ord_1', 'RefundRecorded', 'UNREADABLE') }),
      refundOf({ note: 'of an older fact' }),
      refundOf({}),
    ];
    const amendments = [{ operator: null, note: null, sealedNote: seal('ord_1', 'OrderAmended', 'she is ill') }];
    assert.deepEqual(await reader.open({ personal: sealedOrder('ord_1'), cancellation, refunds, amendments }), {
      state: 'OPEN',
      erasedAt: null,
      ...DATA,
      cancellationNote: 'ERASED',
      refundNotes: ['UNREADABLE', 'of an older fact', null],
      amendmentNotes: ['she is ill'],
      counterNote: null,
      scanNotes: [],
    });
    const personal = { orderId: 'ord_0', sealed: null, open: DATA, erasure: null };
    assert.deepEqual((await reader.open({ personal })).customer, MARIA);
  });

  it('read as erased when a fact says so, and when their key is gone without one', async () => {
    const { reader, keys, seal, sealedOrder } = openFixture();
    const erasure = { at: 9, operator: 'Ada', cause: 'REQUEST' } as const;
    const nothing = { customer: null, attendees: [], tracking: null, cancellationNote: null };
    const erased = { orderId: 'ord_1', sealed: null, open: null, erasure };
    assert.deepEqual(await reader.open({ personal: erased }), {
      state: 'ERASED',
      erasedAt: 9,
      ...nothing,
      refundNotes: [],
      amendmentNotes: [],
      counterNote: null,
      scanNotes: [],
    });
    const personal = sealedOrder('ord_2');
    const refunds = [refundOf({ sealedNote: seal('ord_2', 'RefundRecorded', 'to her bank') })];
    await keys.destroy([keyIdOf(personal.sealed!), keyIdOf(refunds[0]!.sealedNote!)]);
    assert.deepEqual(await reader.open({ personal, refunds }), {
      state: 'ERASED',
      erasedAt: null,
      ...nothing,
      refundNotes: [null],
      amendmentNotes: [],
      counterNote: null,
      scanNotes: [],
    });
  });

  it('that are damaged are reported once, and the other orders are opened', async (t) => {
    const { reader, sealedOrder } = openFixture();
    const troubles = troublesAt(t, 'personal-data');
    const moved = { ...sealedOrder('ord_1'), orderId: 'ord_2' };
    for (let time = 0; time < 2; time += 1) {
      const opened = await reader.openAll([{ personal: moved }, { personal: sealedOrder('ord_3') }]);
      assert.deepEqual(
        opened.map(({ state, customer }) => [state, customer]),
        [
          ['UNREADABLE', null],
          ['OPEN', MARIA],
        ],
      );
    }
    assert.equal(troubles.length, 1);
    assert.match(troubles[0]!.message, /ord_2/);
    assert.doesNotMatch(troubles[0]!.message, /maria/i);
  });

  it('of many orders are opened with one read of the keys, in slices, in the order of the orders', async () => {
    const { keys, sealedOrder } = openFixture();
    let reads = 0;
    const reader = new PersonalDataReader({
      read: (ids) => {
        reads += 1;
        return keys.read(ids);
      },
    });
    const orders = Array.from({ length: 300 }, (_, n) => ({
      personal: sealedOrder(`ord_${n}`, { ...DATA, customer: { ...MARIA, name: `Maria ${n}` } }),
    }));
    let turnsOfOthers = 0;
    const count = (): void => {
      turnsOfOthers += 1;
      if (turnsOfOthers < 100) setImmediate(count);
    };
    setImmediate(count);
    const opened = await reader.openAll(orders);
    assert.equal(reads, 1);
    assert.deepEqual(
      opened.map(({ customer }) => customer?.name),
      orders.map((_, n) => `Maria ${n}`),
    );
    assert.ok(turnsOfOthers >= 8, `${turnsOfOthers} turns of others meanwhile`);
  });

  it('stand beside the sealed text of a stored fact, where they can be read', async () => {
    const { reader, keys, seal, sealedOrder } = openFixture();
    const { sealed } = sealedOrder('ord_1');
    const placed = {
      type: 'OrderPlaced',
      data: JSON.stringify({ orderId: 'ord_1', personal: { sealed, addressHash: 'x' } }),
    };
    const sealedNote = seal('ord_1', 'RefundRecorded', 'to her bank');
    const refund = { type: 'RefundRecorded', data: JSON.stringify({ orderId: 'ord_1', note: null, sealedNote }) };
    const sealedAttendees = seal('ord_1', 'OrderAmended', [GRACE]);
    const amendmentNote = seal('ord_1', 'OrderAmended', 'she is ill');
    const renamed = { orderId: 'ord_1', note: null, sealedNote: amendmentNote, sealedAttendees };
    const openedIn = async (row: typeof placed): Promise<unknown> =>
      (JSON.parse(await reader.openFact(row)) as { opened?: unknown }).opened;
    assert.deepEqual(await openedIn(placed), DATA);
    assert.equal(await openedIn(refund), 'to her bank');
    for (const type of ['AmendmentRequested', 'OrderAmended']) {
      const row = { type, data: JSON.stringify(renamed) };
      const both = { ...renamed, opened: 'she is ill', openedAttendees: [GRACE] };
      assert.deepEqual(JSON.parse(await reader.openFact(row)), both);
    }
    for (const type of ['OrderExpired', 'RefundRecorded']) {
      const plain = { type, data: '{"orderId":"ord_1","note":"open"}' };
      assert.equal(await reader.openFact(plain), plain.data);
    }
    await keys.destroy([keyIdOf(sealed!), keyIdOf(sealedNote)]);
    assert.deepEqual([await openedIn(placed), await openedIn(refund)], [null, null]);
  });

  it('are refused as Overloaded while the keys cannot be read', async () => {
    const { reader, keys, sealedOrder } = openFixture();
    const personal = sealedOrder('ord_1');
    keys.fail(true);
    await assert.rejects(reader.open({ personal }), Overloaded);
    keys.fail(false);
    assert.equal((await reader.open({ personal })).state, 'OPEN');
  });
});
