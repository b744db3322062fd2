/** Calls that came together: one that cannot be answered leaves the others as they are, the same reads are one. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import type { EventPort, Found, RushCommand } from '#actors/event-port.ts';
import { refuse } from '#domain/refusal.ts';
import { packError, packValue } from '#engine/packed-answers.ts';
import { createAnswers } from '#threads/calls.ts';
import { EngineCalls } from '#threads/engine-calls.ts';
import { packCommand } from '#threads/packed-rush.ts';

type Ports = Parameters<typeof createAnswers>[0];

const busy = new Overloaded('too many events are being activated', 1);
const early = new Error('the index is being read');

/** What an event refuses a poll with, by the entry. */
const refusalOf = (entryId: string) => refuse('QUEUE_ENTRY_NOT_FOUND', entryId);

function answersOf(byEventId: (eventId: string) => Found, isTiming = false) {
  return createAnswers({
    deployment: { events: { byEventId } } as unknown as Ports['deployment'],
    payments: {} as Ports['payments'],
    readState: () => assert.fail('the state is not asked here'),
    isTiming,
  });
}

it('answers each of several polls, whose events are looked up once, and has those of one event foreseen', async () => {
  const foreseen: (readonly string[])[] = [];
  const inMemory = {
    executeThen: ({ entryId }: RushCommand & { entryId: string }, answered: (answer: unknown) => void) =>
      answered(refusalOf(entryId)),
    foreseePolls: (entryIds: readonly string[]) => void foreseen.push(entryIds),
  } as unknown as EventPort;
  const activated = {
    execute: ({ entryId }: { entryId: string }) => Promise.resolve(refusalOf(entryId)),
  } as unknown as EventPort;
  const events: Record<string, () => Found> = {
    evt_here: () => inMemory,
    evt_later: () => Promise.resolve(activated),
    evt_busy: () => Promise.reject(busy),
    evt_gone: () => null,
    evt_early: () => {
      throw early;
    },
  };
  const polls: readonly (readonly [eventId: string, answer: string])[] = [
    ['evt_here', packValue(refusalOf('que_0'))],
    ['evt_busy', packError(busy)],
    ['evt_early', packError(early)],
    ['evt_later', packValue(refusalOf('que_3'))],
    ['evt_gone', packError(new Overloaded('the event is not there any more', 1))],
    ['evt_here', packValue(refusalOf('que_5'))],
  ];
  const asked: string[] = [];
  const answer = answersOf((eventId) => {
    asked.push(eventId);
    return events[eventId]!();
  });
  const given: string[] = [];
  answer(
    polls.map(([eventId], at) => ({
      text: packCommand(eventId, { type: 'PollQueue', entryId: `que_${at}`, sessionKey: 'anna' })!,
      done: (text) => void (given[at] = text),
    })),
  );
  await nextRound();
  assert.deepEqual(
    given,
    polls.map(([, expected]) => expected),
  );
  assert.deepEqual(
    asked,
    polls.map(([eventId]) => eventId),
  );
  assert.deepEqual(foreseen, [['que_0', 'que_5']]);
});

for (const isTiming of [false, true]) {
  it(`answers any call of an event that cannot be found, ${isTiming ? 'with' : 'without'} times`, async () => {
    const given: string[] = [];
    const calls = [
      { kind: 'command', eventId: 'evt_busy', command: { type: 'OpenPayment' } },
      { kind: 'query', eventId: 'evt_busy', query: {} },
    ].map((call) => JSON.stringify(call));
    const poll = packCommand('evt_busy', { type: 'PollQueue', entryId: 'que_0', sessionKey: 'anna' })!;
    answersOf(
      () => Promise.reject(busy),
      isTiming,
    )([...calls, poll].map((text) => ({ text, done: (answer) => void given.push(answer) })));
    await nextRound();
    const expected = isTiming ? `${packError(busy).slice(0, -1)},{"turn":0,"disk":0}]` : packError(busy);
    assert.deepEqual(given, [expected, expected, expected]);
  });
}

it('gives each answer to the call of its number, which is then free for the next call', async () => {
  const sent: number[] = [];
  const send = (number: number): void => void sent.push(number);
  const calls = new EngineCalls({ send, publications: () => 0, definitions: () => 0, isTiming: false });
  const expected: string[] = [];
  const given: Promise<unknown>[] = [];
  const find = (id: string): void => void given.push(calls.sandbox.find(id));
  const answer = (number: number): void => {
    const id = `cs_${expected.length}`;
    calls.take(number, packValue({ id }));
    // Nobody waits for it any more.
    calls.take(number, packValue({ id: 'again' }));
    expected.push(id);
  };
  for (const id of ['a', 'b', 'c']) find(id);
  for (const at of [1, 2, 0]) answer(sent[at]!);
  for (const id of ['d', 'e', 'f', 'g']) find(id);
  assert.deepEqual(new Set(sent.slice(3)).size, 4);
  for (const at of [6, 3, 5, 4]) answer(sent[at]!);
  assert.deepEqual(
    await Promise.all(given),
    [2, 0, 1, 4, 6, 5, 3].map((at) => ({ id: expected[at]! })),
  );
});

it('sends the same read of several requests once until it is published, unless times are asked for', async () => {
  const readAll = async (isTiming: boolean): Promise<readonly number[]> => {
    const sent: number[] = [];
    let publications = 0;
    const send = (number: number): void => void sent.push(number);
    const calls = new EngineCalls({ send, publications: () => publications, definitions: () => 0, isTiming });
    const answerSent = (reply: () => unknown): void => {
      for (const number of sent.splice(0)) calls.take(number, packValue(reply()));
    };
    const finding = calls.events.byEventId('evt_club');
    answerSent(() => 'evt_club');
    const event = (await finding)!;
    const read = (performanceId: string): Promise<unknown> =>
      event.read({ type: 'ReadPayload', performanceId, sessionKey: null, knownRevision: null });
    const reads = [read('one'), read('one'), read('one'), read('another')];
    publications += 1;
    reads.push(read('one'));
    let answered = 0;
    answerSent(() => ({ revision: (answered += 1) }));
    return ((await Promise.all(reads)) as { revision: number }[]).map(({ revision }) => revision);
  };
  assert.deepEqual(await readAll(false), [1, 1, 1, 2, 3]);
  assert.deepEqual(await readAll(true), [1, 2, 3, 4, 5]);
});
