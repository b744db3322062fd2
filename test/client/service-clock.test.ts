import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createServiceClock } from '#client/service-clock.ts';

const NOON = Date.UTC(2028, 4, 8, 12);

describe('The service’s clock in a client', () => {
  const watched = () => {
    let stopwatchMs = 5_000;
    const clock = createServiceClock(() => stopwatchMs);
    return { clock, pass: (ms: number) => (stopwatchMs += ms) };
  };
  const answered = (headers: Record<string, string>) => new Headers(headers);

  it('is the machine’s clock until an answer came', () => {
    const { clock, pass } = watched();
    const before = clock.now();
    assert.ok(Math.abs(before - Date.now()) < 1_000);
    pass(60_000);
    assert.equal(clock.now(), before + 60_000);
  });

  it('goes by the time in an answer, and on by the stopwatch', () => {
    const { clock, pass } = watched();
    clock.noteAnswer(answered({ date: new Date(NOON).toUTCString() }));
    assert.equal(clock.now(), NOON);
    pass(1_500);
    assert.equal(clock.now(), NOON + 1_500);
  });

  it('is not turned back by a late answer, and adds the age of one from a cache', () => {
    const { clock, pass } = watched();
    clock.note(NOON);
    pass(10_000);
    clock.noteAnswer(answered({ date: new Date(NOON + 2_000).toUTCString() }));
    assert.equal(clock.now(), NOON + 10_000);
    clock.noteAnswer(answered({ date: new Date(NOON).toUTCString(), age: '12' }));
    assert.equal(clock.now(), NOON + 12_000);
  });

  it('ignores an answer that does not say the time', () => {
    const { clock } = watched();
    clock.note(NOON);
    clock.noteAnswer(answered({}));
    clock.noteAnswer(answered({ date: 'yesterday' }));
    assert.equal(clock.now(), NOON);
  });

  it('calls back at corrections alone, until that is ended', () => {
    const { clock } = watched();
    let corrections = 0;
    const unfollow = clock.follow(() => (corrections += 1));
    clock.note(NOON);
    clock.note(NOON + 100);
    clock.note(NOON + 400);
    assert.equal(corrections, 2);
    unfollow();
    clock.note(NOON + 9_000);
    assert.equal(corrections, 2);
  });
});
