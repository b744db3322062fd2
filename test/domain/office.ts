/**
 * A box office under a manual clock, for the tests of decisions: `given(definition).when(command).then(facts)` or `.refuses(code, detail)`.
 *
 * It takes turns as the actor does (what is due is settled first, then decided, then evolved) and keeps every fact with
 * its moment, so that a test can replay them. Ids count up: the third hold is `id('hld', 3)`.
 */
import assert from 'node:assert/strict';
import { decide, evolve, nextDeadline, openBoxOffice, type BoxOffice } from '#domain/box-office.ts';
import { isRefusal, type Refusal, type RefusalCode } from '#domain/refusal.ts';
import { createHashing } from '#actors/hashing.ts';
import { touchEntry } from '#domain/waiting-room.ts';
import { restoreOffice, restorePiece, snapshotPieces } from '#domain/snapshot.ts';
import { joinId, type IdPrefix } from '#domain/ids.ts';
import type { Command, CommandOf, CommandType, ReplyTo } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue.ts';
import type { Fact } from '#domain/fact.ts';

/** A Friday noon. */
export const START = Date.UTC(2027, 4, 7, 12);

export const MINUTE = 60_000;

export const EVENT_NUMBER = 1;

/** The id that the harness gives to the n-th thing of a kind, from 1. */
export function id(prefix: IdPrefix, n: number): string {
  return joinId(prefix, EVENT_NUMBER, String(n).padStart(24, '0'));
}

export interface KeptFact {
  readonly fact: Fact;
  readonly at: number;
}

export interface Verdict {
  /** Exactly these facts, or facts of exactly these types. */
  then(expected: readonly (Fact | Fact['type'])[]): void;
  refuses(code: RefusalCode, detail?: object): void;
}

/** One event's box office, with the clock and the source of ids in the test's hand. */
export class Desk {
  readonly office: BoxOffice;
  readonly journal: KeptFact[] = [];
  now: number;
  readonly #counts = new Map<IdPrefix, number>();
  readonly #hashing = createHashing();
  readonly #newSeed: () => string;

  constructor(office: BoxOffice, now: number, newSeed: () => string = countedSeeds()) {
    this.office = office;
    this.now = now;
    this.#newSeed = newSeed;
  }

  /** Moves the clock; nothing runs out before the next turn. */
  wait(ms: number): this {
    this.now += ms;
    return this;
  }

  /** Takes a turn, whatever comes of it. */
  ask<Type extends CommandType>(command: CommandOf<Type>): ReplyTo<Type> | Refusal {
    this.settle();
    return this.#turn(command as Command) as ReplyTo<Type> | Refusal;
  }

  /** Takes a turn that must not be refused. */
  do<Type extends CommandType>(command: CommandOf<Type>): ReplyTo<Type> {
    const reply = this.ask(command);
    if (isRefusal(reply)) assert.fail(`${command.type} was refused: ${JSON.stringify(reply)}`);
    return reply;
  }

  /** Takes a turn and looks at what it decided. */
  when(command: Command): Verdict {
    this.settle();
    const before = this.journal.length;
    const pieces = [...snapshotPieces(this.office)].join('\n');
    const reply = this.#turn(command);
    const facts = this.journal.slice(before).map((kept) => kept.fact);
    return {
      then: (expected) => {
        if (isRefusal(reply)) assert.fail(`${command.type} was refused: ${JSON.stringify(reply)}`);
        const seen = facts.map((fact, index) => (typeof expected[index] === 'string' ? fact.type : fact));
        assert.deepEqual(seen, expected);
      },
      refuses: (code, detail) => {
        if (!isRefusal(reply)) assert.fail(`${command.type} was not refused, but should have been with ${code}`);
        assert.equal(reply.code, code, JSON.stringify(reply));
        if (detail !== undefined) assert.deepEqual(reply.detail, detail);
        assert.equal([...snapshotPieces(this.office)].join('\n'), pieces, 'a refusal changes nothing');
      },
    };
  }

  /** Ends everything that has run out by now, as the actor does before each turn. */
  settle(): void {
    for (;;) {
      const due = nextDeadline(this.office);
      if (due === null || due.at > this.now) return;
      const before = this.journal.length;
      this.#turn({ type: 'SettleDeadline', subjectId: due.subjectId });
      assert.ok(this.journal.length > before, `settling ${due.subjectId} changed nothing, so it would be due for ever`);
    }
  }

  #turn(command: Command): object {
    touchEntry(this.office, command, this.now);
    const decision = decide(this.office, command, {
      now: this.now,
      newId: (prefix) => this.#nextId(prefix),
      newSeed: this.#newSeed,
      hashing: this.#hashing,
    });
    if (isRefusal(decision)) return decision;
    for (const fact of decision.facts) {
      evolve(this.office, fact, this.now);
      this.journal.push({ fact, at: this.now });
    }
    return decision.reply();
  }

  #nextId(prefix: IdPrefix): string {
    const n = (this.#counts.get(prefix) ?? 0) + 1;
    this.#counts.set(prefix, n);
    return id(prefix, n);
  }
}

/** Seeds and openings that count up. */
function countedSeeds(): () => string {
  let seeds = 0;
  return () => (seeds += 1).toString(16).padStart(64, '0');
}

/** The box office of an event that was just defined. */
export function given(definition: EventDefinition, now = START, newSeed?: () => string): Desk {
  const desk = new Desk(openBoxOffice(definition.id, EVENT_NUMBER), now, newSeed);
  desk.do({ type: 'DefineEvent', definition, operator: null, note: null });
  return desk;
}

/** The pieces of the office's snapshot: equal for equal states. */
export function fingerprint(office: BoxOffice): string[] {
  return [...snapshotPieces(office)];
}

/** A second office that the facts of the first lead to, each read back from the text that a journal would keep. */
export function replay(desk: Desk): BoxOffice {
  const office = openBoxOffice(desk.office.eventId, EVENT_NUMBER);
  for (const { fact, at } of desk.journal) evolve(office, JSON.parse(JSON.stringify(fact)) as Fact, at);
  return office;
}

/** A second office, put together from the snapshot of the first. */
export function restore(office: BoxOffice): BoxOffice {
  const [first, ...others] = snapshotPieces(office);
  const restored = restoreOffice(first!);
  for (const piece of others) restorePiece(restored, piece);
  return restored;
}

/** Asserts that the office replayed from the facts, and the one restored from a snapshot, are in the state of the living one (I9). */
export function assertSameAfterReplay(desk: Desk): void {
  const living = fingerprint(desk.office);
  assert.deepEqual(fingerprint(replay(desk)), living, 'replayed');
  assert.deepEqual(fingerprint(restore(desk.office)), living, 'restored');
}
