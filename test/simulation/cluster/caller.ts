/**
 * How a client of a simulated cluster calls: at any node, and again at another one when it gets no answer.
 *
 * A client hears nothing of a node that is paused or has ended, and gives it up after a while. What is not repeated may
 * have happened or not when it is given up.
 */
import type { Call } from '#cluster/calls/shard-calls.ts';
import type { Chance } from '../chance.ts';
import type { Scheduler } from './scheduler.ts';

/** What a client knows a node by: it calls with an answer, or with null where the node gave up; or never. */
export type Front = (call: Call, answered: (answer: unknown) => void) => void;

export interface CallerPorts {
  readonly scheduler: Scheduler;
  /** The nodes that accept connections; some may be paused. */
  readonly fronts: () => readonly Front[];
}

/** A client gives up a node that is silent. */
const PATIENCE_MS = [2_000, 14_000] as const;

export class Caller {
  /** Calls that have no answer yet and were not given up. */
  waiting = 0;
  readonly #ports: CallerPorts;
  readonly #chance: Chance;
  /** The node that it calls first, from 0 to 1 over all nodes; null for any node. */
  readonly #home: number | null;

  constructor(ports: CallerPorts) {
    this.#ports = ports;
    this.#chance = ports.scheduler.chance;
    this.#home = this.#chance.percent(50) ? this.#chance.next() : null;
  }

  /** Calls once, or until there is an answer; an error that `answered` throws fails the run. */
  call(call: Call, isRepeated: boolean, answered: (answer: unknown) => void): void {
    const { scheduler, fronts } = this.#ports;
    this.waiting += 1;
    let tries = 0;
    const attempt = (): void => {
      const open = fronts();
      const thisTry = (tries += 1);
      const again = (): void => {
        if (tries !== thisTry) return;
        tries += 1;
        if (isRepeated) scheduler.after(this.#chance.between(10, 300), attempt);
        else this.waiting -= 1;
      };
      scheduler.after(this.#chance.between(...PATIENCE_MS), again);
      const front =
        thisTry === 1 && this.#home !== null ? open[Math.floor(this.#home * open.length)]! : this.#chance.pick(open);
      front(call, (answer) => {
        if (tries !== thisTry) return;
        if (answer === null) return again();
        tries = -1;
        this.waiting -= 1;
        try {
          answered(answer);
        } catch (error) {
          scheduler.fail(error);
        }
      });
    };
    attempt();
  }
}
