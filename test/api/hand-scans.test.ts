/** Tickets that operators let in and out by hand: verdicts, undoing, repeats, notes, and what is told of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdminTicketBody } from '#http/operators/orders/schema.ts';
import { assertRefused } from '../fixtures/checks.ts';
import {
  buyTickets,
  codesOf,
  countsOf,
  doorsGala,
  makeStation,
  scanAll,
  scanOf,
  verdictsOf,
  type ScanAnswer,
} from '../fixtures/doors.ts';
import { ofOneMachine, serviceWith } from '../fixtures/service.ts';
import { MINUTE } from '../fixtures/test-service.ts';
import { bodyOf } from '../fixtures/client.ts';

const NOTE = 'Qzxqzvwkjq had no phone.';

const service = serviceWith([
  doorsGala(),
  doorsGala({ id: 'evt_hand', slug: 'hand' }),
  doorsGala({ id: 'evt_noted', slug: 'noted' }),
]);

const send = (ticketId: string, body: object, headers: Record<string, string> = {}) =>
  service.operate<ScanAnswer>('POST', `/admin/tickets/${ticketId}/scans`, { body, headers });

async function scan(ticketId: string, body: object): Promise<ScanAnswer> {
  return bodyOf(await send(ticketId, body), 201);
}

const ticketOf = async (id: string): Promise<AdminTicketBody> =>
  (await service.operate<AdminTicketBody>('GET', `/admin/tickets/${id}`)).body;

const entry = { kind: 'ENTRY', door_id: 'main' };
const exit = { kind: 'EXIT', door_id: 'main' };

describe('A ticket by hand', () => {
  it('enters and leaves with the verdicts of stations, also where the event has no station', async () => {
    const { tickets } = await buyTickets(service, 'single', 2, { eventId: 'evt_hand' });
    const [id = '', other = ''] = tickets;
    const admitted = await scan(id, { ...entry, note: null });
    assert.match(admitted.id, /^scn_[0-9a-z]+_[A-Za-z0-9_-]{24}$/);
    assert.deepEqual(admitted, {
      id: admitted.id,
      verdict: 'ADMIT',
      repeated: false,
      ticket: {
        ticket_type_id: 'single',
        ticket_type_name: 'Single',
        section: null,
        row_label: null,
        seat_label: null,
      },
    });
    const again = await scan(id, entry);
    assert.equal(again.verdict, 'ALREADY_ADMITTED');
    assert.deepEqual((again['admitted'] as { station_name: unknown }).station_name, null);
    assert.equal((await scan(other, exit)).verdict, 'NOT_INSIDE');
    assert.equal((await scan(id, exit)).verdict, 'EXIT');
    assert.equal((await scan(id, entry)).verdict, 'ADMIT');
    const { entries, exits, inside, refused, conflicts } = await countsOf(service, 'eve', 'evt_hand');
    assert.deepEqual([entries, exits, inside, conflicts], [2, 1, 1, 0]);
    assert.deepEqual(refused, { ALREADY_ADMITTED: 1, NOT_INSIDE: 1 });
  });

  it('is refused as at a door: another type, too early, void', async () => {
    const single = await buyTickets(service);
    assert.deepEqual(
      await scan(single.tickets[0]!, { kind: 'ENTRY', door_id: 'stand' }).then(({ verdict }) => verdict),
      'WRONG_DOOR',
    );
    const late = await buyTickets(service, 'single', 1, { performance: 'late' });
    const early = await scan(late.tickets[0]!, entry);
    assert.deepEqual([early.verdict, early['opens_at']], ['NOT_YET', '2027-05-09T19:00:00.000Z']);
    await scan(single.tickets[0]!, entry);
    await service.operate('POST', `/admin/orders/${single.order_id}/cancel`);
    const voided = await scan(single.tickets[0]!, entry);
    assert.deepEqual([voided.verdict, voided['void_reason']], ['VOID', 'ORDER_CANCELLED']);
    assert.equal((await scan(single.tickets[0]!, exit)).verdict, 'EXIT', 'a void ticket may leave');
  });

  it('is one ticket with what stations scan, and has whatever scan undone, however old', async () => {
    const order = await buyTickets(service, 'single', 2);
    const [id = '', other = ''] = order.tickets;
    const [code = ''] = codesOf(order);
    const station = await makeStation(service);
    const [first] = await scanAll(service, station, scanOf(service, code));
    assert.equal((await scan(id, entry)).verdict, 'ALREADY_ADMITTED');
    service.wait(20 * MINUTE);
    const undo = { kind: 'UNDO', undoes: first!.id };
    assert.equal((await scan(other, undo)).verdict, 'NOT_UNDOABLE', 'of another ticket');
    assert.equal((await scan(id, undo)).verdict, 'UNDONE');
    assert.equal((await scan(id, undo)).verdict, 'NOT_UNDOABLE', 'undone already');
    assert.equal((await scan(id, { ...undo, undoes: 'no-scan-of-anybody' })).verdict, 'NOT_UNDOABLE');
    assert.equal((await scan(id, entry)).verdict, 'ADMIT');
    const results = await scanAll(service, station, scanOf(service, code), scanOf(service, code, { kind: 'EXIT' }));
    assert.deepEqual(verdictsOf(results), ['ALREADY_ADMITTED', 'EXIT']);
    const { scans } = await ticketOf(id);
    assert.deepEqual(
      scans.map(({ kind, verdict, undone, station_id: stationId, station_name: name }) =>
        [kind, verdict, undone, stationId, name].join(' '),
      ),
      [
        `ENTRY ADMIT true ${station.id} Phone`,
        'ENTRY ALREADY_ADMITTED false  ',
        'ENTRY ADMIT false  ',
        `ENTRY ALREADY_ADMITTED false ${station.id} Phone`,
        `EXIT EXIT false ${station.id} Phone`,
      ],
    );
    assert.deepEqual((await ticketOf(other)).scans, []);
  });

  it('is answered again under its Idempotency-Key, and counts once', async () => {
    const { tickets } = await buyTickets(service);
    const keyed = { 'idempotency-key': `by-hand-${tickets[0]}` };
    const first = await send(tickets[0]!, entry, keyed);
    await scan(tickets[0]!, exit);
    const again = await send(tickets[0]!, entry, keyed);
    assert.deepEqual([again.status, again.body], [first.status, first.body]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assertRefused(await send(tickets[0]!, { ...entry, note: 'other' }, keyed), 422, 'IDEMPOTENCY_KEY_REUSED');
    assert.equal((await ticketOf(tickets[0]!)).scans.length, 2);
  });

  it('needs a ticket, a door of the event, and what its kind needs', async () => {
    const [id = ''] = (await buyTickets(service)).tickets;
    assertRefused(await send('tkt_1_aaaaaaaaaaaaaaaaaaaaaaaa', entry), 404, 'NOT_FOUND');
    assertRefused(await send('card', entry), 404, 'NOT_FOUND');
    const refused = async (body: object, path: string): Promise<void> => {
      const answer = await send(id, body);
      assertRefused(answer, 400, 'VALIDATION_ERROR');
      const { errors } = (answer.body as unknown as { detail: { errors: readonly { path: string }[] } }).detail;
      assert.deepEqual(
        errors.map((error) => error.path),
        [path],
      );
    };
    await refused({ door_id: 'main' }, '/kind');
    await refused({ kind: 'FORCE', door_id: 'main' }, '/kind');
    await refused({ kind: 'ENTRY' }, '/door_id');
    await refused({ ...entry, door_id: 'none' }, '/door_id');
    await refused({ kind: 'UNDO' }, '/undoes');
    await refused({ ...entry, undoes: 'a-scan-of-a-ticket' }, '/undoes');
    await refused({ ...entry, note: 'a'.repeat(1_001) }, '/note');
    assert.deepEqual((await ticketOf(id)).scans, []);
  });
});

describe('The note on a scan by hand', () => {
  it('is shown with who wrote it, sealed with the order, and gone with its erasure', async () => {
    const order = await buyTickets(service, 'single', 1, { eventId: 'evt_noted' });
    const [id = ''] = order.tickets;
    await send(id, { ...entry, note: NOTE }, { 'x-operator': 'Ada' });
    await send(id, { ...entry, note: `${NOTE} Twice.` });
    const notes = async () => (await ticketOf(id)).scans.map(({ operator, note }) => [operator, note]);
    assert.deepEqual(await notes(), [
      ['Ada', NOTE],
      [null, `${NOTE} Twice.`],
    ]);
    const { facts } = (
      await service.operate<{ facts: readonly unknown[] }>('GET', '/admin/journal?type=TicketScannedByHand')
    ).body;
    assert.doesNotMatch(JSON.stringify(facts), /qzxqzvwkjq/i);
    const erased = await service.operate('POST', `/admin/orders/${order.order_id}/erase`);
    assert.equal(erased.status, 200);
    assert.deepEqual(await notes(), [
      ['Ada', null],
      [null, null],
    ]);
    const last = await scan(id, { ...exit, note: NOTE });
    await scan(id, { kind: 'UNDO', undoes: last.id, note: `${NOTE} Undone.` });
    assert.deepEqual((await notes()).at(-1), [null, NOTE]);
    assert.deepEqual((await ticketOf(id)).scans.at(-1)!.undone_by_hand, { operator: null, note: `${NOTE} Undone.` });
    await service.operate('POST', `/admin/orders/${order.order_id}/erase`);
    assert.deepEqual((await ticketOf(id)).scans.at(-1)!.undone_by_hand, { operator: null, note: null });
    assert.deepEqual((await notes()).at(-1), [null, null], 'what was written later is erased by the next request');
  });

  it('is in no row of the journal', { skip: ofOneMachine('nodes have their journal elsewhere') }, () => {
    const rows = [...service.internals.engine.journal.read()].map(({ data }) => data);
    assert.ok(rows.some((data) => data.includes('scn_')));
    assert.ok(!rows.some((data) => /qzxqzvwkjq/i.test(data)));
  });
});
