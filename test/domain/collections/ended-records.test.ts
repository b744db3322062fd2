import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EndedRecords, KEPT_MS } from '#domain/collections/ended-records.ts';

const STATUSES = ['RELEASED', 'EXPIRED'] as const;
const MINUTE = 60_000;
const idOf = (n: number): string => `hld_1_${n.toString(36).padStart(24, '0')}`;

function filled(count: number, everyMs = 1): EndedRecords<(typeof STATUSES)[number]> {
  const records = new EndedRecords(STATUSES, 1);
  for (let n = 0; n < count; n += 1) {
    records.add(idOf(n), `session-${n}`, { status: STATUSES[n % 2]!, times: [n + 0.5] }, n * everyMs);
  }
  return records;
}

describe('Records that ended lately', () => {
  it('are found by id and key, however many there are', () => {
    const records = filled(50_000);
    for (let n = 0; n < 50_000; n += 97) {
      assert.deepEqual(records.find(idOf(n), `session-${n}`), { status: STATUSES[n % 2], times: [n + 0.5] });
      assert.deepEqual(records.find(idOf(n), null), { status: STATUSES[n % 2], times: [n + 0.5] });
      assert.equal(records.find(idOf(n), `session-${n + 1}`), null);
      assert.equal(records.find(idOf(n + 50_000), null), null);
    }
    assert.deepEqual([records.countOf('RELEASED'), records.countOf('EXPIRED')], [25_000, 25_000]);
  });

  it('are kept for two hours and dropped soon after', () => {
    const perMinute = 10;
    const minutes = 300;
    const records = filled(minutes * perMinute, MINUTE / perMinute);
    const endedAt = (n: number): number => (n * MINUTE) / perMinute;
    const now = endedAt(minutes * perMinute - 1);
    for (let n = 0; n < minutes * perMinute; n += 1) {
      if (endedAt(n) + KEPT_MS > now) assert.ok(records.find(idOf(n), null), `${n} ended less than two hours ago`);
    }
    assert.ok(records.size <= (KEPT_MS / MINUTE + 21) * perMinute, `${records.size} records are kept`);
  });

  it('are the same after a snapshot, as text', () => {
    const records = filled(3_000, 1_000);
    const parts = [...records.parts(100)];
    assert.ok(parts.every(({ numbers }) => numbers.length <= 400));
    const again = new EndedRecords(STATUSES, 1);
    for (const part of JSON.parse(JSON.stringify(parts)) as typeof parts) again.restore(part);
    assert.deepEqual([...again.parts(100)], parts);
    assert.deepEqual(again.find(idOf(1_234), 'session-1234'), records.find(idOf(1_234), 'session-1234'));
  });

  it('without a time of their end are kept from the time of the next one that ends', () => {
    const records = new EndedRecords(STATUSES, 1);
    records.adopt('old', 'key', { status: 'EXPIRED', times: [1] });
    records.add('new', 'key', { status: 'EXPIRED', times: [2] }, 100 * KEPT_MS);
    assert.ok(records.find('old', 'key'));
    records.add('newer', 'key', { status: 'EXPIRED', times: [3] }, 102 * KEPT_MS);
    assert.equal(records.find('old', 'key'), null);
  });
});
