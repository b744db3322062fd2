/** What operators are shown of facts: everything useful, no secret, and no field that no list names. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { SERVICE_FACT_TYPES } from '#engine/service-facts.ts';
import { shownFact, withoutSecretIds } from '#engine/shown-facts.ts';
import { FACT_TYPES } from '#domain/fact.ts';
import type { FactRow } from '#persistence/journal.ts';
import { playEveryFact } from '../golden/every-fact.ts';
import { goldenJournals, readGolden } from '../golden/golden.ts';

/** Fields whose values are secrets, at any depth; a list of its own, independent of the list under test. */
const SECRETS =
  /^(holdId|replacedHoldId|sessionKey|entryIds?|drawSeed|seed|opening|idempotency|checkoutSessionId|redirectUrl|tracking)$/;

/** Every text and number within a value. */
function* leavesOf(value: unknown): Generator<string> {
  if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) yield* leavesOf(each);
  } else if (value !== null) yield String(value);
}

/** The secrets of a fact, at any depth. */
function* secretsOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [field, each] of Object.entries(value)) {
    if (SECRETS.test(field)) yield* leavesOf(each);
    else yield* secretsOf(each);
  }
}

const dataOf = ({ data }: FactRow): Record<string, unknown> => JSON.parse(data) as Record<string, unknown>;
const shownOf = ({ type, data }: FactRow): Record<string, unknown> =>
  JSON.parse(shownFact(type, data)) as Record<string, unknown>;

const goldenRows = goldenJournals().flatMap((name) => readGolden(name));
const played = playEveryFact().then(({ rows }) => rows);

describe('A fact that operators are shown', () => {
  it('has none of the secrets of any fact, of any type and at any depth', async () => {
    const rows = [...goldenRows, ...(await played)];
    const types = new Set(rows.map(({ type }) => type));
    assert.deepEqual([...Object.keys(FACT_TYPES), ...Object.keys(SERVICE_FACT_TYPES)].sort(), [...types].sort());
    // Short ones, such as a count in what buyers were tracked by, are parts of many texts. A checkout without a session
    // has its order's id in place of a session key, and that is shown.
    const secrets = new Set(
      rows.flatMap((row) => [...secretsOf(dataOf(row))]).filter((text) => text.length > 3 && !text.startsWith('ord_')),
    );
    assert.ok(secrets.size > 50, `${secrets.size} secrets`);
    for (const row of rows) {
      const shown = JSON.stringify(shownOf(row));
      for (const secret of secrets) {
        // An address of the demo provider ends with the id of its session.
        assert.ok(!shown.includes(`"${secret}"`), `${row.type} shows ${secret}: ${shown}`);
        if (secret.length > 20) assert.ok(!shown.includes(secret), `${row.type} shows ${secret}: ${shown}`);
      }
    }
  });

  it('has every other value unchanged', async () => {
    const useful =
      /^(orderId|performanceId|definition|items|lines|amountCents|refundDueCents|totalCents|ticketIds|cause)$/;
    for (const row of [...goldenRows, ...(await played)]) {
      const data = dataOf(row);
      const shown = shownOf(row);
      assert.deepEqual(Object.keys(shown), Object.keys(data), 'the names of fields stay');
      for (const [field, value] of Object.entries(data)) {
        if (value === null) assert.equal(shown[field], null, `${row.type} ${field}`);
        if (useful.test(field)) assert.deepEqual(shown[field], value, `${row.type} ${field}`);
      }
    }
    const started = goldenRows.find(({ type }) => type === 'DrawStarted')!;
    assert.equal(shownOf(started)['entryCount'], dataOf(started)['entryCount']);
    const placed = goldenRows.find(({ type }) => type === 'OrderPlaced')!;
    assert.deepEqual(shownOf(placed)['customer'], dataOf(placed)['customer']);
  });

  it('has the same label for the same hold or entry everywhere, and no label of a session key', () => {
    const id = 'hld_1_AAAAAAAAAAAAAAAAAAAAAAAA';
    const label = `***${createHash('sha256').update(id).digest('hex').slice(0, 8)}`;
    assert.equal(shownFact('HoldReleased', JSON.stringify({ holdId: id })), `{"holdId":"${label}"}`);
    const placed = JSON.parse(shownFact('HoldPlaced', JSON.stringify({ replacedHoldId: id, sessionKey: id })));
    assert.deepEqual(placed, { replacedHoldId: label, sessionKey: '***' });
    assert.equal(
      shownFact('LineDrawn', JSON.stringify({ from: 0, entryIds: [id] })),
      `{"from":0,"entryIds":["${label}"]}`,
    );
  });

  it('hides a field that no list names, a value of another form, and a type that is not known', () => {
    const secret = 'something that a newer version writes';
    const later = { holdId: 'hld_1_x', later: secret, nested: { sessionKey: secret } };
    assert.deepEqual(JSON.parse(shownFact('HoldReleased', JSON.stringify(later))), {
      holdId: '***'.concat(createHash('sha256').update('hld_1_x').digest('hex').slice(0, 8)),
      later: '***',
      nested: '***',
    });
    const lines = [{ performanceId: 'fri', quantity: { of: secret }, holder: secret }, secret];
    const changed = { holdId: 7, expiresAt: { secret }, lines };
    assert.deepEqual(JSON.parse(shownFact('HoldChanged', JSON.stringify(changed))), {
      holdId: '***',
      expiresAt: '***',
      lines: [{ performanceId: 'fri', quantity: '***', holder: '***' }, '***'],
    });
    assert.deepEqual(JSON.parse(shownFact('SeatTeleported', JSON.stringify({ to: secret }))), { to: '***' });
    assert.deepEqual(JSON.parse(shownFact('toString', JSON.stringify({ to: secret }))), { to: '***' });
    assert.equal(shownFact('HoldReleased', JSON.stringify([secret])), '"***"');
  });
});

describe('A text for operators', () => {
  it('has labels in place of the ids of holds, entries and checkout sessions, and keeps those of orders and tickets', () => {
    const idOf = (prefix: string): string => `${prefix}_1z_-bcdefghijklmnopqrstuvw_`;
    const text = ['hld', 'que', 'cs', 'ord', 'tkt']
      .map((prefix) => `it is ${idOf(prefix)}, twice: ${idOf(prefix)}.`)
      .join('\n');
    const shown = withoutSecretIds(text);
    for (const prefix of ['hld', 'que', 'cs']) assert.ok(!shown.includes(idOf(prefix)), shown);
    for (const prefix of ['ord', 'tkt'])
      assert.ok(shown.includes(`it is ${idOf(prefix)}, twice: ${idOf(prefix)}.`), shown);
    assert.match(shown, /^it is (\*\*\*[0-9a-f]{8}), twice: \1\.$/m);
  });
});
