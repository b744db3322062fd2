/**
 * A shard at its owner: ledgers over the real journal of a shard, behind the real gate of answers.
 *
 * The twin of the product's owned shard, with ledgers in the place of event actors; it keeps the same rules.
 *
 * 1. A turn runs to its end without waiting. A command with an id that is known is not decided again.
 * 2. An answer waits until every fact that it was made from is durable, and then for the gate.
 * 3. Once the shard is given up or lost, every call is rejected with Moved.
 */
import { AnswerGate } from '#cluster/shards/answer-gate.ts';
import { Moved, type Call } from '#cluster/calls/shard-calls.ts';
import { purgeLog } from '#persistence/nats/objects/purge.ts';
import type { ShardJournal } from '#persistence/nats/log/journal.ts';
import { FACT_TYPE, Ledger, type LedgerCommand, type LedgerFact, type LedgerSnapshot, type Seen } from './ledger.ts';
import { accessOf, type ClaimedLog, type ShardKind } from './owner.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './world.ts';

/** Calls that were taken when the shard is given up have so long. */
const FINISH_MS_MAX = 400;

export class LedgerShard {
  readonly journal: ShardJournal;
  readonly #shard: number;
  readonly #process: SimulatedProcess;
  readonly #gate: AnswerGate;
  readonly #ledgers = new Map<string, Ledger>();
  /** The newest of each ledger; the journal has the rows after it. */
  readonly #snapshots: Map<string, LedgerSnapshot>;
  #lastAt: number;
  #underWay = 0;
  #isEnded = false;

  /** The snapshots are those that the checkpoint names. */
  constructor(claimed: ClaimedLog, process: SimulatedProcess, snapshots: Map<string, LedgerSnapshot>) {
    const { shard, journal, recovered, opensAtMs } = claimed;
    this.#shard = shard;
    this.journal = journal;
    this.#process = process;
    this.#snapshots = snapshots;
    this.#lastAt = recovered.head.at;
    const ports = {
      confirm: () => journal.confirmOwnership(),
      stopwatchMs: () => process.stopwatchMs(),
      after: (delayMs: number, run: () => void) => void process.after(delayMs, run),
    };
    this.#gate = new AnswerGate(ports, opensAtMs);
    for (const row of recovered.rows) {
      const ledger = this.#ledgerOf(row.eventId);
      if (row.seq > ledger.seq) ledger.apply(JSON.parse(row.data) as LedgerFact, row.seq);
    }
  }

  async handle(call: Call): Promise<Seen> {
    if (this.#isEnded) throw this.#moved();
    this.#underWay += 1;
    try {
      const seen = await this.#answer(call);
      if (!(await this.#gate.pass())) throw this.#moved();
      return seen;
    } catch (error) {
      if (this.journal.status === 'CLOSED' && !(error instanceof Moved)) throw this.#moved(error);
      throw error;
    } finally {
      this.#underWay -= 1;
    }
  }

  get holdOffLeftMs(): number {
    return this.#gate.leftMs;
  }

  /** Nothing is due in a ledger. */
  settle(): void {}

  /** Finishes what is under way for a while, then makes durable what was appended. */
  async giveUp(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const untilMs = this.#process.stopwatchMs() + FINISH_MS_MAX;
    while (this.#underWay > 0 && this.#process.stopwatchMs() < untilMs)
      await new Promise<void>((resolve) => this.#process.after(10, resolve));
    await this.journal.close().catch(() => {});
    this.#gate.close();
  }

  /** Another node owns the shard. */
  lose(): void {
    this.#isEnded = true;
    this.#gate.close();
  }

  /** The ledger of an event as of its newest durable fact, from its snapshot and the rows after it. */
  durableSnapshot(eventId: string): LedgerSnapshot {
    const ledger = this.#restore(eventId);
    for (const row of this.journal.read({ eventId, afterSeq: ledger.seq }))
      ledger.apply(JSON.parse(row.data) as LedgerFact, row.seq);
    return ledger.snapshot();
  }

  /** A snapshot is kept, and a checkpoint names it: the journal may drop what it covers. */
  release(eventId: string, snapshot: LedgerSnapshot): void {
    this.#snapshots.set(eventId, snapshot);
    this.journal.release(eventId, snapshot.seq);
  }

  #moved(cause?: unknown): Moved {
    return new Moved(this.#shard, 'this process does not own it any more', cause);
  }

  async #answer(call: Call): Promise<Seen> {
    if (call.kind === 'shard') throw new Error('a ledger has no calls to its shard');
    const { eventId } = call;
    const ledger = this.#ledgerOf(eventId);
    const seen = call.kind === 'query' ? ledger.seen() : this.#execute(ledger, eventId, call.commandId, call.command);
    await this.journal.durable(ledger.seq);
    return seen;
  }

  #execute(ledger: Ledger, eventId: string, commandId: string, given: unknown): Seen {
    const command = given as LedgerCommand;
    const known = this.journal.executedCommand(commandId);
    if (known !== null) return JSON.parse(known.reply) as Seen;
    const repeated = command.isKeyed ? ledger.keys.get(command.op) : undefined;
    if (repeated !== undefined) return repeated;
    const facts = ledger.decide(command);
    if (facts === null) return ledger.seen(true);
    let seq = this.journal.appendedSeq;
    for (const fact of facts) ledger.apply(fact, (seq += 1));
    this.#lastAt = Math.max(this.#lastAt, this.#process.wallMs());
    const seen = ledger.seen();
    this.journal.append({
      eventId,
      at: this.#lastAt,
      facts: facts.map((fact) => ({ type: FACT_TYPE, data: JSON.stringify(fact) })),
      command: { id: commandId, reply: JSON.stringify(seen) },
    });
    return seen;
  }

  #ledgerOf(eventId: string): Ledger {
    let ledger = this.#ledgers.get(eventId);
    if (ledger === undefined) this.#ledgers.set(eventId, (ledger = this.#restore(eventId)));
    return ledger;
  }

  #restore(eventId: string): Ledger {
    const snapshot = this.#snapshots.get(eventId);
    return snapshot === undefined ? new Ledger() : Ledger.restore(snapshot);
  }
}

/** Shards of ledgers. */
export function ledgerKind(world: World): ShardKind<LedgerShard> {
  const underWay = new Set<LedgerShard>();
  return {
    statesAhead: () => null,
    open(claimed, process) {
      const snapshots = new Map<string, LedgerSnapshot>();
      for (const { eventId, seq } of claimed.checkpoint?.snapshots ?? [])
        snapshots.set(eventId, world.store.snapshotAt(eventId, seq));
      return new LedgerShard(claimed, process, snapshots);
    },
    async checkpoint(shard, owned, process) {
      if (underWay.has(owned)) return;
      underWay.add(owned);
      try {
        await takeCheckpoint(world, shard, owned, process);
      } finally {
        underWay.delete(owned);
      }
    },
  };
}

async function takeCheckpoint(
  world: World,
  shard: number,
  owned: LedgerShard,
  process: SimulatedProcess,
): Promise<void> {
  const { log, checkpoints, archive } = accessOf(world, process, shard);
  const { journal } = owned;
  const taken = new Map<string, LedgerSnapshot>();
  for (const { eventId } of [...journal.streams()]) {
    const snapshot = owned.durableSnapshot(eventId);
    world.referee.snapshot(eventId, snapshot);
    await world.store.saveSnapshot(process, eventId, snapshot);
    taken.set(eventId, snapshot);
  }
  const { head, rows, executed } = journal.content();
  const snapshots = [...taken].map(([eventId, { seq }]) => ({ format: 1, eventId, seq, at: head.at, about: null }));
  await checkpoints.write({
    head,
    rows: rows.filter(({ eventId, seq }) => seq > (taken.get(eventId)?.seq ?? 0)),
    executed,
    snapshots,
  });
  world.count('checkpoint');
  for (const [eventId, snapshot] of taken) owned.release(eventId, snapshot);
  if ((await purgeLog(log, archive, checkpoints)) > 0) world.count('purge');
}
