/**
 * The clients of a simulated cluster: they add, take and read at any node, and repeat what they got no answer to.
 *
 * A keyed operation is repeated with its key, at another node, until it is answered. One without a key is asked for
 * once: what became of it without an answer is unknown, and it happens at most once.
 */
import type { Chance } from '../chance.ts';
import { Caller, type CallerPorts } from './caller.ts';
import type { Call } from '#cluster/calls/shard-calls.ts';
import type { LedgerCommand, Seen } from './ledger.ts';
import type { Question, Referee } from './referee.ts';

export interface ClientPorts extends CallerPorts {
  readonly referee: Referee;
  readonly eventIds: readonly string[];
}

/** Clients of any kind, as a run has them. */
export interface RunClient {
  start(): void;
  /** Changes an event and reads it, again until both are answered. */
  changeAndRead(eventId: string, done: () => void): void;
  /** Whether it starts no more operations. */
  isResting: boolean;
  /** Operations that are asked for and have no answer yet. */
  readonly waiting: number;
}

/** A client with so many operations under way starts no other. */
const WAITING_MAX = 8;

export class Client implements RunClient {
  readonly #name: string;
  readonly #ports: ClientPorts;
  readonly #chance: Chance;
  readonly #thinkMs: number;
  readonly #keyedShare: number;
  readonly #readShare: number;
  readonly #caller: Caller;
  #ops = 0;
  isResting = false;

  constructor(name: string, ports: ClientPorts) {
    this.#name = name;
    this.#ports = ports;
    this.#chance = ports.scheduler.chance;
    this.#caller = new Caller(ports);
    this.#thinkMs = this.#chance.pick([60, 200, 600, 2_000]);
    this.#keyedShare = this.#chance.pick([0, 50, 100]);
    this.#readShare = this.#chance.pick([20, 50, 90, 100]);
  }

  get waiting(): number {
    return this.#caller.waiting;
  }

  /** Asks for one thing after the other. */
  start(): void {
    this.#ports.scheduler.after(this.#chance.next() * this.#thinkMs, () => {
      if (this.isResting) return;
      const burst = this.#chance.percent(20) ? this.#chance.between(2, 8) : 1;
      for (let count = 0; count < burst && this.waiting < WAITING_MAX; count += 1) this.#act();
      this.start();
    });
  }

  changeAndRead(eventId: string, done: () => void): void {
    this.#change(eventId, { ...this.#nextCommand(), type: 'Add', isKeyed: true }, () => this.#read(eventId, done));
  }

  #act(): void {
    const eventId = this.#chance.pick(this.#ports.eventIds);
    if (this.#chance.percent(this.#readShare)) return this.#read(eventId, () => {});
    const type = this.#chance.percent(70) ? 'Add' : 'Take';
    this.#change(eventId, { ...this.#nextCommand(), type, isKeyed: this.#chance.percent(this.#keyedShare) }, () => {});
  }

  #nextCommand(): LedgerCommand {
    const parts = this.#chance.percent(25) ? this.#chance.between(2, 4) : 1;
    const op = `${this.#name}-${(this.#ops += 1)}`;
    return { type: 'Add', op, isKeyed: true, amount: this.#chance.between(1, 5), parts };
  }

  /** A reading; one without an answer is asked for again. */
  #read(eventId: string, done: () => void): void {
    const question = this.#ports.referee.ask(eventId, null);
    const call = { kind: 'query', eventId, query: { type: 'ReadLedger' } } as unknown as Call;
    this.#call(call, true, question, done);
  }

  #change(eventId: string, command: LedgerCommand, done: () => void): void {
    const question = this.#ports.referee.ask(eventId, command.op);
    const call = { kind: 'command', eventId, command } as unknown as Call;
    this.#call(call, command.isKeyed, question, done);
  }

  #call(call: Call, isRepeated: boolean, question: Question, done: () => void): void {
    this.#caller.call(call, isRepeated, (seen) => {
      this.#ports.referee.answer(question, seen as Seen);
      done();
    });
  }
}
