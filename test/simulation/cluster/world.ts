/**
 * What the nodes of a simulated cluster share: time, the network, the shards' logs, the store, and who checks it all.
 */
import type { Chance } from '../chance.ts';
import { drawNetwork, GOOD_NETWORK, type Network } from './network.ts';
import { readLedgerFact, Referee } from './referee.ts';
import { Scheduler } from './scheduler.ts';
import { SimulatedBus } from './simulated-bus.ts';
import { SimulatedLog } from './simulated-log.ts';
import { SimulatedStore } from './store.ts';

export class World {
  readonly chance: Chance;
  readonly scheduler: Scheduler;
  readonly referee: Referee;
  readonly bus: SimulatedBus;
  readonly logs: readonly SimulatedLog[];
  readonly store: SimulatedStore;
  readonly without: ReadonlySet<string>;
  /** How often each thing was seen. */
  readonly seen = new Map<string, number>();
  /** Shards whose logs have a damaged message: they need not be served any more. */
  readonly damagedShards = new Set<number>();
  network: Network;
  /** Whether nothing goes wrong: nodes are not misled either. */
  isCalm = false;
  readonly #badNetwork: Network;

  constructor(chance: Chance, shards: number, without: ReadonlySet<string>, readFact = readLedgerFact) {
    this.chance = chance;
    this.without = without;
    this.scheduler = new Scheduler(chance);
    this.referee = new Referee(shards, readFact);
    this.#badNetwork = drawNetwork(chance, without);
    this.network = this.#badNetwork;
    const network = (): Network => this.network;
    this.bus = new SimulatedBus(this.scheduler, network);
    this.store = new SimulatedStore(this.scheduler, network);
    this.logs = Array.from({ length: shards }, (_, shard) => {
      return new SimulatedLog(this.scheduler, network, (entry) => {
        try {
          this.referee.note(shard, entry);
        } catch (error) {
          this.scheduler.fail(error);
        }
      });
    });
  }

  calm(): void {
    this.network = GOOD_NETWORK;
    this.isCalm = true;
  }

  disturb(): void {
    this.network = this.#badNetwork;
    this.isCalm = false;
  }

  readonly count = (what: string): void => {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  };
}
