/** How bad the network and the servers are in a run: drawn once, and switched off when the faults end. */
import type { Chance } from '../chance.ts';

/** Faults that may be switched off by name. */
export const CLUSTER_FAULTS = [
  'loss',
  'slow',
  'repeat',
  'election',
  'pause',
  'crash',
  'cut-off',
  'split',
  'leap',
  'checkpoint',
  'damage',
  'damaged log',
  'whim',
  'leave',
  'brief',
] as const;
export type ClusterFault = (typeof CLUSTER_FAULTS)[number];

/** Shares of a hundred. */
export interface Network {
  requestLost: number;
  answerLost: number;
  /** A request that arrives twice, or late. */
  repeated: number;
  slow: number;
  /** A request without a leader that is kept until there is one. */
  keptWithoutLeader: number;
}

export const GOOD_NETWORK: Network = { requestLost: 0, answerLost: 0, repeated: 0, slow: 0, keptWithoutLeader: 0 };

export function drawNetwork(chance: Chance, without: ReadonlySet<string>): Network {
  const share = (fault: ClusterFault, most: number): number => {
    const drawn = chance.percent(60) ? chance.between(0, most) : 0;
    return without.has(fault) ? 0 : drawn;
  };
  return {
    requestLost: share('loss', 12),
    answerLost: share('loss', 15),
    repeated: share('repeat', 15),
    slow: share('slow', chance.pick([3, 12, 40])),
    keptWithoutLeader: share('election', 50),
  };
}

/** How long one way takes. */
export function wayMs(chance: Chance, network: Network): number {
  if (!chance.percent(network.slow)) return 0.1 + chance.next() * 0.6;
  return chance.percent(70) ? chance.next() * 60 : chance.next() * 2_000;
}
