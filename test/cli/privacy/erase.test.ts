/**
 * `holdfast erase` erases what was asked for and nothing else, asks before it does, and says what it could not erase.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { canAsk, confirm } from '#cli/terminal/command.ts';
import { buy, start } from '../../fixtures/checkout.ts';
import { floor } from '../../fixtures/events.ts';
import { newFolder } from '../../fixtures/folders.ts';
import { folderOf, readGolden } from '../../golden/golden.ts';
import { holdfast, samples, serving, succeeded, type Serving } from '../holdfast.ts';

interface Report {
  readonly ok: boolean;
  readonly erased: readonly { readonly order_id: string; readonly erased_at: string }[];
  readonly erased_before: readonly { readonly order_id: string }[];
  readonly refused: readonly { readonly order_id: string; readonly code: string }[];
  readonly attended: readonly { readonly order_id: string; readonly event_id: string }[];
}

const ADA = { email: 'ada@example.org', name: 'Ada' };
const BOB = { email: 'bob@example.org', name: 'Bob' };

/** One single of the club night, with a name on it or without. */
const single = (customer: object, attendee: object | null) => ({
  event_id: 'evt_club',
  items: [floor(1, attendee === null ? {} : { attendees: [attendee] })],
  customer,
});

interface Shop {
  readonly data: string;
  readonly service: Serving;
  /** Ada's own order, Ada's order whose payment is awaited, and Bob's with a ticket for Ada. */
  readonly own: string;
  readonly pending: string;
  readonly named: string;
}

async function openShop(t: TestContext): Promise<Shop> {
  const data = path.join(newFolder(t), 'data');
  const club = path.join(samples, 'club-night.json');
  succeeded(await holdfast(['load', '--offline', club, '--data', data]));
  const service = await serving(t, data);
  const { order_id: own } = await buy(service.client, single(ADA, null));
  const more = single({ ...ADA, email: 'Ada+more@example.org' }, null);
  const { order_id: pending } = await start(service.client, more);
  const { order_id: named } = await buy(service.client, single(BOB, { name: 'Ada', email: 'ADA@example.org' }));
  return { data, service, own, pending, named };
}

const namesIn = async (data: string): Promise<(string | null)[]> => {
  const orders = await holdfast(['export', 'orders', 'evt_club', '--format', 'json', '--data', data]);
  return orders.json<{ customer: { name: string | null } | null }[]>().map(({ customer }) => customer?.name ?? null);
};

describe('erase', () => {
  it('erases the orders of an address through the service, and names what it does not erase', async (t) => {
    const { data, service, own, pending, named } = await openShop(t);
    const args = ['erase', '--email', ADA.email];
    const unasked = await holdfast(args, service.environment);
    assert.equal(unasked.code, 2);
    assert.match(unasked.stderr, /--yes is missing: there is nobody to ask here/);
    assert.deepEqual(await namesIn(data), ['Ada', 'Ada', 'Bob']);

    const first = await holdfast([...args, '--yes', '--json', '--operator', 'Zoë'], service.environment);
    assert.equal(first.code, 1, 'one could not be erased');
    const report = first.json<Report>();
    assert.deepEqual(
      report.erased.map((each) => each.order_id),
      [own],
    );
    assert.deepEqual(
      report.refused.map((each) => [each.order_id, each.code]),
      [[pending, 'ORDER_NOT_ERASABLE']],
    );
    assert.deepEqual(report.attended, [{ order_id: named, event_id: 'evt_club' }]);
    assert.deepEqual(await namesIn(data), [null, 'Ada', 'Bob']);
    const [fact] = (await holdfast(['journal', '--type', 'OrderErased', '--json'], service.environment)).stdout.split(
      '\n',
    );
    const { data: said } = JSON.parse(fact!) as { data: { orderId: string; operator: string; cause: string } };
    assert.deepEqual([said.orderId, said.operator, said.cause], [own, 'Zoë', 'REQUEST']);

    const text = await holdfast([...args, '--yes'], service.environment);
    assert.ok(!text.stdout.includes(own), 'the erased order is found by no address');
    assert.match(text.stdout, /The personal data of 0 orders was erased\.\n/);
    const byId = await holdfast(['erase', own, '--yes'], service.environment);
    assert.match(byId.stdout, new RegExp(`^${own} .+ erased at \\d{4}-`, 'm'));
    assert.match(byId.stdout, /The personal data of 0 orders was erased, 1 had been erased before\.\n/);
    assert.match(
      text.stdout,
      new RegExp(`^${pending} was not erased: ORDER_NOT_ERASABLE: its payment is awaited`, 'm'),
    );
    assert.match(text.stdout, new RegExp(`which are not erased:\n  ${named}  evt_club\n`));
    await service.stop();
  });

  it('erases an order without a service, also one that only names the person, and does nothing twice', async (t) => {
    const { data, service, named } = await openShop(t);
    await service.stop();
    const run = (...args: string[]) => holdfast(['erase', ...args, '--yes', '--json', '--data', data]);
    const first = succeeded(await run(named));
    assert.deepEqual(
      first.json<Report>().erased.map((each) => each.order_id),
      [named],
    );
    assert.deepEqual(await namesIn(data), ['Ada', 'Ada', null]);
    const again = succeeded(await run(named));
    const { erased, erased_before: before } = again.json<Report>();
    assert.deepEqual([erased, before.map((each) => each.order_id)], [[], [named]]);
    const erasures = await holdfast(['journal', '--type', 'OrderErased', '--data', data]);
    assert.equal(erasures.stdout.trimEnd().split('\n').length, 1);
    const unknown = await run('ord_1_aaaaaaaaaaaaaaaaaaaaaaaa');
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /there is no order ord_1_a+\n/);
    succeeded(await holdfast(['verify', '--data', data]));
  });

  it('names orders of an older version, which must be sealed first', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    const { code, json, stderr } = await holdfast([
      'erase',
      '--email',
      'ada@example.com',
      '--yes',
      '--json',
      '--data',
      folder,
    ]);
    assert.equal(code, 1, stderr);
    const { erased, refused } = json<Report>();
    assert.deepEqual([erased, new Set(refused.map((each) => each.code))], [[], new Set(['ORDER_NOT_SEALED'])]);
    const out = path.join(newFolder(t), 'sealed');
    succeeded(await holdfast(['seal', folder, out]));
    const again = await holdfast(['erase', '--email', 'ada@example.com', '--yes', '--json', '--data', out]);
    const now = again.json<Report>();
    assert.deepEqual(
      now.refused.map((each) => each.code),
      ['ORDER_NOT_ERASABLE'],
      again.stderr,
    );
    assert.equal(now.erased.length, refused.length - 1);
  });
});

describe('The question before an erasure', () => {
  const terminal = (typed: string | null) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    if (typed === null) input.end();
    else input.write(typed);
    return { input, output };
  };

  it('takes yes alone for a yes', async () => {
    assert.equal(await confirm('Erase?', terminal('yes\n')), true);
    assert.equal(await confirm('Erase?', terminal(' YES \n')), true);
    for (const typed of ['y\n', 'no\n', '\n', 'yes please\n', null]) {
      assert.equal(await confirm('Erase?', terminal(typed)), false, String(typed));
    }
  });

  it('is asked on a terminal alone', () => {
    const { input, output } = terminal('');
    assert.equal(canAsk({ input, output }), false);
    const tty = <Stream extends object>(stream: Stream) => Object.assign(stream, { isTTY: true });
    assert.equal(canAsk({ input: tty(input), output }), false);
    assert.equal(canAsk({ input: tty(input), output: tty(output) }), true);
  });
});
