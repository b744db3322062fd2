/** The cluster that a command works on, from the environment. */
import { readClusterConfig, type ClusterConfig } from '#service/config.ts';
import { WrongUse, type CliCall } from '../terminal/command.ts';

/** Throws WrongUse when a setting of the cluster is bad, or NATS_URL is not set. */
export function clusterSettings(call: CliCall): ClusterConfig {
  const reading = readClusterConfig(call.environment);
  if ('problems' in reading) throw new WrongUse(reading.problems.join('; '));
  return reading.cluster;
}
