import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerGate, HOLD_OFF_MS, PROOF_MS } from '#cluster/shards/answer-gate.ts';

/** A gate whose clock, timers and log are the test's. */
function prepare(opensAtMs = 0) {
  const world = { nowMs: 10_000, questions: [] as PromiseWithResolvers<boolean>[] };
  const timers: { at: number; run: () => void }[] = [];
  const gate = new AnswerGate(
    {
      confirm: () => {
        const question = Promise.withResolvers<boolean>();
        world.questions.push(question);
        return question.promise;
      },
      stopwatchMs: () => world.nowMs,
      after: (delayMs, run) => void timers.push({ at: world.nowMs + delayMs, run }),
    },
    opensAtMs,
  );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const passAfter = async (ms: number): Promise<void> => {
    world.nowMs += ms;
    for (const timer of timers.splice(0))
      if (timer.at <= world.nowMs) timer.run();
      else timers.push(timer);
    await settle();
  };
  /** Whether the answer has left, was given up, or waits. */
  const watch = () => {
    const answer = { state: 'WAITS' };
    void gate.pass().then((may) => (answer.state = may ? 'LEFT' : 'GIVEN UP'));
    return answer;
  };
  return { gate, world, settle, passAfter, watch };
}

describe('The gate of a shard’s answers', () => {
  it('asks the log before the first answer, once for all that wait', async () => {
    const { world, settle, watch } = prepare();
    const answers = [watch(), watch()];
    await settle();
    assert.equal(world.questions.length, 1);
    assert.deepEqual(
      answers.map(({ state }) => state),
      ['WAITS', 'WAITS'],
    );
    world.questions[0]!.resolve(true);
    await settle();
    assert.deepEqual(
      answers.map(({ state }) => state),
      ['LEFT', 'LEFT'],
    );
  });

  it('lets answers leave by the same proof until its time is over, counted from the question', async () => {
    const { gate, world, settle, passAfter, watch } = prepare();
    watch();
    await passAfter(300);
    world.questions[0]!.resolve(true);
    await settle();
    await passAfter(PROOF_MS - 300);
    assert.equal(gate.isOpen, true);
    await passAfter(1);
    assert.equal(gate.isOpen, false);
    const late = watch();
    await settle();
    assert.equal(late.state, 'WAITS');
    assert.equal(world.questions.length, 2);
  });

  it('asks again when the log’s answer took longer than a proof serves', async () => {
    const { world, settle, passAfter, watch } = prepare();
    const answer = watch();
    await passAfter(PROOF_MS + 1);
    world.questions[0]!.resolve(true);
    await settle();
    assert.equal(answer.state, 'WAITS');
    world.questions[1]!.resolve(true);
    await settle();
    assert.equal(answer.state, 'LEFT');
  });

  it('gives up what waits, and everything later, once the log has another owner’s message', async () => {
    const { gate, world, settle, watch } = prepare();
    const answer = watch();
    await settle();
    world.questions[0]!.resolve(false);
    await settle();
    assert.equal(answer.state, 'GIVEN UP');
    assert.equal(await gate.pass(), false);
  });

  it('asks again after a pause while the log cannot be reached', async () => {
    const { world, settle, passAfter, watch } = prepare();
    const answer = watch();
    await settle();
    world.questions[0]!.reject(new Error('no leader'));
    await passAfter(0);
    assert.equal(world.questions.length, 1);
    await passAfter(100);
    world.questions[1]!.resolve(true);
    await settle();
    assert.equal(answer.state, 'LEFT');
  });

  it('lets nothing leave after a claim until the proofs of the owner before are over', async () => {
    const { world, settle, passAfter, watch } = prepare(10_000 + HOLD_OFF_MS);
    assert.ok(HOLD_OFF_MS > PROOF_MS);
    const answer = watch();
    await passAfter(HOLD_OFF_MS - 1);
    assert.equal(world.questions.length, 0);
    await passAfter(1);
    world.questions[0]!.resolve(true);
    await settle();
    assert.equal(answer.state, 'LEFT');
  });

  it('gives up what waits when it is closed during a pause', async () => {
    const { gate, settle, watch } = prepare(10_000 + HOLD_OFF_MS);
    const answer = watch();
    await settle();
    gate.close();
    await settle();
    assert.equal(answer.state, 'GIVEN UP');
  });
});
