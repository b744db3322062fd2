/** Buyers change their paid orders on its pages, without a script. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { numberOf } from '#domain/orders/told-numbers.ts';
import { newCustomer, settle, start, statusOf, type Started } from '../fixtures/checkout.ts';
import type { Json } from '../fixtures/client.ts';
import { gala, item } from '../fixtures/events.ts';
import { formWith, plainVisitor } from '../fixtures/plain-pages.ts';
import { MINUTE, serviceWith } from '../fixtures/service.ts';

const DAY = 24 * 60 * MINUTE;
const eve = { starts_at: '2028-05-08T20:00:00Z', ends_at: '2028-05-09T04:00:00Z' };
const dates = ['Eve', 'Late', 'Draft'].map((name) => ({ ...eve, id: name.toLowerCase(), name }));
const two = { performances: dates.map((date) => (date.name === 'Draft' ? { ...date, status: 'DRAFT' } : date)) };
const cancel = { until_minutes: 60, fee: 150, fee_percent: 10 };

const service = serviceWith([
  gala({ buyer_changes: { cancel, withdrawal_days: 2 } }),
  gala({ id: 'evt_seats', slug: 'seats', buyer_changes: { cancel: { ticket_type_ids: ['seat'] } } }),
  gala({ id: 'evt_none', slug: 'none' }),
  gala({ ...two, id: 'evt_two', slug: 'two', buyer_changes: { change: { fee: 100 }, attendees: {} } }),
  gala({ ...two, id: 'evt_full', slug: 'full', buyer_changes: { change: {} } }),
  gala({ ...two, id: 'evt_free', slug: 'free', buyer_changes: { change: {}, attendees: {} } }),
  gala({
    ...two,
    id: 'evt_family',
    slug: 'family',
    buyer_changes: { change: {} },
    ticketTypes: ['seat', 'child'].map((id) => ({ id, name: id, locality_id: 'stand' })),
    sellingStages: [{ id: 'regular', name: 'Regular', prices: { seat: 3000, child: 1500 } }],
    promoCodes: [],
  }),
]);
beforeEach(() => service.wait(60 * MINUTE));

async function paid(items: readonly Json[], overrides: object = {}): Promise<Started> {
  const started = await start(service, { items, customer: newCustomer(), ...overrides });
  await settle(service, started, 'paid');
  return started;
}

const pageOf = ({ order_id: id }: Started): string => `/orders/${id}`;
const english = () => plainVisitor(service.publicUrl);
const german = () => plainVisitor(service.publicUrl, 'de');

describe('The page of an order', () => {
  it('offers nothing where its event offers nothing, and nothing of an order that is not paid', async () => {
    const none = await english().open(pageOf(await paid([item('single', 1)], { event_id: 'evt_none' })));
    const unpaid = await english().open(pageOf(await start(service, { customer: newCustomer() })));
    for (const { text } of [none, unpaid]) assert.doesNotMatch(text, /Withdraw|Change your order|Give tickets back/);
  });

  it('says what may be given back, until when and for which fee', async () => {
    const started = await paid([item('single', 2)]);
    const { text } = await english().open(pageOf(started));
    assert.match(
      text,
      /Give tickets back Until Mon, 8 May 2028, 19:00 · without a fee until .+ · fee: €1\.50 a ticket and 10 % of the price/,
    );
    assert.match((await german().open(pageOf(started))).text, /Gebühr: 1,50 € je Ticket und 10 % des Preises/);
    await service.wait(2 * DAY);
    const later = await english().open(pageOf(started));
    assert.doesNotMatch(later.text, /Withdraw|without a fee/);
  });
});

describe('A withdrawal without a script', () => {
  for (const [visitor, withdraw, confirm, receipt, history] of [
    [
      english,
      'Withdraw from contract here',
      'Confirm withdrawal',
      /We received your withdrawal on \w{3}, \d+ \w+ 20\d\d, \d\d:\d\d\./,
      /Withdrawal, received on .+: 6 tickets given back\. €106\.00 to be given back\./,
    ],
    [
      german,
      'Vertrag widerrufen',
      'Widerruf bestätigen',
      /Ihr Widerruf ist am \w{2}\., \d+\. \p{L}+ 20\d\d, \d\d:\d\d Uhr bei uns eingegangen\./u,
      /Widerruf, eingegangen am .+ Uhr: 6 Tickets zurückgegeben\. 106,00 € werden zurückgezahlt\./,
    ],
  ] as const) {
    it(`is two buttons with the words of the directive, and is confirmed with date and time: ${confirm}`, async () => {
      const started = await paid([item('single', 2), item('crew', 1)]);
      const { open, follow, press } = visitor();
      const asked = await follow(await open(pageOf(started)), withdraw);
      assert.match(asked.text, /Buyer \d+/);
      assert.match(asked.text, /buyer-\d+@example\.com/);
      assert.match(asked.text, new RegExp(numberOf(started.order_id)));
      const done = await press(asked, confirm);
      assert.deepEqual([done.status, done.redirects], [200, [303]]);
      assert.match(done.text, receipt);
      assert.match(done.text, history);
      const order = await statusOf(service, started);
      assert.deepEqual([order.status, order.refund_due, order.fees_amount], ['CANCELLED', 10_600, 0]);
      assert.equal(order.amendments[0]!.by, 'BUYER');
      // The button that is pressed a second time does it once.
      const again = await press(asked, confirm);
      assert.deepEqual([again.status, again.path], [200, done.path]);
      assert.equal((await statusOf(service, started)).amendments.length, 1);
      assert.doesNotMatch(
        (await open(pageOf(started))).text,
        new RegExp(receipt.source.slice(0, 20)),
        'the receipt is shown once',
      );
    });
  }

  it('is of some of the tickets where that is asked for', async () => {
    const started = await paid([item('single', 3)]);
    const { open, press } = english();
    const asked = await open(`${pageOf(started)}/changes/withdrawal`);
    const { boxes, fields } = formWith(asked, 'Continue');
    assert.deepEqual([Object.keys(boxes).length, fields], [3, {}]);
    const none = await press(asked, 'Continue');
    assert.equal(none.status, 400);
    assert.match(none.text, /Please choose at least one ticket\./);
    const quoted = await press(asked, 'Continue', { 'unit.1': boxes['unit.1']! });
    assert.match(quoted.text, /You get back €19\.00/);
    const done = await press(quoted, 'Confirm withdrawal');
    assert.match(done.text, /We received your withdrawal on .+: 1 ticket given back|1 ticket given back/);
    assert.match(done.text, /1 void ticket [\w-]+ Single, Eve.+: given back/);
    const { tickets, refund_due: due } = await statusOf(service, started);
    assert.deepEqual([tickets.length, tickets.includes(boxes['unit.1']!), due], [2, false, 1900]);
  });

  it('is not asked for a fee when its days are over while its page is open', async () => {
    const started = await paid([item('single', 1)]);
    const { open, press } = english();
    const asked = await open(`${pageOf(started)}/changes/withdrawal`);
    await service.wait(2 * DAY);
    const late = await press(asked, 'Confirm withdrawal');
    assert.equal(late.status, 409);
    assert.match(late.text, /The time to withdraw is over\./);
    assert.doesNotMatch(late.html, /Confirm withdrawal/);
    const fresh = await open(`${pageOf(started)}/changes/withdrawal`);
    assert.equal(fresh.status, 403);
    assert.equal((await statusOf(service, started)).ticket_count, 1);
  });
});

describe('Tickets given back without a script', () => {
  it('are chosen, quoted and given back with one button, for the fee that was quoted', async () => {
    const started = await paid([item('single', 2), item('crew', 1)]);
    await service.wait(3 * DAY);
    const { open, follow, press } = english();
    const choice = await follow(await open(pageOf(started)), 'Give tickets back');
    const { boxes } = formWith(choice, 'Continue');
    assert.deepEqual(
      Object.values(boxes).map((ids) => ids.split(' ').length),
      [1, 1, 4],
      'a group goes together',
    );
    const quoted = await press(choice, 'Continue', { 'unit.0': boxes['unit.0']! });
    assert.match(quoted.text, /Credited €19\.00 Fee €3\.40 You get back €15\.60/);
    const done = await press(quoted, 'Give back 1 ticket');
    assert.match(done.text, /Done on .+ 1 ticket given back\. Fee: €3\.40\. €15\.60 to be given back\./);
    assert.equal((await statusOf(service, started)).refund_due, 1560);
  });

  it('are quoted anew where the quote ran out, and asked for again', async () => {
    const started = await paid([item('single', 2)]);
    await service.wait(3 * DAY);
    const { open, press } = english();
    const choice = await open(`${pageOf(started)}/changes/cancel`);
    const quoted = await press(choice, 'Continue', { 'unit.0': formWith(choice, 'Continue').boxes['unit.0']! });
    await service.wait(11 * MINUTE);
    const stale = await press(quoted, 'Give back 1 ticket');
    assert.equal(stale.status, 409);
    assert.match(
      stale.text,
      /What we told you has changed meanwhile\. Please look at it again\..+You get back €15\.60/,
    );
    assert.equal((await statusOf(service, started)).ticket_count, 2);
    const done = await press(stale, 'Give back 1 ticket');
    assert.deepEqual([done.status, (await statusOf(service, started)).ticket_count], [200, 1]);
  });

  it('are refused in words of both languages, by reason', async () => {
    const started = await paid([item('single', 1), item('seat', 1)], { event_id: 'evt_seats' });
    const [single = ''] = (await statusOf(service, started)).tickets;
    for (const [visitor, button, notThisType, isVoid] of [
      [
        english,
        'Continue',
        /This kind of ticket cannot be changed here\./,
        /One of these tickets is no longer valid\./,
      ],
      [
        german,
        'Weiter',
        /Diese Ticketart lässt sich hier nicht ändern\./,
        /Eines dieser Tickets ist nicht mehr gültig\./,
      ],
    ] as const) {
      const { open, press } = visitor();
      const choice = await open(`${pageOf(started)}/changes/cancel`);
      assert.equal(Object.keys(formWith(choice, button).boxes).length, 1, 'the seat alone is offered');
      const other = await press(choice, button, { 'unit.0': single });
      assert.deepEqual([other.status, notThisType.test(other.text)], [403, true]);
      const strange = await press(choice, button, { 'unit.0': 'tkt_nothing' });
      assert.equal(strange.status, 400);
      const started2 = await paid([item('seat', 2)], { event_id: 'evt_seats' });
      const before = await open(`${pageOf(started2)}/changes/cancel`);
      const { boxes } = formWith(before, button);
      const [first = ''] = Object.values(boxes);
      await service.admin.post(`/admin/orders/${started2.order_id}/amendments`, { cancel: [first] });
      const gone = await press(before, button, { 'unit.0': first });
      assert.deepEqual([gone.status, isVoid.test(gone.text)], [409, true]);
    }
  });

  it('answer what no page has sent with a clear 4xx', async () => {
    const started = await paid([item('single', 1)]);
    const { open } = english();
    assert.equal((await open(`${pageOf(started)}/changes/nothing`)).status, 404);
    assert.equal((await open('/orders/ord_nothing/changes/cancel')).status, 404);
    const path = `${service.publicUrl}${pageOf(started)}/changes/cancel`;
    const send = async (body: string, type = 'application/x-www-form-urlencoded') =>
      (await fetch(path, { method: 'POST', body, headers: { 'content-type': type } })).status;
    assert.equal(await send('__proto__=1&unit.0=a%00b'), 400);
    assert.equal(await send(`unit.0=${'tkt_x '.repeat(1_001)}`), 400);
    assert.equal(await send(`unit.0=${'x'.repeat(200_000)}`), 413);
    assert.equal(await send(`unit.0=tkt_x&quote=${'q'.repeat(300)}`), 400);
    assert.equal(await send('[]', 'application/json'), 400);
  });
});

describe('Tickets changed without a script', () => {
  it('go to another date and keep their seats, where these are free', async () => {
    const seats = [item('seat', 2, { seat_ids: ['W-1-4', 'W-1-5'], performance_id: 'eve' })];
    const started = await paid(seats, { event_id: 'evt_free' });
    const { open, follow, press } = english();
    const choice = await follow(await open(pageOf(started)), 'Change date, kind of ticket or seats');
    assert.match(choice.text, /Until Mon, 8 May 2028, 20:00 · without a fee/);
    assert.doesNotMatch(choice.text, /Draft/);
    const { boxes } = formWith(choice, 'Continue');
    const quoted = await press(choice, 'Continue', { ...boxes, performance_id: 'late' });
    assert.match(quoted.text, /Seat, Eve, .+ West, row 1, seat 4 .+ becomes: Seat, Late, .+ West, row 1, seat 4/);
    const done = await press(quoted, 'Change 2 tickets');
    assert.match(done.text, /2 tickets changed\./);
    const { ticket_objects: tickets } = await statusOf(service, started);
    assert.deepEqual(
      tickets.map(({ performance_id: date, seat_id: seat }) => [date, seat]),
      [
        ['late', 'W-1-4'],
        ['late', 'W-1-5'],
      ],
    );
    const taken = await press(await open(`${pageOf(started)}/changes/change`), 'Continue', {
      'unit.0': tickets[0]!.id,
      seats: 'best',
    });
    assert.match(taken.text, /seat 4 .+ becomes: Seat, Late, .+ West, row 1, seat (?![45] )\d+/);
    assert.equal((await press(taken, 'Change 1 ticket')).status, 200);
  });

  it('of two types get the best seats side by side, each one of its own', async () => {
    const items = ['seat', 'child'].map((type) => item(type, 1, { performance_id: 'eve' }));
    const started = await paid(items, { event_id: 'evt_family' });
    const { open, press } = english();
    const choice = await open(`${pageOf(started)}/changes/change`);
    const { boxes } = formWith(choice, 'Continue');
    const quoted = await press(choice, 'Continue', { ...boxes, performance_id: 'late', seats: 'best' });
    assert.equal(quoted.status, 200, quoted.text);
    assert.equal((await press(quoted, 'Change 2 tickets')).status, 200);
    const { ticket_objects: tickets } = await statusOf(service, started);
    assert.deepEqual(
      tickets.map(({ performance_id: date }) => date),
      ['late', 'late'],
    );
    const [one, other] = tickets.map(({ seat_label: seat }) => Number(seat));
    assert.equal(Math.abs(one! - other!), 1);
  });

  it('are refused where no seats side by side are free for the best ones', async () => {
    const started = await paid([item('seat', 2, { performance_id: 'eve' })], { event_id: 'evt_full' });
    const everySecond = [2, 4, 6, 8, 10].map((seat) => `W-1-${seat}`);
    const block = { action: 'block', seat_ids: everySecond };
    await service.admin.post('/admin/events/evt_full/performances/late/seats', block);
    const { open, press } = english();
    const choice = await open(`${pageOf(started)}/changes/change`);
    const { boxes } = formWith(choice, 'Continue');
    const refused = await press(choice, 'Continue', { ...boxes, performance_id: 'late', seats: 'best' });
    assert.deepEqual(
      [refused.status, /There are not so many free seats side by side/.test(refused.text)],
      [400, true],
      refused.text,
    );
    assert.equal((await statusOf(service, started)).ticket_objects[0]!.performance_id, 'eve');
  });

  it('cost what another kind costs, with the fee', async () => {
    const seats = [item('seat', 2, { seat_ids: ['W-1-9', 'W-1-10'], performance_id: 'eve' })];
    const started = await paid(seats, { event_id: 'evt_two' });
    const { open, press } = english();
    const choice = await open(`${pageOf(started)}/changes/change`);
    const { boxes } = formWith(choice, 'Continue');
    const nothing = await press(choice, 'Continue', boxes);
    assert.deepEqual([nothing.status, /This changes nothing: please choose/.test(nothing.text)], [400, true]);
    const cheaper = await press(choice, 'Continue', { 'unit.0': boxes['unit.0']!, ticket_type_id: 'single' });
    assert.match(cheaper.text, /New price €19\.00 Credited €30\.00 Fee €1\.00 You get back €10\.00/);
    const done = await press(cheaper, 'Change 1 ticket');
    assert.match(done.text, /1 ticket changed\. Fee: €1\.00\. €10\.00 to be given back\./);
    assert.match(done.text, /New; takes the place of [\w-]{8}/);
    assert.match(done.text, /1 void ticket [\w-]+ Seat, Eve.+: replaced by a new one/);
    const { ticket_objects: tickets } = await statusOf(service, started);
    assert.deepEqual(tickets.map(({ ticket_type_id: type }) => type).toSorted(), ['seat', 'single']);
  });

  it('are paid for first where they cost something, and dropped with a button', async () => {
    const single = [item('single', 2, { performance_id: 'eve' })];
    const started = await paid(single, { event_id: 'evt_two' });
    const { open, press } = english();
    const dearer = async () => {
      const choice = await open(`${pageOf(started)}/changes/change`);
      const box = formWith(choice, 'Continue').boxes['unit.0']!;
      return press(choice, 'Continue', { 'unit.0': box, ticket_type_id: 'seat' });
    };
    const quoted = await dearer();
    assert.match(quoted.text, /To pay €12\.00/);
    assert.match((await press(quoted, 'Change and pay €12.00')).path, /^\/sandbox\/pay\//);
    const waiting = await open(pageOf(started));
    assert.match(waiting.text, /Your change waits for its payment 1 ticket changed: not done before it is paid/);
    assert.match((await press(waiting, 'Pay €12.00')).path, /^\/sandbox\/pay\//);
    const dropped = await press(waiting, 'Drop the change');
    assert.match(dropped.text, /1 ticket changed\. Not done: it was dropped\./);
    assert.equal((await press(waiting, 'Drop the change')).status, 200, 'once more is the same');
    await service.wait(MINUTE);
    const asked = await dearer();
    const payment = await press(asked, 'Change and pay €12.00');
    assert.equal((await press(asked, 'Change and pay €12.00')).path, payment.path, 'once more leads to its payment');
    const done = await press(payment, 'Pay', { outcome: 'paid' });
    assert.match(done.text, /1 ticket changed\. Fee: €1\.00\./);
    const again = await press(asked, 'Change and pay €12.00');
    assert.match(again.path, /^\/orders\//, 'what is paid leads to no payment');
  });

  it('get new codes, and other names', async () => {
    const attendees = ['Ann', 'Ben'].map((name) => ({ name, email: `${name}@example.com`, phone: '0361 1' }));
    const started = await paid([item('single', 2, { performance_id: 'eve', attendees })], {
      event_id: 'evt_free',
    });
    const { open, follow, press } = german();
    const page = await open(pageOf(started));
    const codes = await follow(page, 'Neue Codes anfordern');
    const quoted = await press(codes, 'Weiter', { 'unit.0': formWith(codes, 'Weiter').boxes['unit.0']! });
    assert.match(quoted.text, /bekommt einen neuen Code .*Das kostet nichts\./);
    const reissued = await press(quoted, '1 neuen Code anfordern');
    assert.match(reissued.text, /Erledigt am .+ 1 neuer Code\./);
    const names = await follow(reissued, 'Namen ändern');
    const { fields } = formWith(names, 'Weiter');
    const [ann, annsEmail, ben, bensEmail] = Object.keys(fields) as [string, string, string, string];
    assert.deepEqual(
      [fields[ann], fields[annsEmail], fields[ben], fields[bensEmail]],
      ['Ann', 'Ann@example.com', 'Ben', 'Ben@example.com'],
    );
    const same = await press(names, 'Weiter');
    assert.deepEqual([same.status, /Es wurde kein Name geändert\./.test(same.text)], [400, true]);
    const wrong = await press(names, 'Weiter', { [annsEmail]: 'nobody' });
    assert.deepEqual([wrong.status, /Bitte prüfen Sie die E-Mail-Adresse\./.test(wrong.text)], [400, true]);
    assert.equal(formWith(wrong, 'Weiter').fields[annsEmail], 'nobody', 'what was written stays');
    const renamed = await press(names, 'Weiter', { [ann]: 'Dora <b>', [annsEmail]: '', [bensEmail]: 'b@example.com' });
    assert.match(renamed.text, /für Dora <b>/);
    const done = await press(renamed, '2 Namen ändern');
    assert.deepEqual([done.status, /2 Namen geändert\./.test(done.text)], [200, true]);
    assert.equal((await press(renamed, '2 Namen ändern')).path, done.path, 'once, however often it is pressed');
    const { ticket_objects: tickets } = await statusOf(service, started);
    assert.deepEqual(
      tickets.map(({ attendee }) => [attendee?.name, attendee?.email, attendee?.phone]),
      [
        ['Dora <b>', null, null],
        ['Ben', 'b@example.com', '0361 1'],
      ],
    );
  });
});
