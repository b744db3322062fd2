/**
 * Whatever owners, checkpoints, purges, cuts and bad objects follow each other: a backup and the next owner find every
 * fact.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import { Checkpoints } from '#persistence/nats/objects/checkpoints.ts';
import { claimShard } from '#persistence/nats/log/claim.ts';
import { MemoryObjects } from '#persistence/memory/objects.ts';
import { purgeLog, wholeLog } from '#persistence/nats/objects/purge.ts';
import { readShardFacts } from '#persistence/nats/log/shard-facts.ts';
import type { ShardJournal } from '#persistence/nats/log/journal.ts';
import type { ShardLog } from '#persistence/shard-log.ts';
import { chanceOf, type Chance } from '../simulation/chance.ts';

const SHARD = 3;
const STEPS = 60;

/** A shard with its stores, where calls of a purge fail by chance. */
class PurgedShard {
  readonly log = new MemoryLog();
  readonly #chance: Chance;
  readonly #archived = new MemoryObjects();
  readonly #checkpointed = new MemoryObjects();
  readonly #archive = new ArchiveBucket(this.#archived, SHARD);
  readonly #checkpoints = new Checkpoints(this.#checkpointed, SHARD);
  #journal: ShardJournal | null = null;
  readonly answered: string[] = [];
  purges = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  get whole(): ShardLog {
    return wholeLog(this.log, this.#archive);
  }

  /** The next owner, which recovers from the newest checkpoint, or without one from everything. */
  async takeOver(): Promise<void> {
    const areBothGood = (await this.#checkpoints.purgeableSeq()) > 0;
    if (areBothGood && this.#chance.percent(30)) this.#checkpointed.damage((await this.#checkpointed.list('')).at(-1)!);
    const checkpoint = await this.#checkpoints.newest();
    const log = checkpoint === null ? this.whole : this.log;
    const claim = await claimShard(log, { node: 'node', checkpoint });
    if (claim.outcome === 'LOST') assert.fail('nobody else claims');
    assert.equal(claim.recovered.head.factSeq, this.answered.length, 'it knows every fact');
    this.#journal = claim.journal;
  }

  async append(): Promise<void> {
    const journal = this.#journal!;
    const facts = Array.from({ length: this.#chance.between(1, 4) }, () => `fact ${journal.appendedSeq}`);
    const eventId = `evt_${this.#chance.between(0, 3)}`;
    await journal.durable(journal.append({ eventId, at: 1, facts: facts.map((data) => ({ type: 'T', data })) }));
    this.answered.push(...facts.map((data) => `${eventId} ${data}`));
  }

  async checkpoint(): Promise<void> {
    await this.#checkpoints.write({ ...this.#journal!.content(), snapshots: [] });
  }

  /** Purges with a cut after some calls; what was archived and is still in the log may be damaged meanwhile. */
  async purge(): Promise<void> {
    const calls = this.#chance.percent(50) ? Infinity : this.#chance.between(0, 12);
    const failing = failingAfter(calls);
    const purged = purgeLog(
      failing(this.log),
      new ArchiveBucket(failing(this.#archived), SHARD),
      new Checkpoints(failing(this.#checkpointed), SHARD),
    );
    if ((await purged.catch(() => 0)) > 0) this.purges += 1;
    const unneeded: string[] = [];
    for (const { name, fromSeq } of await this.#archive.parts()) {
      if ((await this.log.get(fromSeq)) !== null) unneeded.push(name);
    }
    if (unneeded.length > 0 && this.#chance.percent(50)) this.#archived.damage(this.#chance.pick(unneeded));
  }
}

/** Objects whose calls fail after so many of all of them. */
function failingAfter(callsMax: number): <Target extends object>(target: Target) => Target {
  let calls = 0;
  return (target) =>
    new Proxy(target, {
      get(_, name) {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          calls += 1;
          if (calls > callsMax) throw new Error('cut');
          return (member as (...args: unknown[]) => unknown).apply(target, args);
        };
      },
    });
}

describe('A shard that is purged again and again', () => {
  it('loses no fact for a backup or for its next owner', async () => {
    let purges = 0;
    for (let seed = 0; seed < 40; seed += 1) {
      const chance = chanceOf(seed);
      const shard = new PurgedShard(chance);
      await shard.takeOver();
      const weights = { append: 60, checkpoint: 20, purge: 15, takeOver: 5 };
      for (let step = 0; step < STEPS; step += 1) await shard[chance.weighted(weights)]();
      const found: string[] = [];
      for await (const facts of readShardFacts(shard.whole))
        found.push(...facts.map(({ eventId, data }) => `${eventId} ${data}`));
      assert.deepEqual(found, shard.answered, `seed ${seed}`);
      await shard.takeOver();
      purges += shard.purges;
    }
    assert.ok(purges > 40, `${purges} purges dropped something`);
  });
});
