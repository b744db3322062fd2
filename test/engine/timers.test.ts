import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { Overloaded } from '#actors/admission.ts';
import { startTimers, type Timers } from '#engine/timers.ts';

const START = 1_000_000;

describe('The timers of events', () => {
  /** What somebody moved the clock forward by; time itself is node:test's. */
  let movedMs = 0;
  let settled: string[] = [];
  let readings = 0;
  let failure: Error | null = null;
  let timers: Timers;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: START });
    movedMs = 0;
    settled = [];
    readings = 0;
    failure = null;
    timers = startTimers({
      clock: {
        now() {
          readings += 1;
          return Date.now() + movedMs;
        },
      },
      settleDue(eventId) {
        settled.push(eventId);
        return failure === null ? Promise.resolve() : Promise.reject(failure);
      },
      isOver: () => false,
      isClosed: () => false,
    });
  });
  afterEach(() => {
    timers.stop();
    mock.timers.reset();
  });

  it('settle an event at the millisecond in which something is due, and once', () => {
    timers.schedule('evt_one', START + 70);
    mock.timers.tick(69);
    assert.deepEqual(settled, []);
    mock.timers.tick(1);
    assert.deepEqual(settled, ['evt_one']);
    mock.timers.tick(10_000);
    assert.deepEqual(settled, ['evt_one']);
  });

  it('settle what is due first first, also when it was scheduled last', () => {
    timers.schedule('evt_late', START + 5_000);
    timers.schedule('evt_early', START + 10);
    timers.schedule('evt_early', START + 4_000);
    mock.timers.tick(10);
    assert.deepEqual(settled, ['evt_early']);
    mock.timers.tick(4_990);
    assert.deepEqual(settled, ['evt_early', 'evt_late']);
  });

  it('do not wake a service in which nothing is due', () => {
    mock.timers.tick(60_000);
    assert.equal(readings, 0);
    timers.schedule('evt_one', START + 60_100);
    mock.timers.tick(200);
    readings = 0;
    mock.timers.tick(60_000);
    assert.equal(readings, 0, 'after the last event is settled the clock is read no more');
  });

  it('read the clock about once a second while something is due much later', () => {
    timers.schedule('evt_one', START + 3_600_000);
    readings = 0;
    mock.timers.tick(10_000);
    assert.ok(readings > 0 && readings <= 30, `${readings} readings in ten seconds`);
  });

  it('notice within a second that somebody moved the clock', () => {
    timers.schedule('evt_one', START + 3_600_000);
    movedMs = 3_600_000;
    mock.timers.tick(1_000);
    assert.deepEqual(settled, ['evt_one']);
  });

  it('settle many events that are due at once', () => {
    for (let n = 0; n < 1_000; n += 1) timers.schedule(`evt_${n}`, START + 5);
    mock.timers.tick(10);
    assert.equal(new Set(settled).size, 1_000);
  });

  it('try an event again after a second when too many were being activated', async () => {
    failure = new Overloaded('too many events are being activated', 1);
    timers.schedule('evt_one', START + 5);
    mock.timers.tick(5);
    await Promise.resolve();
    await Promise.resolve();
    failure = null;
    mock.timers.tick(999);
    assert.deepEqual(settled, ['evt_one']);
    mock.timers.tick(1);
    assert.deepEqual(settled, ['evt_one', 'evt_one']);
  });

  it('settle nothing after they were stopped', () => {
    timers.schedule('evt_one', START + 5);
    timers.stop();
    timers.schedule('evt_two', START + 5);
    mock.timers.tick(1_000);
    assert.deepEqual(settled, []);
  });
});
