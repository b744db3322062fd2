/**
 * Which of the epochs that other nodes announce were claimed: the shards' logs say it.
 *
 * 1. An epoch is the number of a claim in the shard's log. One that is no claim of the node that announces it is
 *    refuted, however high it is: calls go on to the owner that is proven.
 * 2. A claim may have been purged, once a checkpoint has it. Then the newest records say which epoch it was.
 * 3. An epoch that was not looked up yet, or whose log does not answer, is unknown.
 * 4. A server that was just elected may not have a claim yet: what is refuted or unknown is looked up again while it is
 *    announced.
 */
import { decodeRecord } from '#persistence/nats/log/records.ts';
import type { ShardLog } from '#persistence/shard-log.ts';
import type { Timing } from '#persistence/nats/timing.ts';

type EpochVerdict = 'PROVEN' | 'REFUTED' | 'UNKNOWN';

/** What a node announces. */
interface Announced {
  readonly shard: number;
  readonly epoch: number;
  readonly node: string;
}

interface ClaimedEpochsPorts {
  readonly time: Pick<Timing, 'stopwatchMs'>;
  readonly log: (shard: number) => Pick<ShardLog, 'get' | 'lastSeq'>;
  /** A verdict is another one than it was. */
  readonly changed: () => void;
}

const AGAIN_MS = 500;

/** More than are announced at once, or were a moment ago; the one asked for longest ago is forgotten (I10). */
const REMEMBERED_MAX = 1_024;

/** After a claim a log may have as many records of the previous owner as that owner had under way, and a few more. */
const VOID_MAX = 8;

interface Lookup {
  verdict: EpochVerdict;
  startedAt: number;
  isUnderWay: boolean;
}

export class ClaimedEpochs {
  readonly #ports: ClaimedEpochsPorts;
  readonly #lookups = new Map<string, Lookup>();

  constructor(ports: ClaimedEpochsPorts) {
    this.#ports = ports;
  }

  /** What is known of an announcement; what is not proven is looked up, and again after a while (rule 4). */
  verdict(announced: Announced): EpochVerdict {
    const name = `${announced.shard} ${announced.epoch} ${announced.node}`;
    const known = this.#lookups.get(name);
    if (known?.verdict === 'PROVEN') return known.verdict;
    const now = this.#ports.time.stopwatchMs();
    const lookup = known ?? { verdict: 'UNKNOWN', startedAt: Number.NEGATIVE_INFINITY, isUnderWay: false };
    this.#lookups.delete(name);
    this.#lookups.set(name, lookup);
    if (this.#lookups.size > REMEMBERED_MAX) this.#lookups.delete(this.#lookups.keys().next().value!);
    if (!lookup.isUnderWay && now - lookup.startedAt >= AGAIN_MS) {
      lookup.isUnderWay = true;
      lookup.startedAt = now;
      void this.#lookUp(announced, lookup);
    }
    return lookup.verdict;
  }

  async #lookUp({ shard, epoch, node }: Announced, lookup: Lookup): Promise<void> {
    const before = lookup.verdict;
    try {
      lookup.verdict = (await wasClaimed(this.#ports.log(shard), epoch, node)) ? 'PROVEN' : 'REFUTED';
    } catch {
      // Rule 3.
    }
    lookup.isUnderWay = false;
    if (lookup.verdict !== before) this.#ports.changed();
  }
}

async function wasClaimed(log: Pick<ShardLog, 'get' | 'lastSeq'>, epoch: number, node: string): Promise<boolean> {
  if (!Number.isSafeInteger(epoch) || epoch < 1) return false;
  const claim = await recordAt(log, epoch);
  if (claim !== null) return claim.kind === 'claim' && claim.node === node;
  const lastSeq = await log.lastSeq();
  if (epoch > lastSeq) return false;
  return (await newestEpoch(log, lastSeq)) === epoch;
}

/** The epoch by the newest records of a log whose claim was purged. */
async function newestEpoch(log: Pick<ShardLog, 'get'>, lastSeq: number): Promise<number> {
  let newest = 0;
  for (let seq = lastSeq; seq > Math.max(0, lastSeq - VOID_MAX); seq -= 1) {
    const record = await recordAt(log, seq);
    if (record === null) break;
    newest = Math.max(newest, record.kind === 'claim' ? seq : record.epoch);
    if (record.kind === 'claim') break;
  }
  return newest;
}

async function recordAt(log: Pick<ShardLog, 'get'>, seq: number) {
  const message = await log.get(seq);
  return message === null ? null : decodeRecord(message.body);
}
