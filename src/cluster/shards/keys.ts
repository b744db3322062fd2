/**
 * The keys of a cluster, opened before a node claims anything.
 *
 * 1. Which keys the cluster is sealed with is noted with its shards. Where those keys are gone, or others are in their
 *    place, a node is refused: personal data would read as erased that nobody erased. An operator may accept that,
 *    once.
 */
import { reportTrouble } from '#actors/trouble.ts';
import { KeysUnusable } from '#persistence/keys.ts';
import { readIdentity, openKeyStream, type StreamKeys } from '#persistence/nats/keys/keys.ts';
import type { ClusterServers } from '#persistence/nats/servers/servers.ts';

interface ClusterKeysOptions {
  /** An operator accepts that personal data whose keys are lost reads as erased (rule 1). */
  readonly isLossAccepted: boolean;
}

/**
 * Opens the keys, and makes them where the cluster never had any. Rejects with KeysUnusable, KeyStoreFault and
 * LogUnreachable.
 */
export async function openClusterKeys(
  servers: ClusterServers,
  { isLossAccepted }: ClusterKeysOptions,
): Promise<StreamKeys> {
  const noted = await servers.notedKeysId();
  if (noted !== null) await refuseLoss(servers, noted, isLossAccepted);
  const onFault = (fault: unknown): void => reportTrouble('keys', `no new keys can be made: ${String(fault)}`, fault);
  const keys = await openKeyStream({ log: await servers.keyLog(), onFault });
  if (keys.keysId !== noted) await servers.noteKeysId(keys.keysId);
  return keys;
}

async function refuseLoss(servers: ClusterServers, noted: string, isLossAccepted: boolean): Promise<void> {
  const log = await servers.existingKeyLog();
  const found = log === null ? null : await readIdentity(log);
  if (found?.keysId === noted) return;
  const { clusterName } = servers.settings;
  const message =
    found === null
      ? `the cluster ${clusterName} has sealed personal data, and the stream ${clusterName}_K, which has their keys, is missing`
      : `the keys in the stream ${clusterName}_K are not the ones that the cluster's personal data are sealed with`;
  if (!isLossAccepted) {
    const hint =
      'Put the stream back from a copy; or, where there is none, start one node with KEYS_LOST=accept: the personal data of those ' +
      'orders then reads as erased.';
    throw new KeysUnusable(message, hint);
  }
  reportTrouble('keys', `${message}; KEYS_LOST=accept: the personal data of those orders reads as erased`);
}
