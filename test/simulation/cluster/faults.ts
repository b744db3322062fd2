/** What goes wrong in a run: drawn from the seed, scheduled over its time, and mended at its end. */
import type { Cluster } from './cluster.ts';
import type { ClusterFault } from './network.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './world.ts';

/** The pauses of nodes that some runs have: short of every limit, around it, and far beyond. */
const PAUSES_MS = [30, 300, 900, 1_700, 5_000] as const;

/** The splits: short, longer than a dead node is noticed, and longer than another leader and owner take. */
const SPLITS_MS = [500, 3_000, 9_000] as const;

export class Faults {
  readonly #world: World;
  readonly #cluster: Cluster;
  readonly #lastsMs: number;

  constructor(world: World, cluster: Cluster, lastsMs: number) {
    this.#world = world;
    this.#cluster = cluster;
    this.#lastsMs = lastsMs;
  }

  start(): void {
    const { chance } = this.#world;
    this.#sometimes('election', 4, () => this.#elect());
    this.#sometimes('pause', 4, () => this.#pause());
    this.#sometimes('crash', 3, () => this.#crash());
    this.#sometimes('cut-off', 3, () => this.#cutOff());
    this.#sometimes('split', 2, () => this.#split());
    this.#sometimes('leap', 2, () => {
      chance.pick(this.#cluster.processes()).leaptMs = chance.pick([-86_400_000, -90_000, 0, 90_000, 86_400_000]);
    });
    this.#sometimes('checkpoint', 8, () => this.#cluster.checkpoint(this.#anyShard()));
    this.#sometimes('damage', 2, () => this.#damage());
    if (chance.percent(12)) this.#sometimes('damaged log', 1, () => this.#damageLog());
    this.#sometimes('leave', 3, () => this.#cluster.leave());
  }

  /** Everything works again. */
  end(): void {
    const { bus, logs } = this.#world;
    this.#world.calm();
    this.#join();
    for (const log of logs) if (!log.hasLeader) log.elect(0);
    for (const [index, process] of this.#cluster.processes().entries()) {
      bus.cutOff(process, false);
      process.resume();
      process.leaptMs = 0;
      this.#cluster.restart(index);
    }
  }

  /** Has something happen up to so many times, in some runs never. */
  #sometimes(fault: ClusterFault, timesMax: number, happen: () => void): void {
    const { chance, scheduler, without } = this.#world;
    const times = chance.percent(60) ? chance.between(1, timesMax) : 0;
    for (let count = 0; count < times; count += 1) {
      const atMs = chance.next() * this.#lastsMs;
      if (without.has(fault)) continue;
      scheduler.after(atMs, () => {
        this.#world.count(fault);
        happen();
      });
    }
  }

  #anyShard(): number {
    return this.#world.chance.between(0, this.#world.logs.length - 1);
  }

  #elect(): void {
    const { chance, logs } = this.#world;
    const log = logs[this.#anyShard()]!;
    log.elect(chance.percent(50) ? chance.between(1, 400) : chance.between(400, 9_000));
  }

  #pause(): void {
    const { chance, scheduler } = this.#world;
    const process = chance.pick(this.#cluster.processes());
    const lastsMs = chance.pick(PAUSES_MS) * (0.5 + chance.next());
    const resumeLater = (): void => scheduler.after(lastsMs, () => process.resume());
    if (chance.percent(50)) return process.pauseBeforeAnswer(resumeLater);
    process.pause();
    resumeLater();
  }

  #crash(): void {
    const { chance, scheduler } = this.#world;
    const index = chance.between(0, this.#cluster.processes().length - 1);
    this.#cluster.processes()[index]!.end();
    scheduler.after(chance.between(1, 4_000), () => this.#cluster.restart(index));
  }

  #cutOff(): void {
    const { chance, scheduler, bus } = this.#world;
    const process = chance.pick(this.#cluster.processes());
    bus.cutOff(process, true);
    scheduler.after(chance.between(50, 5_000), () => bus.cutOff(process, false));
  }

  /**
   * Messages do not cross; in half of the cases the servers are split too, so that some nodes reach a minority of them.
   */
  #split(): void {
    const { chance, scheduler, bus, logs } = this.#world;
    const small = new Set(this.#cluster.processes().filter(() => chance.percent(50)));
    const isThere = (process: SimulatedProcess): boolean => small.has(process);
    bus.split((process) => (isThere(process) ? 1 : 0));
    if (chance.percent(50)) for (const log of logs) log.split(isThere, chance.percent(50));
    scheduler.after(chance.pick(SPLITS_MS) * (0.5 + chance.next()), () => this.#join());
  }

  #join(): void {
    const { bus, logs } = this.#world;
    bus.split(() => 0);
    for (const log of logs) log.join();
  }

  /** A message of a log is damaged: nobody may serve what was made from it. */
  #damageLog(): void {
    const { logs, damagedShards } = this.#world;
    const shard = this.#anyShard();
    if (!logs[shard]!.damage()) return;
    damagedShards.add(shard);
    this.#crash();
  }

  #damage(): void {
    if (this.#world.store.damageNewest('checkpoints', `${this.#anyShard()}/`)) this.#world.count('damaged checkpoint');
  }
}
