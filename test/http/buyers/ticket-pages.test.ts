import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTicketPages, ticketObjectsOf, ticketsKey } from '#http/buyers/orders/ticket-pages.ts';
import { createTicketSigner } from '#tickets/signing.ts';
import type { TicketView } from '#domain/view.ts';

const signer = createTicketSigner([Buffer.alloc(32, 7).toString('base64url')]);

function ticket(n: number, isValid = true): TicketView {
  const seat = { section: null, rowLabel: null, seatId: null, seatLabel: null, itemIndex: 0, offset: n };
  const unit = { unit: n + 1, replaces: null, barPerks: [] };
  return { id: `tkt_1_${n}`, isValid, ticketTypeId: 'guest', performanceId: 'fri', ...seat, ...unit };
}

function pageOf(count: number, isValid = true) {
  const tickets = Array.from({ length: count }, (_, n) => ticket(n, isValid));
  return { tickets, ticketsNextAfter: tickets.at(-1)!.id };
}

const NOBODY = { attendees: [] };

describe('The tickets of a large order', () => {
  it('are written once while nothing that they show has changed, also for concurrent requests', async () => {
    const pages = createTicketPages(signer);
    let reads = 0;
    const read = async () => {
      reads += 1;
      return pageOf(1_000);
    };
    const both = await Promise.all([pages.textsOf('k', 'evt', read), pages.textsOf('k', 'evt', read)]);
    const later = (await pages.textsOf('k', 'evt', read))!;
    assert.equal(reads, 1);
    assert.ok(both.every((texts) => texts === later));
    const objects = JSON.parse(ticketObjectsOf(later, NOBODY)) as { id: string; code: string }[];
    assert.deepEqual(
      objects.map(({ id }) => id),
      JSON.parse(later.ids),
    );
    assert.equal(objects[999]!.code.split('.').length, 2);
    assert.equal(later.nextAfter, 'tkt_1_999');
  });

  it('keep nothing of the people on them, who are added to each answer', async () => {
    const pages = createTicketPages(signer);
    const texts = (await pages.textsOf('k', 'evt', async () => pageOf(3)))!;
    const person = (name: string) => ({ name, email: null, documentNumber: '7', phone: null });
    const attendees = [[person('Ada'), person('Grace'), person('Joan "J." Clarke')]];
    const named = JSON.parse(ticketObjectsOf(texts, { attendees })) as { attendee: object }[];
    assert.deepEqual(
      named.map(({ attendee }) => attendee),
      attendees[0]!.map(({ name }) => ({ name, email: null, document_number: '7', phone: null })),
    );
    const nameless = JSON.parse(ticketObjectsOf(texts, NOBODY)) as { attendee: null }[];
    assert.ok(nameless.every(({ attendee }) => attendee === null));
    assert.doesNotMatch(JSON.stringify(texts), /Ada|Grace|Clarke/);
  });

  it('are not those of an order that was amended while they were read', async () => {
    const pages = createTicketPages(signer);
    assert.equal(await pages.textsOf('k', 'evt', async () => null), null);
    assert.equal((await pages.textsOf('k', 'evt', async () => pageOf(3)))!.nextAfter, 'tkt_1_2');
  });

  it('are written in slices, with other work between them', async () => {
    const pages = createTicketPages(signer);
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns < 1_000) setImmediate(count);
    };
    setImmediate(count);
    await pages.textsOf('k', 'evt', async () => pageOf(1_000));
    assert.ok(turns >= 9, `${turns} turns of others meanwhile`);
  });

  it('have another key once they are void, more, amended, paid for beside, or of another plan', () => {
    const order = { id: 'ord_1', status: 'CONFIRMED', ticketCount: 100, totalCents: 5_000, amendments: [] } as const;
    const asked = { ...order, amendments: [{ id: 'amd_1' }] };
    const keyOf = (shown: Parameters<typeof ticketsKey>[0]['order'], after: string | null = null, version = 1) =>
      ticketsKey({ order: shown, definitionVersion: version }, after);
    const keys = [
      keyOf(order),
      keyOf(order, 'tkt_1'),
      keyOf(order, null, 2),
      keyOf({ ...order, status: 'CANCELLED' }),
      keyOf({ ...order, ticketCount: 101 }),
      keyOf(asked),
      keyOf({ ...asked, totalCents: 5_500 }),
    ];
    assert.equal(new Set(keys).size, keys.length);
  });

  it('are dropped beyond 16 MiB, the least recently used first', async () => {
    const pages = createTicketPages(signer);
    let reads = 0;
    const read = async () => {
      reads += 1;
      return pageOf(1_000, false);
    };
    for (let n = 0; n < 80; n += 1) await pages.textsOf(`order ${n}`, 'evt', read);
    await pages.textsOf('order 79', 'evt', read);
    assert.equal(reads, 80);
    await pages.textsOf('order 0', 'evt', read);
    assert.equal(reads, 81);
  });
});
