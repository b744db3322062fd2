/**
 * One run of a simulated cluster: nodes, clients and faults, all from one seed, and a check of everything that they
 * did.
 *
 * In a run of the kind LOG nodes claim shards by guesses that are often wrong, and clients ask any node that believes
 * it owns a shard; so everything that is right there is right by the log alone. In a run of the kind WHOLE the nodes
 * have the product's membership, placement, claims and router. Both have ledgers in the place of events; ACTORS is
 * WHOLE with the product's event actors.
 *
 * At the end the faults stop. Then every shard must have one owner, and every ledger must be changed and read at every
 * node.
 */
import assert from 'node:assert/strict';
import { shardOf } from '#cluster/directory/placement.ts';
import { chanceOf } from '../chance.ts';
import { actorKind } from './actor-shards.ts';
import { Buyer, holdFactReader } from './buyers.ts';
import { Client, type ClientPorts, type RunClient } from './clients.ts';
import { readLedgerFact } from './referee.ts';
import { Faults } from './faults.ts';
import type { Cluster } from './cluster.ts';
import { ledgerKind } from './ledger-shard.ts';
import { GuessingCluster } from './guessing-cluster.ts';
import { WholeCluster } from './whole-cluster.ts';
import { World } from './world.ts';

export const KINDS = ['LOG', 'WHOLE', 'ACTORS'] as const;
export type Kind = (typeof KINDS)[number];

/** One run in so many is of the kind ACTORS, which takes the time of ten others. */
const ACTORS_EVERY = 25;

export function kindOf(seed: number): Kind {
  if (seed % ACTORS_EVERY === 0) return 'ACTORS';
  return seed % 2 === 0 ? 'LOG' : 'WHOLE';
}

export interface ClusterScenario {
  readonly seed: number;
  readonly kind: Kind;
  /** How long faults and clients go on; some runs take half of it, some twice as long. */
  readonly lastsMs: number;
  readonly clientsMax: number;
  /** Faults that are switched off. */
  readonly without: ReadonlySet<string>;
}

export interface ClusterOutcome {
  readonly simulatedMs: number;
  readonly seen: ReadonlyMap<string, number>;
  readonly failure: Error | null;
}

/**
 * After the faults every call is answered within this time: a dead owner is noticed, its shard claimed, and a request
 * tried again.
 */
const LIVELY_MS = 30_000;

/** Plays a run; one that fails is played once more, with the stacks of errors, which cost a third of the time. */
export async function simulateCluster(scenario: ClusterScenario): Promise<ClusterOutcome> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const outcome = await playOnce(scenario);
    if (outcome.failure === null) return outcome;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return playOnce(scenario);
}

async function playOnce(scenario: ClusterScenario): Promise<ClusterOutcome> {
  const chance = chanceOf(scenario.seed);
  const readFact = scenario.kind === 'ACTORS' ? holdFactReader() : readLedgerFact;
  // Holds run out by the time of day; a ledger has none.
  const without = scenario.kind === 'ACTORS' ? new Set([...scenario.without, 'leap']) : scenario.without;
  const world = new World(chance, chance.between(1, 3), without, readFact);
  let failure: Error | null = null;
  try {
    await (scenario.kind === 'ACTORS' ? playActors(world, scenario) : playLedgers(world, scenario));
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  for (const [what, count] of Object.entries(world.referee.counts)) world.seen.set(what, count);
  return { simulatedMs: world.scheduler.nowMs, seen: world.seen, failure };
}

function playLedgers(world: World, scenario: ClusterScenario): Promise<void> {
  const cluster = scenario.kind === 'LOG' ? new GuessingCluster(world) : new WholeCluster(world, ledgerKind(world));
  return new Run(world, scenario, cluster, (name, ports) => new Client(name, ports)).play();
}

async function playActors(world: World, scenario: ClusterScenario): Promise<void> {
  const kind = actorKind(world);
  world.scheduler.yieldsAlways = true;
  const cluster = new WholeCluster(world, kind);
  const run = new Run(world, scenario, cluster, (name, ports) => new Buyer(name, ports));
  try {
    await run.play(async (ports) => {
      const operator = new Buyer('operator', ports);
      let defined = 0;
      world.calm();
      for (const [index, eventId] of ports.eventIds.entries())
        operator.define(eventId, index + 1, () => (defined += 1));
      const isDefined = await world.scheduler.run(LIVELY_MS, () => defined === ports.eventIds.length);
      assert.ok(isDefined, 'the events are defined');
      world.disturb();
    });
  } finally {
    kind.end();
  }
}

type MakeClient = (name: string, ports: ClientPorts) => RunClient;

class Run {
  readonly #world: World;
  readonly #scenario: ClusterScenario;
  readonly #cluster: Cluster;
  readonly #eventIds: readonly string[];
  readonly #makeClient: MakeClient;
  readonly #ports: ClientPorts;
  readonly #clients: readonly RunClient[];

  constructor(world: World, scenario: ClusterScenario, cluster: Cluster, makeClient: MakeClient) {
    this.#world = world;
    this.#scenario = scenario;
    this.#cluster = cluster;
    this.#makeClient = makeClient;
    const { chance, scheduler, referee } = world;
    this.#eventIds = Array.from({ length: chance.between(1, 4) }, (_, index) => `event-${index}`);
    this.#ports = { scheduler, referee, eventIds: this.#eventIds, fronts: () => cluster.fronts() };
    const count = chance.between(1, scenario.clientsMax);
    this.#clients = Array.from({ length: count }, (_, n) => makeClient(`c${n}`, this.#ports));
  }

  async play(prepare: (ports: ClientPorts) => Promise<void> = async () => {}): Promise<void> {
    const { scheduler } = this.#world;
    const lastsMs = this.#scenario.lastsMs * this.#world.chance.pick([0.5, 0.5, 1, 2]);
    this.#cluster.start();
    await prepare(this.#ports);
    const faults = new Faults(this.#world, this.#cluster, lastsMs);
    faults.start();
    for (const client of this.#clients) client.start();
    await scheduler.run(scheduler.nowMs + lastsMs);
    for (const client of this.#clients) client.isResting = true;
    faults.end();
    await this.#proveLiveness();
  }

  /** Every ledger whose log is whole is changed and read at every node, and nothing waits any more. */
  async #proveLiveness(): Promise<void> {
    const { scheduler, referee, logs, damagedShards } = this.#world;
    const fronts = this.#cluster.fronts();
    const lively = this.#eventIds.filter((eventId) => !damagedShards.has(shardOf(eventId, logs.length)));
    const expected = lively.length * fronts.length;
    let done = 0;
    for (const [index, front] of fronts.entries()) {
      const client = this.#makeClient(`last${index}`, { scheduler, referee, eventIds: lively, fronts: () => [front] });
      for (const eventId of lively) client.changeAndRead(eventId, () => (done += 1));
    }
    const waiting = (): number =>
      damagedShards.size > 0 ? 0 : this.#clients.reduce((sum, client) => sum + client.waiting, 0);
    const isQuiet = (): boolean => done === expected && waiting() === 0;
    if (await scheduler.run(scheduler.nowMs + LIVELY_MS, isQuiet)) return;
    assert.fail(
      `${done} of ${expected} changes and readings were answered after the faults, and ${waiting()} earlier ones wait`,
    );
  }
}
