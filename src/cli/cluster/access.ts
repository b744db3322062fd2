/** The cluster that a command works on, from the environment. */
import { readClusterConfig, type ClusterConfig } from '#src/config.ts';
import { WrongUse, type Call } from './command.ts';

/** Throws WrongUse when a setting of the cluster is bad, or NATS_URL is not set. */
export function clusterSettings(call: Call): ClusterConfig {
  const reading = readClusterConfig(call.environment);
  if ('problems' in reading) throw new WrongUse(reading.problems.join('\n'));
  return reading.cluster;
}
