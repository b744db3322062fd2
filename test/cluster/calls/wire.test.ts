/** What travels between nodes is what was given: every command and reply, and messages of any length in parts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  MESSAGE_CHARS_MAX,
  MessageBatch,
  partsOf,
  PartsInbox,
  readAnswers,
  readCalls,
  settle,
  writeAnswer,
  writeAnswers,
  writeCall,
  writeCalls,
} from '#cluster/calls/wire.ts';
import type { Call } from '#cluster/calls/shard-calls.ts';
import { packValue } from '#engine/packed-answers.ts';
import type { Command, CommandType } from '#domain/command.ts';
import {
  buy,
  checkoutEvent,
  item,
  openCheckoutEvent,
  openSession,
  paymentOf,
  refundNote,
} from '../../fixtures/commands.ts';
import { report, visitor } from '../../fixtures/commands.ts';
import { anyText, fc } from '../../property.ts';

/** As the owner reads it. */
function travelledCall(call: Call): Call {
  const message = readCalls(writeCalls(1, [writeCall(1, call)]));
  return message!.calls[0]![1];
}

/** As the caller reads it. */
function travelledAnswer(value: unknown): unknown {
  const [answer] = readAnswers(writeAnswers([writeAnswer(5, packValue(value))]))!;
  assert.equal(answer![0], 5);
  let settled: unknown;
  settle(
    answer!,
    0,
    (content) => (settled = content),
    (error) => assert.fail(error),
  );
  return settled;
}

/** A sale in which every command is executed; each is seen with its reply. */
function everyCommand(see: (command: Command, reply: unknown) => void): void {
  const definition = checkoutEvent({ waitingRoom: true });
  const fixture = openCheckoutEvent({ waitingRoom: true });
  const operator = { operator: 'olga', note: null };
  const idempotency = { key: 'key-1', digest: 'd1' };
  const run: typeof fixture.do = (command) => {
    const reply = fixture.do(command);
    see(command as Command, reply);
    return reply;
  };
  const { entry } = run({ type: 'JoinQueue', sessionKey: 'session-1' });
  fixture.wait(60_000);
  const polled = run({ type: 'PollQueue', entryId: entry.id, sessionKey: 'session-1' });
  const queuePass = polled.entry.id;
  const seats = { performanceId: 'd1', seatIds: ['all-1-1'] };
  const items = [item('adult', 2), item('seat', 2)];
  const place = { type: 'PlaceHold', sessionKey: 'session-1', items, queuePass, idempotency } as const;
  const { hold } = run(place);
  run({ type: 'ChangeHold', holdId: hold.id, sessionKey: 'session-1', items: [item('adult', 3)] });
  run({ type: 'ReleaseHold', holdId: hold.id, sessionKey: 'session-1' });
  const attendees = [visitor('Ä 木'), visitor('"quoted"\n')];
  const perks = [{ barPerkId: 'beer', quantity: 1 }];
  const bought = [item('adult', 2, { attendees, barPerks: perks })];
  const session = { sessionKey: 'session-1', queuePass };
  const { order, payment } = run(
    buy(bought, { ...session, installmentCount: 2, tracking: { 'utm.source': [1, null, { deep: '\u2028' }] } }),
  );
  const opened = openSession(fixture, order, payment!);
  run(report(opened, 'paid', { webhookId: 'whk_1' }));
  const second = paymentOf(run({ type: 'OpenPayment', orderId: order.id }));
  run({
    type: 'RecordCheckoutSession',
    orderId: order.id,
    paymentId: second.id,
    checkoutSessionId: 'cs_2',
    redirectUrl: 'https://pay.example/2',
    expiresAt: fixture.now + 1e6,
  });
  run(refundNote(order.id, 100));
  run({ type: 'CancelOrder', orderId: order.id, ...operator, note: 'called "off"' });
  run({ type: 'EraseOrder', orderId: order.id, operator: 'olga', note: null });
  run({ type: 'EraseDueOrders', after: null, limit: 10 });
  run({ type: 'LeaveQueue', entryId: run({ type: 'JoinQueue', sessionKey: 's2' }).entry.id, sessionKey: 's2' });
  const seatIds = definition.localities.flatMap((each) =>
    each.seating === 'NUMBERED' ? each.sections[0]!.rows[0]!.seats.slice(0, 2).map(({ id }) => id) : [],
  );
  run({ type: 'BlockSeats', ...seats, seatIds, ...operator, idempotency });
  run({ type: 'UnblockSeats', ...seats, seatIds, ...operator });
  const counter = {
    customer: { ...visitor('Dora'), email: 'dora@example.com' },
    payment: 'CASH',
    exceedsLimits: false,
    items: [item('adult', 1)],
  } as const;
  run({ type: 'SellAtCounter', ...counter, ...operator, idempotency: { key: 'key-2', digest: 'd2' } });
  run({ type: 'CancelPerformance', performanceId: 'd2', ...operator });
  run({ type: 'DefineEvent', definition: { ...definition, name: 'Another name' }, ...operator });
}

describe('What travels', () => {
  it('is every command and its reply as they were', () => {
    const seen = new Set<CommandType>();
    everyCommand((command, reply) => {
      seen.add(command.type);
      const call: Call = { kind: 'command', commandId: 'n-1', eventId: 'evt', command };
      assert.deepStrictEqual(travelledCall(call), call);
      assert.deepStrictEqual(travelledAnswer(reply), reply, command.type);
    });
    // Without the three that the actor itself runs, at the owner alone.
    assert.equal(seen.size, 19, [...seen].join());
  });

  it('is any text, with signs of every length', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        assert.deepEqual(travelledAnswer({ text }), { text });
      }),
    );
    const halves = 'half of a pair \ud83d and another \ude00';
    assert.deepEqual(travelledAnswer({ halves }), { halves });
  });

  it('is null where there is nothing', () => {
    assert.equal(travelledAnswer(undefined), null);
    assert.equal(travelledAnswer(null), null);
  });
});

describe('A batch', () => {
  it('is closed when it is full, in the order of what was added', () => {
    const sent: number[][] = [];
    const waiting: (() => void)[] = [];
    const batch = new MessageBatch({ soon: (work) => waiting.push(work) }, (texts) =>
      sent.push(texts.map((text) => text.length)),
    );
    const lengths = [10, MESSAGE_CHARS_MAX, 20, MESSAGE_CHARS_MAX - 20, 1, 5 * MESSAGE_CHARS_MAX, 7];
    for (const length of lengths) batch.add('x'.repeat(length));
    for (const work of waiting) work();
    assert.deepEqual(sent, [
      [10],
      [MESSAGE_CHARS_MAX],
      [20, MESSAGE_CHARS_MAX - 20],
      [1],
      [5 * MESSAGE_CHARS_MAX],
      [7],
    ]);
    assert.equal(waiting.length, 1);
  });
});

describe('A message in parts', () => {
  const messages = fc.array(fc.uint8Array({ minLength: 0, maxLength: 400 }), { minLength: 1, maxLength: 6 });

  /** A message that begins as JSON does. */
  const framed = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from('['), bytes]);

  it('is whole again, whatever the order of parts, senders and repeats', () => {
    fc.assert(
      fc.property(
        messages,
        fc.integer({ min: 1, max: 64 }),
        fc.infiniteStream(fc.nat()),
        (bodies, bytesMax, chance) => {
          const inbox = new PartsInbox({ stopwatchMs: () => 0 });
          const parts = bodies.flatMap((body, index) =>
            [...partsOf(framed(body), 1 + (index >> 1), bytesMax)].map((part) => ({ sender: `s${index % 2}`, part })),
          );
          const shuffled = parts
            .flatMap((each) => (chance.next().value % 5 === 0 && each.part[0] === 0x50 ? [each, each] : [each]))
            .map((each) => ({ each, order: chance.next().value }))
            .toSorted((one, other) => one.order - other.order)
            .map(({ each }) => each);
          const whole = shuffled.map(({ sender, part }) => inbox.take(sender, part)).filter((each) => each !== null);
          const texts = (list: readonly Uint8Array[]): string[] =>
            list.map((each) => Buffer.from(each).toString('hex'));
          const expected = new Set(texts(bodies.map(framed)));
          assert.deepEqual(new Set(texts(whole)), expected);
        },
      ),
    );
  });

  it('that is not complete is given up after a while, and others are taken', () => {
    let now = 0;
    const inbox = new PartsInbox({ stopwatchMs: () => now });
    const [first] = partsOf(framed(Buffer.alloc(300)), 1, 100);
    assert.equal(inbox.take('s', first!), null);
    assert.equal(inbox.bytes, 100);
    now = 20_000;
    const later = [...partsOf(framed(Buffer.alloc(300)), 2, 100)].map((part) => inbox.take('s', part));
    assert.equal(later.at(-1)?.length, 301);
    assert.equal(inbox.bytes, 0);
  });

  it('is given up when too much waits, the oldest first', () => {
    const inbox = new PartsInbox({ stopwatchMs: () => 0 }, 4 * 1024 * 1024);
    const size = 3 * 1024 * 1024;
    const started = [1, 2, 3].map((number) => [...partsOf(framed(Buffer.alloc(size)), number)]);
    for (const parts of started) for (const part of parts.slice(0, -1)) inbox.take('s', part);
    assert.ok(inbox.bytes <= 7 * 1024 * 1024, `${inbox.bytes}`);
    assert.equal(inbox.take('s', started[2]!.at(-1)!)?.length, size + 1);
  });

  it('that could never be kept whole is not begun', () => {
    const inbox = new PartsInbox({ stopwatchMs: () => 0 }, 2 * 1024 * 1024);
    for (const part of partsOf(framed(Buffer.alloc(5 * 1024 * 1024)), 1)) assert.equal(inbox.take('s', part), null);
    assert.equal(inbox.bytes, 0);
  });
});
