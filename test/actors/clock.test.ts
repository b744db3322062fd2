import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClock } from '#actors/clock.ts';

const START = Date.UTC(2027, 4, 7, 12);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A machine whose time and clock the test sets. */
function openMachine() {
  const machine = { passedMs: 0, leaptMs: 0, leaps: [] as number[] };
  const source = { wallMs: () => START + machine.passedMs + machine.leaptMs, stopwatchMs: () => machine.passedMs };
  const open = (options: { readonly offsetMs?: number; readonly notBefore?: number } = {}) =>
    createClock(source, { ...options, onLeap: ({ byMs }) => machine.leaps.push(byMs) });
  return { machine, open };
}

describe('The clock of the service', () => {
  it('follows the machine’s clock while that is not set', () => {
    const { machine, open } = openMachine();
    const clock = open();
    for (const ms of [0, 1, 999, 3_600_000]) {
      machine.passedMs += ms;
      assert.equal(clock.now(), START + machine.passedMs);
    }
    assert.deepEqual([clock.leaps, clock.isDegraded, machine.leaps], [0, false, []]);
  });

  it('is read once for all that happens at one moment, and goes on afterwards, also when that failed', () => {
    const { machine, open } = openMachine();
    const clock = open();
    for (const failure of [null, new Error('a defect')]) {
      const begin = machine.passedMs;
      const work = (): void =>
        clock.atOneMoment(() => {
          machine.passedMs += 3;
          assert.equal(clock.now(), START + begin);
          if (failure !== null) throw failure;
        });
      if (failure === null) work();
      else assert.throws(work, failure);
      assert.equal(clock.now(), START + begin + 3);
    }
  });

  it('does not follow a leap of more than a minute, counts it, and shows it for minutes after it was corrected', () => {
    const { machine, open } = openMachine();
    const clock = open();
    for (const leapMs of [3_600_000, -3_600_000]) {
      machine.leaptMs = leapMs;
      machine.passedMs += 10 * MINUTE;
      assert.equal(clock.now(), START + machine.passedMs);
      assert.equal(clock.machineNow(), START + machine.passedMs + leapMs);
      assert.equal(clock.isDegraded, true);
    }
    machine.leaptMs = 0;
    assert.equal(clock.now(), START + machine.passedMs);
    assert.deepEqual(machine.leaps, [3_600_000, -7_200_000, 3_600_000]);
    assert.equal(clock.leaps, 3);
    machine.passedMs += 5 * MINUTE - 1;
    assert.equal(clock.isDegraded, true);
    machine.passedMs += 1;
    assert.equal(clock.isDegraded, false);
  });

  it('corrects a small difference by a twentieth of the time that passes, in both directions, and never runs back', () => {
    for (const sign of [1, -1]) {
      const { machine, open } = openMachine();
      const clock = open();
      machine.leaptMs = sign * 10 * SECOND;
      let before = clock.now();
      for (let n = 0; n < 200; n += 1) {
        machine.passedMs += SECOND;
        const now = clock.now();
        const step = now - before;
        assert.ok(step >= 949 && step <= 1_051, `${step} ms in a second`);
        before = now;
      }
      assert.equal(clock.now(), clock.machineNow());
      assert.deepEqual([clock.leaps, clock.isDegraded], [0, false]);
    }
  });

  it('begins at the last fact where that is ahead of the machine’s clock, and continues from there', () => {
    const { machine, open } = openMachine();
    const clock = open({ notBefore: START + 3_600_000, offsetMs: 60_000 });
    assert.equal(clock.now(), START + 3_600_000);
    machine.passedMs += 1_234;
    assert.equal(clock.now(), START + 3_601_234);
    assert.deepEqual([clock.leaps, clock.isDegraded], [1, true]);
    const later = open({ notBefore: START - 1, offsetMs: 60_000 });
    assert.equal(later.now(), START + 61_234, 'an offset is added to the machine’s clock');
    later.advance(1_000);
    assert.equal(later.now(), START + 62_234);
    assert.equal(later.isDegraded, false, 'what people moved it by is no leap');
  });
});
