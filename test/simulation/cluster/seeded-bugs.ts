/**
 * The list of seeded bugs of the cluster: defects of the ownership protocol, each one replacement of text in a source
 * file.
 *
 * `../run-seeded-bugs.ts` puts them one at a time into a copy of the tree; the simulated cluster must catch each of
 * them, but for one that needs two takeovers and a pause within 750 ms.
 */
import type { SeededBug } from '../seeded-bugs.ts';

/** The rarest of these bugs needs a pause at one moment in a thousand. */
const CLUSTERS = ['--cluster', '--seeds', '1..6000'];
const LOGS = ['--cluster', '--kind', 'LOG', '--seeds', '1..10000'];
const ACTORS = ['--cluster', '--kind', 'ACTORS', '--seeds', '1..1000'];

const bug = (
  name: string,
  file: string,
  find: string,
  put: string,
  simulation = CLUSTERS,
  ...tests: string[]
): SeededBug => ({
  name: `cluster: ${name}`,
  file,
  find,
  put,
  simulation,
  tests,
});

const WINDOW = 'persistence/nats/log/append-window.ts';
const JOURNAL = 'persistence/nats/log/journal.ts';
const CLAIM = 'persistence/nats/log/claim.ts';
const READING = 'persistence/nats/log/head.ts';
const GATE = 'src/cluster/shards/answer-gate.ts';

export const CLUSTER_BUGS: readonly SeededBug[] = [
  bug(
    'the fence is dropped',
    WINDOW,
    "if (record.kind === 'claim') return this.#fence(`node ${record.node} claimed the shard`);\n    if (record.epoch >= this.#epoch || this.#appends.length > 1)",
    "if (record.kind === 'batch' && (record.epoch >= this.#epoch || this.#appends.length > 1))",
  ),
  bug(
    'a void record counts',
    READING,
    'if (record.epoch !== head.epoch || head.epoch === 0) {',
    'if (head.epoch === 0) {',
  ),
  bug(
    'an append without an answer counts as a success',
    WINDOW,
    '        return this.#tryLater(append, answer.cause);\n    }\n  }',
    "        append.state = 'ACKNOWLEDGED';\n        return this.#settle();\n    }\n  }",
  ),
  bug(
    'a call without an answer counts as a failure, and is made anew',
    'src/cluster/calls/router.ts',
    'if (!(error instanceof Moved)) throw error;',
    "if (!(error instanceof Moved)) throw error;\n        if (call.kind === 'command') call = { ...call, commandId: this.newCommandId() };",
  ),
  bug(
    'a reply leaves before the acknowledgement',
    JOURNAL,
    'if (seq <= this.durableSeq) return Promise.resolve();',
    'if (seq <= this.appendedSeq) return Promise.resolve();',
  ),
  bug(
    'a reply leaves before all earlier messages are acknowledged',
    WINDOW,
    "oldest?.state === 'ACKNOWLEDGED'; oldest = this.#appends[0])",
    "oldest !== undefined && this.#appends.some(({ state }) => state === 'ACKNOWLEDGED'); oldest = this.#appends[0])",
  ),
  bug(
    'void batches are not expected',
    WINDOW,
    'const isAlone = this.#streamSeq < this.#epoch + IN_FLIGHT_MAX - 1;',
    'const isAlone = false;',
  ),
  bug(
    'a paused owner answers reads by an old proof',
    GATE,
    'now >= this.#opensAtMs && now - this.#provenAtMs <= PROOF_MS',
    'now >= this.#opensAtMs && this.#provenAtMs > Number.NEGATIVE_INFINITY',
  ),
  bug(
    'a new owner answers while the proof of the one before may serve',
    GATE,
    'export const HOLD_OFF_MS = 800;',
    'export const HOLD_OFF_MS = 0;',
  ),
  bug(
    'a proof counts from its answer',
    GATE,
    'if (isOwner) this.#provenAtMs = askedAtMs;',
    'if (isOwner) this.#provenAtMs = this.#ports.stopwatchMs();',
    LOGS,
  ),
  bug(
    'ownership is confirmed by the number of messages under way',
    JOURNAL,
    "if (record.kind === 'claim') return this.#doubt(`node ${record.node} claimed it`);",
    '',
  ),
  bug(
    'the leader of the log is believed for ever',
    JOURNAL,
    'const LEADER_TRUSTED_MS = 3_000;',
    'const LEADER_TRUSTED_MS = Number.MAX_SAFE_INTEGER;',
    [
      '--cluster',
      '--kind',
      'WHOLE',
      '--seeds',
      '1..12000',
      '--lasts',
      '12000',
      '--without',
      'crash,pause,cut-off,leave,brief,election,whim',
    ],
  ),
  bug(
    'a proof counts before it is in the log',
    JOURNAL,
    'const proofs = this.#proofs.splice(0);',
    'const proofs = this.#proofs.splice(0);\n    for (const proof of proofs) proof.resolve(true);',
  ),
  bug(
    'a shard is released during the hold-off',
    'src/cluster/shards/claims.ts',
    'if (holdOffLeftMs > 0) await pauseFor(this.#ports.time, holdOffLeftMs);',
    'if (holdOffLeftMs < 0) await pauseFor(this.#ports.time, holdOffLeftMs);',
    ['--cluster', '--kind', 'WHOLE', '--seeds', '1..1900'],
    'test/cluster/shards/claims.test.ts',
  ),
  bug(
    'a checkpoint has commands that are not acknowledged',
    JOURNAL,
    'executed: this.#executed.durable(this.durableSeq),',
    'executed: this.#executed.durable(this.appendedSeq),',
  ),
  bug(
    'a snapshot covers facts that are not in it',
    JOURNAL,
    'this.#retained.release(eventId, Math.min(throughSeq, this.durableSeq));',
    'this.#retained.release(eventId, this.durableSeq);',
  ),
  bug(
    'the chain is not checked',
    READING,
    "if (recordHash(head.hash, canonicalTexts) !== hash) throw broken('it fails its checksum');",
    '',
  ),
  bug(
    'an append is repeated with another expectation',
    WINDOW,
    '      if (!this.#isStopped) void this.#try(append);\n    });',
    `      void this.#log.lastSeq().then(
        (seq) => {
          append.expected = seq;
          if (!this.#isStopped) void this.#try(append);
        },
        () => this.#tryLater(append),
      );
    });`,
  ),
  bug(
    'commands are forgotten at a takeover',
    CLAIM,
    'for (const command of record.commands) this.#executed.push(command);',
    '',
  ),
  bug(
    'commands are forgotten with a checkpoint',
    CLAIM,
    'this.#executed = [...(checkpoint?.executed ?? [])];',
    'this.#executed = [];',
  ),
  bug(
    'the log is purged up to the newest checkpoint',
    'persistence/nats/objects/checkpoints.ts',
    'return (await this.#good(KEPT))[KEPT - 1]?.head.streamSeq ?? 0;',
    'return (await this.#good(KEPT))[0]?.head.streamSeq ?? 0;',
  ),
  bug(
    'a claim follows messages that were not read',
    CLAIM,
    'const seq = await appendClaim(log, body, streamSeq, options);',
    'const seq = await appendClaim(log, body, await log.lastSeq(), options);',
  ),
  bug('two claims believe', CLAIM, 'if (recovery.claimId === record.id) {', 'if (recovery.claimId !== null) {'),
  bug(
    'what happened after a state was made ahead is left out',
    'src/actors/activation.ts',
    'for (const row of await source.factsAfter(eventId, lastSeq)) {',
    'for (const row of factsReplayed > 0 ? [] : await source.factsAfter(eventId, lastSeq)) {',
    ACTORS,
  ),
  bug(
    'a state that was made ahead is handed out twice',
    'src/cluster/shards/states-ahead.ts',
    'this.#states.delete(eventId);',
    '',
    ACTORS,
  ),
  bug(
    'an owner answers without the gate',
    'src/cluster/shards/owned-shard.ts',
    'const mayLeave = !this.#isGated(call) || gate.isOpen || (await gate.pass());',
    'const mayLeave = !this.#isGated(call) || gate !== null;',
    ACTORS,
  ),
  bug(
    'the view of a hold does not wait for the gate',
    'src/cluster/shards/owned-shard.ts',
    "if (call.kind === 'query') return WAITS_FOR_DURABILITY[call.query.type];",
    "if (call.kind === 'query') return !WAITS_FOR_DURABILITY[call.query.type];",
    ACTORS,
  ),
  bug(
    'a command is decided again at the next owner',
    'src/cluster/shards/owned-shard.ts',
    'return actor.execute(command, commandId);',
    'return actor.execute(command);',
    ACTORS,
  ),
  bug(
    'an owner that does not know an event does not ask whether it is one',
    'src/cluster/shards/owned-shard.ts',
    'if (!(await this.#ports.gate.pass())) throw this.#moved();\n    throw unknownHere',
    'throw unknownHere',
    ACTORS,
    'test/cluster/shards/owned-shard.test.ts',
  ),
];
