/** Calls and answers that are packed by position come out as they went in, whatever is in them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command, CommandOf, ReplyTo } from '#domain/command.ts';
import { refuse } from '#domain/refusal.ts';
import type { QueueEntryView } from '#domain/view.ts';
import { packCommand, packReply, unpackCommand, unpackReply } from '#threads/packed-rush.ts';
import { fc } from '../property.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const textOrNull = fc.option(text);
/** Of a hold, an order or an entry. */
const id = fc.stringMatching(/^[\w-]{1,30}$/);
const count = fc.integer();
const countOrNull = fc.option(count);
const texts = fc.array(text, { maxLength: 4 });

const placeHold: fc.Arbitrary<CommandOf<'PlaceHold'>> = fc.record({
  type: fc.constant('PlaceHold'),
  sessionKey: text,
  items: fc.array(
    fc.record({
      ticketTypeId: text,
      sellingStageId: text,
      quantity: count,
      performanceId: textOrNull,
      seatIds: fc.option(texts),
    }),
  ),
  queuePass: textOrNull,
  idempotency: fc.option(fc.record({ key: text, digest: text })),
});
const pollQueue: fc.Arbitrary<CommandOf<'PollQueue'>> = fc.record({
  type: fc.constant('PollQueue'),
  entryId: text,
  sessionKey: text,
});

const placed: fc.Arbitrary<ReplyTo<'PlaceHold'>> = fc.record({
  outcome: fc.constant('DONE'),
  replayed: fc.boolean(),
  hold: fc.record({
    id,
    eventId: text,
    status: fc.constantFrom('ACTIVE', 'EXPIRED'),
    expiresAt: count,
    orderId: fc.option(id),
    items: fc.array(
      fc.record({
        ticketTypeId: text,
        sellingStageId: text,
        performanceId: text,
        quantity: count,
        ticketCount: count,
        seatIds: texts,
        seatLabels: texts,
      }),
    ),
  }),
});
const entry: fc.Arbitrary<QueueEntryView> = fc.record({
  id,
  eventId: text,
  status: fc.constantFrom('WAITING', 'ADMITTED'),
  position: countOrNull,
  waitingAhead: count,
  estimatedMinutes: count,
  open: fc.boolean(),
  opensAt: countOrNull,
  admittedAt: countOrNull,
  passExpiresAt: countOrNull,
  rate: count,
  drawCommitment: textOrNull,
  soldOut: fc.option(fc.boolean()),
});
const polled: fc.Arbitrary<ReplyTo<'PollQueue'>> = fc.record({ outcome: fc.constant('DONE'), entry });

/** Events of a process that answers for two: much of what one command or answer has, the next one has too. */
const eventId = fc.constantFrom('evt_1', 'evt_2');
const sameItems: fc.Arbitrary<CommandOf<'PlaceHold'>['items']> = fc.array(
  fc.record({
    ticketTypeId: fc.constantFrom('stand', 'seat'),
    sellingStageId: fc.constant('general'),
    quantity: fc.integer({ min: 1, max: 2 }),
    performanceId: fc.option(fc.constant('fri')),
    seatIds: fc.option(fc.constantFrom(['A1'], ['A2', 'A3'])),
  }),
  { minLength: 1, maxLength: 2 },
);
const room = fc.record({
  eventId,
  open: fc.boolean(),
  opensAt: fc.constantFrom(null, 1),
  rate: fc.constantFrom(1, 2),
  drawCommitment: fc.constantFrom(null, 'digest'),
  soldOut: fc.constantFrom(null, false, true),
});

/** `fc.record` makes objects without a prototype. */
const plain = <Value>(value: Value): Value => structuredClone(value);

describe('Calls and answers of a rush', () => {
  it('carry commands unchanged', () => {
    fc.assert(
      fc.property(text, fc.oneof(placeHold, pollQueue), (eventId, command) => {
        assert.deepEqual(unpackCommand(packCommand(eventId, command)!), { eventId, command: plain(command) });
      }),
    );
    // What stands between the texts of a poll is in no id that exists.
    assert.equal(packCommand('evt', { type: 'PollQueue', entryId: 'que\n1', sessionKey: 'key' }), null);
    assert.equal(unpackCommand('{"kind":"query"}'), null);
  });

  it('carry replies unchanged, and refusals as every answer does', () => {
    fc.assert(
      fc.property(fc.oneof(placed, polled), (reply) => {
        const [kind, content] = JSON.parse(`[${packReply(reply)}`) as [number, unknown];
        assert.deepEqual(unpackReply(kind, content), plain(reply));
      }),
    );
    const refusal = refuse('QUEUE_ENTRY_NOT_FOUND', {});
    const [kind, content] = JSON.parse(`[${packReply(refusal)}`) as [number, unknown];
    assert.deepEqual([unpackReply(kind, content), content], [null, { ...refusal }]);
  });

  it('keep nothing of the one before but what is the same', () => {
    const commands = fc.array(fc.tuple(eventId, placeHold, sameItems), { maxLength: 12 });
    fc.assert(
      fc.property(commands, (sent) => {
        for (const [event, command, items] of sent) {
          const same = { ...command, items };
          const found = unpackCommand(packCommand(event, same)!);
          assert.deepEqual(found, { eventId: event, command: plain(same) });
        }
      }),
    );
    const holds = fc.array(fc.tuple(placed, eventId, fc.nat(1)), { minLength: 2, maxLength: 12 });
    const entries = fc.array(fc.tuple(entry, room), { maxLength: 12 });
    fc.assert(
      fc.property(holds, entries, (placing, polling) => {
        const lines = [placing[0]![0].hold.items, placing[1]![0].hold.items];
        const answers = [
          ...placing.map(([reply, event, n]) => ({
            ...reply,
            hold: { ...reply.hold, eventId: event, items: lines[n]! },
          })),
          ...polling.map(([own, ofRoom]) => ({ outcome: 'DONE' as const, entry: { ...own, ...ofRoom } })),
        ];
        for (const reply of answers) {
          const [kind, content] = JSON.parse(`[${packReply(reply)}`) as [number, unknown];
          assert.deepEqual(unpackReply(kind, content), plain(reply));
        }
      }),
    );
  });

  it('are no other commands', () => {
    const others: Command[] = [
      { type: 'JoinQueue', sessionKey: 'session' },
      { type: 'LeaveQueue', entryId: 'entry', sessionKey: 'session' },
    ];
    for (const command of others) assert.equal(packCommand('evt', command), null);
  });
});
