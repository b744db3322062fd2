/** `holdfast subject` tells everything about one person, nothing about another, and in a page that runs nothing. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { AdminOrder, type AdminTicketBody } from '#http/operators/orders/schema.ts';
import { Subject } from '#http/operators/subject.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { SubjectReport } from '#service/subject.ts';
import { newCustomer, settle, start } from '../../fixtures/checkout.ts';
import { item } from '../../fixtures/events.ts';
import { buyTickets, doorsGala } from '../../fixtures/doors.ts';
import { newFolder } from '../../fixtures/folders.ts';
import { openServiceFor } from '../../fixtures/service.ts';
import { folderOf, readGolden } from '../../golden/golden.ts';
import { holdfast, succeeded } from '../holdfast.ts';

type Told = SubjectReport;

async function tell(
  t: TestContext,
  folder: string,
  email: string,
): Promise<{ readonly told: Told; readonly page: string; readonly stdout: string; readonly text: string }> {
  const out = path.join(newFolder(t), 'about');
  const { stdout } = succeeded(await holdfast(['subject', '--email', email, '--out', out, '--data', folder]));
  const [json, html] = ['subject.json', 'subject.html'].map((name) => path.join(out, name)) as [string, string];
  for (const file of [json, html]) assert.equal(statSync(file).mode & 0o777, 0o600);
  const text = readFileSync(json, 'utf8');
  return { told: JSON.parse(text) as Told, page: readFileSync(html, 'utf8'), stdout, text };
}

/** The golden facts with another text in place of one. */
const replaced = (rows: readonly FactRow[], text: string, by: string): FactRow[] =>
  rows.map((row) => ({ ...row, data: row.data.replaceAll(text, JSON.stringify(by).slice(1, -1)) }));

describe('subject', () => {
  it('tells entries and exits, and why somebody was let in by hand', async (t) => {
    const service = await openServiceFor(t, [doorsGala()]);
    const { tickets, customer } = await buyTickets(service);
    const scan = (body: object) => service.operate('POST', `/admin/tickets/${tickets[0]}/scans`, { body });
    await scan({ kind: 'ENTRY', door_id: 'main', note: 'Forgot <his> coat.' });
    const { scans } = (await service.operate<AdminTicketBody>('GET', `/admin/tickets/${tickets[0]}`)).body;
    await scan({ kind: 'UNDO', undoes: scans[0]!.id, note: 'Wrong ticket.' });
    await scan({ kind: 'EXIT', door_id: 'main' });
    const { told, page } = await tell(t, service.folder, customer.email!);
    assert.deepEqual(
      told.orders[0]!.scans.map(({ ticket_id: id, kind, verdict, note, undone_by_hand: undone }) => [
        id,
        kind,
        verdict,
        note,
        undone?.note,
      ]),
      [
        [tickets[0], 'ENTRY', 'ADMIT', 'Forgot <his> coat.', 'Wrong ticket.'],
        [tickets[0], 'EXIT', 'NOT_INSIDE', null, undefined],
      ],
    );
    assert.match(page, /At the doors/);
    assert.match(page, /entry, taken back/);
    assert.match(page, /by hand: Forgot &lt;his&gt; coat\.; taken back by hand: Wrong ticket\./);
    assert.match(page, /exit, refused \(not inside\)/);
  });

  it('tells the orders of a buyer over all events, with tickets, money, tracking and facts', async (t) => {
    const rows = readGolden('journal-1.ndjson');
    const folder = await folderOf(t, rows);
    const { told, page, stdout } = await tell(t, folder, 'ADA@example.com');
    const placed = rows.filter(({ type }) => type === 'OrderPlaced');
    assert.match(stdout, new RegExp(`^${placed.length} orders placed with ADA@example\\.com, 0 orders of others`));
    assert.equal(told.orders.length, placed.length);
    const ids = placed.map(({ data }) => (JSON.parse(data) as { orderId: string }).orderId);
    assert.deepEqual(told.orders.map(({ order }) => order.order_id).sort(), ids.sort());
    for (const { order, facts } of told.orders) {
      assert.deepEqual([order.personal_data, order.customer.name, order.customer.phone], ['OPEN', 'Ada', '+49 1']);
      assert.deepEqual(order.tracking, { fbp: 'fb.1', nested: { a: [1, null] } });
      const about = rows.filter(({ data }) => data.includes(order.order_id));
      const seqs = facts.map(({ seq }) => seq);
      assert.ok(about.every(({ seq }) => seqs.includes(seq)));
      const row = rows[facts[0]!.seq! - 1]!;
      assert.equal(facts[0]!.at, new Date(row.at).toISOString());
      assert.ok(page.includes(order.order_id));
    }
    assert.deepEqual(Object.keys(told), Object.keys(Subject.properties), 'the body of GET /admin/subject');
    assert.deepEqual(
      new Set(Object.keys(told.orders[0]!.order)),
      new Set(Object.keys(AdminOrder.properties)),
      'and of its orders',
    );
    assert.deepEqual(told.attendances, []);
    for (const text of ['What is kept about ADA@example.com', 'The order was placed', 'telephone number']) {
      assert.ok(page.includes(text), text);
    }
  });

  it('tells of an order of somebody else only the tickets that name the person', async (t) => {
    const rows = readGolden('journal-1.ndjson');
    const named = rows.find(({ type, data }) => type === 'OrderPlaced' && /"attendees":\[\{/.test(data))!;
    const order = JSON.parse(named.data) as {
      orderId: string;
      items: { attendees: { email: string | null }[] | null }[];
    };
    order.items.find((item) => item.attendees !== null)!.attendees![0]!.email = 'Guest@example.org';
    const folder = await folderOf(
      t,
      rows.map((row) => (row === named ? { ...row, data: JSON.stringify(order) } : row)),
    );
    const { told, page, text } = await tell(t, folder, 'guest@example.org');
    assert.deepEqual(told.orders, []);
    assert.deepEqual(
      told.attendances.map((each) => each.order_id),
      [order.orderId],
    );
    assert.ok(told.attendances[0]!.tickets.length <= 1);
    for (const secret of ['Ada+vip', '+49 1', 'fb.1']) assert.ok(!text.includes(secret) && !page.includes(secret));
    const nobody = await tell(t, folder, 'nobody@example.org');
    assert.deepEqual([nobody.told.orders, nobody.told.attendances], [[], []]);
    assert.match(nobody.page, /No order and no ticket with this address can be read\./);
  });

  it('tells of an amended order why it was, its void tickets, how a refund stands, and who was named before', async (t) => {
    const service = await openServiceFor(t, [doorsGala()]);
    const attendees = [{ name: 'Grace', email: 'grace@example.com' }, { name: 'Alan' }];
    const items = [item('single', 2, { attendees, performance_id: 'eve' })];
    const customer = newCustomer();
    const { order_id: id, tickets } = await settle(
      service,
      await start(service, { event_id: 'evt_doors', items, customer }),
      'paid',
    );
    const amend = (body: object) => service.operate('POST', `/admin/orders/${id}/amendments`, { body });
    await amend({ attendees: [{ ticket_id: tickets[0], attendee: { name: 'Ada' } }], note: 'Grace is <ill>.' });
    const { page } = await tell(t, service.folder, 'grace@example.com');
    assert.match(page, /An order that somebody else placed at .+ names this address\./);
    assert.match(page, /kept of tickets .+ name somebody else by now.+Grace, grace@example\.com/s);
    assert.doesNotMatch(page, /No tickets were issued|Ada/);
    await service.operate('POST', '/sandbox/refunds', { body: { next: 'refused' } });
    await amend({ cancel: [tickets[1]] });
    await service.operate('POST', `/admin/orders/${id}/refunds`, { body: { execute: true } });
    const own = await tell(t, service.folder, customer['email'] as string);
    assert.match(own.page, /note of the organizer.+Grace is &lt;ill&gt;\./s);
    assert.ok(own.page.includes(tickets[1]!));
    assert.match(own.page, /kept of tickets .+Grace, grace@example\.com/s);
    assert.match(own.page, /refund, (pending|needs operator)/);
  });

  it('escapes what buyers wrote, and has no script', async (t) => {
    const hostile = '<script>alert("x")</script><img src=x onerror=alert(1)>';
    const rows = readGolden('journal-1.ndjson');
    const folder = await folderOf(t, replaced(replaced(rows, '+49 1', hostile), 'fb.1', hostile));
    const { page, told } = await tell(t, folder, 'ada@example.com');
    assert.equal(told.orders[0]!.order.customer.phone, hostile);
    assert.doesNotMatch(page, /<script|<img|onerror=alert\(1\)>/i);
    assert.ok(page.includes('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;'));
  });

  it('refuses to write over an earlier answer, and needs an address and a folder', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    const out = path.join(newFolder(t), 'about');
    const args = ['subject', '--email', 'ada@example.com', '--out', out, '--data', folder];
    succeeded(await holdfast(args));
    const [again, noOut, noEmail, bad] = await Promise.all([
      holdfast(args),
      holdfast(['subject', '--email', 'a@b', '--data', folder]),
      holdfast(['subject', '--out', out, '--data', folder]),
      holdfast(['subject', '--email', 'ada', '--out', out, '--data', folder]),
    ]);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /subject\.json exists already/);
    assert.deepEqual([noOut.code, noEmail.code, bad.code], [2, 2, 2]);
  });
});
