/**
 * `holdfast cluster`: what nodes and servers of a cluster do now, and whether the servers keep what a sale relies on.
 */
import { suggestion } from '#domain/schema-problems.ts';
import type { CliCommand } from '../terminal/command.ts';
import { WrongUse } from '../terminal/command.ts';
import { clusterSettings } from './access.ts';
import { checkCluster } from './check.ts';
import { showStatus } from './status.ts';

const TOPICS = { status: showStatus, check: checkCluster } as const;

export const command: CliCommand = {
  usage: 'cluster status|check',
  description: [
    'status listens to the heartbeats of the nodes for a second, reads the head of every shard, and shows which node owns it. It ' +
      'sends nothing to the nodes. A shard that nobody announces is shown with its last owner, as its log has it. Names that nobody ' +
      'is heard of are marked as silent.',
    'check asks the NATS servers: whether each can be reached and has a version that loses nothing, whether it asks for credentials and ' +
      'uses TLS unless it listens on a loopback address alone, whether every shard has a leader ' +
      'and all its replicas, whether of two writers with the same expectation one wins (200 rounds on a stream of its own), how long ' +
      'an append takes, and, where NATS_MONITOR_URL names their monitoring addresses, whether they call fsync before they answer and ' +
      'have room. Run it before the first node, and whenever something seems wrong. It waits up to 30 s for servers that have just been ' +
      'started and do not know each other yet. Exit code 1 when something must be changed.',
    'Both read NATS_URL and the other settings of a node. Of the secrets that nodes share, status uses TICKET_KEY where it is set: then only ' +
      'what nodes of the cluster have signed is shown.',
  ],
  options: [],
  positionals: { min: 1, max: 1 },
  examples: [
    { line: 'NATS_URL=nats://a:4222 holdfast cluster status', does: 'shows nodes, shards and their owners' },
    {
      line: 'holdfast cluster status --json',
      does: 'prints nodes: [{name, shards, live}], shards: [{shard, owner, epoch, head}]',
    },
    { line: 'holdfast cluster check', does: 'names what is wrong with the servers, and what to change' },
  ],
  async run(call) {
    const [topic = ''] = call.positionals;
    if (!Object.hasOwn(TOPICS, topic)) {
      throw new WrongUse(`there is no cluster ${topic}${suggestion(topic, Object.keys(TOPICS))}`);
    }
    return TOPICS[topic as keyof typeof TOPICS](clusterSettings(call), call.output);
  },
};
