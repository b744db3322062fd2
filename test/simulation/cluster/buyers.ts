/**
 * Clients of a simulated cluster of event actors: they place holds, look at them and release them, at any node.
 *
 * 1. A hold whose placing was answered is found from then on, and is ACTIVE until its release was asked for; once that
 *    was answered it is RELEASED. Its facts are in the log when it is answered.
 * 2. Each placing has a session of its own, so that a second HoldPlaced of a session shows that it happened twice.
 * 3. No more tickets are held than there are, in the order of the log.
 */
import assert from 'node:assert/strict';
import type { Call } from '#cluster/calls/shard-calls.ts';
import { entryOf } from '#actors/event-entry.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { Command, ReplyTo } from '#domain/command.ts';
import type { FactData } from '#domain/fact.ts';
import type { Query } from '#domain/event/query.ts';
import type { HoldView } from '#domain/view.ts';
import { eventOf, stage, ticketType } from '../../fixtures/definitions.ts';
import type { Chance } from '../chance.ts';
import { Caller } from './caller.ts';
import type { ClientPorts, RunClient } from './clients.ts';
import type { ReadFact } from './referee.ts';

/** Tickets of an event: few, so that it sells out in some runs. */
const CAPACITY = 40;

interface KnownHold {
  readonly eventId: string;
  readonly holdId: string;
  readonly sessionKey: string;
  state: 'ACTIVE' | 'RELEASING' | 'RELEASED';
}

const placedOp = (sessionKey: string): string => `the placing of ${sessionKey}`;
const releasedOp = (holdId: string): string => `the release of ${holdId}`;

/** Reads the facts of event actors for the referee, and counts what is held (3). */
export function holdFactReader(): (type: string, data: string) => ReadFact {
  const ticketsOf = new Map<string, { readonly eventNumber: string; readonly tickets: number }>();
  const held = new Map<string, number>();
  const count = (event: string, tickets: number): void => {
    const total = (held.get(event) ?? 0) + tickets;
    assert.ok(total <= CAPACITY, `${total} tickets of an event are held, ${CAPACITY} are there`);
    held.set(event, total);
  };
  return (type, text) => {
    const read = (op: string | null): ReadFact => ({ op, digestKey: { op: text, part: 0 }, place: null });
    if (type === 'HoldPlaced') {
      const { holdId, sessionKey, lines } = JSON.parse(text) as FactData['HoldPlaced'];
      const tickets = lines.reduce((sum, { ticketCount }) => sum + ticketCount, 0);
      const eventNumber = sessionKey.split(' ')[0]!;
      ticketsOf.set(holdId, { eventNumber, tickets });
      count(eventNumber, tickets);
      return read(placedOp(sessionKey));
    }
    if (type !== 'HoldReleased') return read(null);
    const { holdId } = JSON.parse(text) as FactData['HoldReleased'];
    const { eventNumber, tickets } = ticketsOf.get(holdId)!;
    count(eventNumber, -tickets);
    return read(releasedOp(holdId));
  };
}

export class Buyer implements RunClient {
  isResting = false;
  readonly #name: string;
  readonly #ports: ClientPorts;
  readonly #chance: Chance;
  readonly #caller: Caller;
  readonly #holds: KnownHold[] = [];
  readonly #isKeyed: boolean;
  #sessions = 0;

  constructor(name: string, ports: ClientPorts) {
    this.#name = name;
    this.#ports = ports;
    this.#chance = ports.scheduler.chance;
    this.#caller = new Caller(ports);
    this.#isKeyed = this.#chance.percent(50);
  }

  get waiting(): number {
    return this.#caller.waiting;
  }

  start(): void {
    this.#ports.scheduler.after(this.#chance.between(20, 400), () => {
      if (this.isResting) return;
      if (this.waiting < 4) this.#act();
      this.start();
    });
  }

  /** Defines an event, again until that is answered. */
  define(eventId: string, eventNumber: number, done: () => void): void {
    const floor = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: CAPACITY } as const;
    const type = ticketType('adult', 'floor');
    const definition = eventOf([floor], [type], [stage('general', { adult: 1000 })], { id: eventId, slug: eventId });
    const command: Command = { type: 'DefineEvent', definition, operator: 'olga', note: null };
    const entry = entryOf({ eventNumber, definition });
    this.#caller.call({ kind: 'command', commandId: '', eventId, command, entry }, true, done);
  }

  changeAndRead(eventId: string, done: () => void): void {
    this.#place(eventId, true, (hold) => (hold === null ? done() : this.#find(hold, done)));
  }

  #act(): void {
    const hold = this.#holds.length === 0 ? null : this.#chance.pick(this.#holds);
    const isNew = hold === null || this.#chance.percent(40);
    if (isNew) this.#place(this.#chance.pick(this.#ports.eventIds), this.#isKeyed, () => {});
    else if (this.#chance.percent(70) || hold.state !== 'ACTIVE') this.#find(hold, () => {});
    else this.#release(hold);
  }

  #execute(eventId: string, command: Command, isRepeated: boolean, answered: (reply: unknown) => void): void {
    this.#caller.call({ kind: 'command', commandId: '', eventId, command }, isRepeated, answered);
  }

  #place(eventId: string, isKeyed: boolean, done: (hold: KnownHold | null) => void): void {
    const { referee } = this.#ports;
    const sessionKey = `${eventId} ${this.#name}-${(this.#sessions += 1)}`;
    const quantity = this.#chance.between(1, 3);
    const where = { performanceId: 'd1', sellingStageId: 'general', seatIds: null };
    const command: Command = {
      type: 'PlaceHold',
      sessionKey,
      items: [{ ticketTypeId: 'adult', quantity, ...where }],
      queuePass: null,
      idempotency: isKeyed ? { key: sessionKey, digest: sessionKey } : null,
    };
    this.#execute(eventId, command, isKeyed, (reply) => {
      if (isRefusal(reply as object)) {
        assert.equal((reply as Refusal).code, 'INSUFFICIENT_TICKETS');
        referee.counts.refusals += 1;
        return done(null);
      }
      const { hold } = reply as ReplyTo<'PlaceHold'>;
      referee.counts.answers += 1;
      assert.ok(
        referee.hasHappened(placedOp(sessionKey)),
        `${placedOp(sessionKey)} was answered and is not in the log`,
      );
      const known: KnownHold = { eventId, holdId: hold.id, sessionKey, state: 'ACTIVE' };
      this.#holds.push(known);
      done(known);
    });
  }

  #find(hold: KnownHold, done: () => void): void {
    const { eventId, holdId, sessionKey, state: stateBefore } = hold;
    const query: Query = { type: 'FindHold', holdId, sessionKey };
    this.#caller.call({ kind: 'query', eventId, query } as Call, true, (view) => {
      const { referee } = this.#ports;
      referee.counts.reads += 1;
      const status = isRefusal(view as object) ? (view as Refusal).code : (view as HoldView).status;
      const isPossible = status === stateBefore || (status === 'ACTIVE' && stateBefore === 'RELEASING');
      const isReleasedMeanwhile = status === 'RELEASED' && hold.state !== 'ACTIVE';
      assert.ok(
        isPossible || isReleasedMeanwhile,
        `${holdId} is ${status}, and was ${stateBefore} before it was asked for`,
      );
      done();
    });
  }

  #release(hold: KnownHold): void {
    const { eventId, holdId, sessionKey } = hold;
    hold.state = 'RELEASING';
    this.#execute(eventId, { type: 'ReleaseHold', holdId, sessionKey }, true, (reply) => {
      const { referee } = this.#ports;
      assert.ok(!isRefusal(reply as object), `the release of ${holdId} was refused`);
      assert.ok(referee.hasHappened(releasedOp(holdId)), `${releasedOp(holdId)} was answered and is not in the log`);
      referee.counts.answers += 1;
      hold.state = 'RELEASED';
    });
  }
}
