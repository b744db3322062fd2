/**
 * What the state keeps of holds that are changed often and of those that ended. The rules of holds are scenarios
 * (`scenarios/holds.ts`).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evolve } from '#domain/event/evolve.ts';
import { findHold } from '#domain/holds/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import { place, start } from '../fixtures/commands.ts';
import { definitionOf, theatreRun } from '../fixtures/events.ts';
import {
  assertSameAfterReplay,
  fingerprint,
  given,
  MINUTE,
  restore,
  type EventFixture,
} from '../fixtures/event-state.ts';
import type { CommandOf, ItemRequest } from '#domain/command.ts';
import type { HoldView } from '#domain/view.ts';
import { findAnyHold } from '#domain/holds/state.ts';

const BUYER = 'buyer-one';
const OTHER = 'buyer-two';

function item(changes: Partial<ItemRequest> = {}): ItemRequest {
  return {
    ticketTypeId: 'standing',
    sellingStageId: 'general',
    quantity: 1,
    performanceId: 'fri',
    seatIds: null,
    ...changes,
  };
}

function placed(fixture: EventFixture, items: readonly ItemRequest[], sessionKey = BUYER): HoldView {
  return fixture.do(place(items, sessionKey)).hold;
}

function change(hold: HoldView, items: readonly ItemRequest[], sessionKey = BUYER): CommandOf<'ChangeHold'> {
  return { type: 'ChangeHold', holdId: hold.id, sessionKey, items };
}

describe('A hold at its maximum life', () => {
  it('leaves no record behind with each change, however often it is changed', () => {
    const fixture = given(definitionOf(theatreRun({ hold_max_minutes: 10 })));
    const hold = placed(fixture, [item(), item({ ticketTypeId: 'stalls' })]);
    for (let i = 0; i < 20_000; i += 1) fixture.do(change(hold, [item({ quantity: 1 + (i % 3) })]));
    const { inventory } = fixture.state.performances.get('fri')!;
    assert.ok(inventory.longestClaims < 200, `${inventory.longestClaims} entries for one hold`);
    const { length } = fixture.state.holds.deadlines;
    assert.ok(length < 10, `${length} deadlines of one hold`);
    assertSameAfterReplay(fixture);
  });
});

describe('releasing a hold', () => {
  it('forgets the deadlines of holds that were changed again and again', () => {
    const fixture = given(definitionOf(theatreRun()));
    const hold = placed(fixture, [item()]);
    for (let n = 0; n < 20_000; n += 1) {
      fixture.wait(1);
      fixture.do(change(hold, [item({ quantity: 1 + (n % 2) })]));
    }
    const { length } = fixture.state.holds.deadlines;
    assert.ok(length < 200, `${length} deadlines are kept`);
  });
});

describe('a hold that ended', () => {
  const read = (fixture: ReturnType<typeof given>, hold: { readonly id: string }, key = BUYER) =>
    findHold(fixture.state, hold.id, key);

  it('reads as it ended while many others end, and leaves its items out after ten minutes at the earliest', () => {
    const fixture = given(definitionOf(theatreRun()));
    const first = placed(fixture, [item()]);
    fixture.wait(10 * MINUTE).settle();
    const expired = { ...first, status: 'EXPIRED' };
    const others = Array.from({ length: 12_000 }, () => placed(fixture, [item()], OTHER));
    assert.deepEqual(read(fixture, first), expired);
    fixture.wait(10 * MINUTE);
    for (let n = 0; n < 12_000; n += 1) placed(fixture, [item()], OTHER);
    assert.deepEqual(read(fixture, first), { ...expired, items: [] });
    for (const n of [0, 2_000, 6_000, 11_000]) {
      assert.deepEqual(read(fixture, others[n]!, OTHER), { ...others[n], status: 'RELEASED', items: [] });
    }
    assert.ok(isRefusal(read(fixture, first, OTHER)), 'another key finds nothing');
    assert.deepEqual(read(fixture, { id: `${first.id.slice(0, -1)}9` }), read(fixture, { id: 'hld_1_x' }));
    assertSameAfterReplay(fixture);
  });

  it('reads RELEASED without its items at once where the session replaced it', () => {
    const fixture = given(definitionOf(theatreRun()));
    const first = placed(fixture, [item()]);
    placed(fixture, [item({ quantity: 2 })]);
    assert.deepEqual(read(fixture, first), { ...first, status: 'RELEASED', items: [] });
    assert.deepEqual([...fixture.state.holds.ended.whole()], []);
    assertSameAfterReplay(fixture);
  });

  it('reads as it ended for two hours, and not much longer', () => {
    const fixture = given(definitionOf(theatreRun()));
    const first = placed(fixture, [item()]);
    const second = placed(fixture, [item()]);
    fixture.do({ type: 'ReleaseHold', holdId: second.id, sessionKey: BUYER });
    const endALittle = (): void => {
      placed(fixture, [item()], OTHER);
      fixture.wait(MINUTE);
    };
    for (let minute = 0; minute < 120; minute += 1) endALittle();
    for (const hold of [first, second]) {
      const seen = read(fixture, hold);
      assert.equal('status' in seen && seen.status, 'RELEASED');
    }
    for (let minute = 0; minute < 25; minute += 1) endALittle();
    assert.ok(isRefusal(read(fixture, first)));
    assert.ok(fixture.state.holds.ended.cutCount < 140);
    assertSameAfterReplay(fixture);
  });

  it('has the same refusals when only its end is kept: of PATCH, DELETE and a checkout without its key', () => {
    const fixture = given(definitionOf(theatreRun()));
    const expired = placed(fixture, [item()]);
    fixture.wait(10 * MINUTE).settle();
    const released = placed(fixture, [item()]);
    fixture.do({ type: 'ReleaseHold', holdId: released.id, sessionKey: BUYER });
    fixture.wait(10 * MINUTE);
    for (let n = 0; n < 3; n += 1) placed(fixture, [item()], OTHER);
    assert.deepEqual([...fixture.state.holds.byId.keys()].includes(expired.id), false);
    fixture.when(change(expired, [item()])).refuses('HOLD_EXPIRED');
    fixture.when(change(released, [item()])).refuses('HOLD_NOT_ACTIVE', { status: 'RELEASED' });
    const again = fixture.do({ type: 'ReleaseHold', holdId: released.id, sessionKey: BUYER });
    assert.deepEqual(again.hold, { ...released, status: 'RELEASED', items: [] });
    assert.equal(findAnyHold(fixture.state, expired.id, null)?.status, 'EXPIRED');
  });
});

describe('a hold that is the answer under an idempotency key', () => {
  const named = Array.from({ length: 10 }, (_, n) => `S-A-${n + 1}`);
  const command = {
    ...place([item({ ticketTypeId: 'stalls', quantity: 10, seatIds: named })], BUYER),
    idempotency: { key: 'key-1', digest: 'digest' },
  };
  const relabelled = structuredClone(definitionOf(theatreRun()));
  const [hall] = relabelled.localities;
  assert.ok(hall?.seating === 'NUMBERED');
  for (const seat of hall.sections[0]!.rows[0]!.seats) Object.assign(seat, { label: `no. ${seat.label}` });

  /** What changes or ends the hold, or how it is shown. */
  const changes: Readonly<Record<string, (fixture: EventFixture, hold: HoldView) => unknown>> = {
    nothing: () => {},
    'a change': (fixture, hold) => fixture.do(change(hold, [item()])),
    'a change to the same tickets': (fixture, hold) => fixture.wait(1).do(change(hold, [])),
    'its release': (fixture, hold) => fixture.do({ type: 'ReleaseHold', holdId: hold.id, sessionKey: BUYER }),
    'the next hold of its session': (fixture) => placed(fixture, [item()]),
    'the end of its window': (fixture) => fixture.wait(10 * MINUTE).settle(),
    'its order': (fixture, hold) => fixture.do(start({ holdId: hold.id, sessionKey: BUYER, items: null })),
    'other labels of seats': (fixture) =>
      fixture.do({ type: 'DefineEvent', definition: relabelled, operator: null, note: null }),
  };

  for (const [what, happens] of Object.entries(changes)) {
    it(`is given as it was first, after ${what}`, () => {
      const fixture = given(definitionOf(theatreRun()));
      const first = fixture.do(command).hold;
      const { idempotency } = fixture.state;
      assert.ok(idempotency.bytes < 250, `${idempotency.bytes} bytes for an answer that is kept already`);
      const restored = restore(fixture.state);
      const before = fixture.journal.length;
      happens(fixture, first);
      for (const { fact, at } of fixture.journal.slice(before)) evolve(restored, fact, at);
      assert.deepEqual(fixture.do(command), { outcome: 'DONE', hold: first, replayed: true });
      assert.deepEqual(fingerprint(restored), fingerprint(fixture.state));
      assertSameAfterReplay(fixture);
    });
  }

  it('is given as it was then to the key of each change', () => {
    const fixture = given(definitionOf(theatreRun()));
    const { hold } = fixture.do(command);
    const changed = (n: number) => ({
      ...change(hold, [item({ quantity: n })]),
      idempotency: { key: `c-${n}`, digest: '' },
    });
    const answers = [1, 2, 3].map((n) => fixture.wait(1).do(changed(n)).hold);
    assert.deepEqual(
      answers.map(({ items }) => items.at(-1)!.quantity),
      [1, 2, 3],
    );
    for (const n of [1, 2, 3]) assert.deepEqual(fixture.do(changed(n)).hold, answers[n - 1]);
    assertSameAfterReplay(fixture);
  });
});
