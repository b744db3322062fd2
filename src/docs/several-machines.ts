/** The guide for operators who run a cluster: when it pays, how to move there and back, what is promised, and what to watch. */
import type { Guide } from './guide.ts';

const NODE_SETTINGS = `export NATS_URL=nats://nats-1:4222,nats://nats-2:4222,nats://nats-3:4222
export NATS_USER=holdfast NATS_PASSWORD=…
export NODE_NAME=node-1
export ADMIN_TOKEN=… TICKET_KEY=… WEBHOOK_SECRET_A=… WEBHOOK_SECRET_B=…
export BASE_URL=https://tickets.example
npm run -s holdfast -- serve`;

const MOVE_UP = `# 1. On the single machine: stop the service. Its folder stays the backup of this moment.
# 2. With the settings of a node, while no node runs:
npm run -s holdfast -- cluster check
npm run -s holdfast -- import /var/lib/holdfast
# 3. Start the nodes.
npm run -s holdfast -- cluster status`;

const MOVE_BACK = `npm run -s holdfast -- backup /backups/tonight
npm run -s holdfast -- verify /backups/tonight
# In a shell without the settings NATS_…, and with the secrets of the nodes:
DATA_DIR=/backups/tonight npm run -s holdfast -- serve`;

export const severalMachines: Guide = {
  slug: 'several-machines',
  title: 'Several machines',
  lead: 'A cluster of nodes on NATS JetStream: when you need it, what it costs, how to move there and back, and what it promises.',
  sections: [
    {
      title: 'When you need it',
      blocks: [
        {
          text: 'One machine sells out a stadium in seconds, and its folder can be restored elsewhere. Run several where the sale must go on within seconds when a machine dies, or where many events on sale together need more than one machine. An event is always sold by one node at a time, so that a cluster does not make a single event faster.',
        },
        {
          text: 'It costs three NATS servers on machines and disks of their own, and time: a change is answered when a majority of the servers has it on disk. Limits by address (`RATE_LIMIT_PER_MINUTE`, wrong tokens, unknown discount codes) count at each node alone, so that a client who reaches three nodes may do three times as much. There is no sandbox clock.',
        },
        {
          text: 'To see one, run `npm run cluster`: three servers and three nodes with the demo events on this machine. It says which node owns which event and what to kill. `src/operations/compose.yaml` is the same for Docker, without the demo events.',
        },
      ],
    },
    {
      title: 'The NATS servers',
      blocks: [
        {
          text: 'Take three servers of version 2.10.23 or later, each on a machine of its own: two of them are a majority, and one may fail. Nodes refuse to start on an earlier version, because it can lose a stream or break the rule by which a second writer is stopped. `src/operations/nats.conf` has every setting with its reason.',
        },
        {
          text: 'The one that matters is `sync_interval: always`. NATS by default acknowledges a message before it is on disk and calls fsync every two minutes; when all servers lose power together, tickets that were sold are gone. With `always` an answer means what it means on one machine. `holdfast cluster check` sees the setting where `NATS_MONITOR_URL` names the monitoring addresses of the servers, and says that it cannot see it where not.',
        },
        { code: 'nats-server -c nats.conf -t\nnpm run -s holdfast -- cluster check' },
        {
          text: 'Several shops may share the servers: `CLUSTER_NAME` is the prefix of all that a shop keeps there. Leave `CLUSTER_SHARDS` as it is; the first node fixes it for ever. `CLUSTER_REPLICAS=1` is for a single server, on which a lost disk is a lost shop.',
        },
      ],
    },
    {
      title: 'The nodes',
      blocks: [
        {
          text: '`NATS_URL` makes a process a node. All nodes have the same secrets, catalogue (`CATALOG`, `PICTURES`) and settings, and each has a `NODE_NAME` of its own; `DATA_DIR` holds caches alone and may be lost at any time.',
        },
        { code: NODE_SETTINGS },
        {
          text: 'In front of them stands a load balancer that sends requests to nodes whose `GET /health/ready` answers 200. Any node answers any request, so nothing needs to be sticky; `X-Served-By` names the node that answered. `src/operations/haproxy.cfg` repeats at another node what no node has received, and what has an `Idempotency-Key`.',
        },
        {
          text: 'The operators’ API, the console and `/metrics` are at every node. Metrics are those of the node; the console’s page “Cluster” and `holdfast cluster status` show nodes, shards and their owners.',
        },
      ],
    },
    {
      title: 'Moving there',
      blocks: [
        {
          text: 'Give the nodes the secrets of the single machine: `ADMIN_TOKEN`, `TICKET_KEY`, `WEBHOOK_SECRET_A` and `WEBHOOK_SECRET_B`, or what the files `admin-token`, `ticket-key`, `webhook-secret-a` and `webhook-secret-b` in its data folder hold. With another ticket key the tickets that are sold already cannot be checked at the entrance.',
        },
        { code: MOVE_UP },
        {
          text: '`import` takes the whole folder into an empty cluster and refuses one that is not empty, or that a node serves. Holds, orders, queues and their deadlines go on where they were. The keys of personal data in `keys.db` move along; with an old backup give `--keys FILE` with the newest ones, so that what was erased since stays erased.',
        },
      ],
    },
    {
      title: 'Backups, and moving back',
      blocks: [
        {
          text: 'Three copies help against a broken disk, not against a mistake. `holdfast backup` with the settings of a node writes all shards into an ordinary data folder, while the nodes sell. `verify`, `inspect`, `export` and `restore` work on it, and a single machine serves it. It writes the keys of personal data to `keys.db` beside them, to another file with `--keys FILE`, or not at all with `--without-keys`. What was sold after the backup is not in it: to move back without a loss stop the nodes first.',
        },
        { code: MOVE_BACK },
      ],
    },
    {
      title: 'Personal data',
      blocks: [
        {
          text: 'What orders say about people is sealed before it leaves the node that owns the event. The keys are in a stream of their own, `<cluster>_K`, which all nodes share; the logs of the shards, snapshots and the archive have sealed texts alone. An order is erased at any node (`POST /admin/orders/{id}/erase`, the console, `retention_days` of its event): the fact is durable first, then the servers overwrite the message that has the key, and only then it is answered. Where a node is killed in between, the next owner of the event finishes it.',
        },
        {
          text: 'NATS servers that replicate keep every message in their Raft log as well, until it is compacted. We looked: right after an erasure the key is in no file of the stream, but still in the Raft log of each server; within three minutes the servers have compacted that, and it is there no more. A server that was down has the key on its disk until it is back and has caught up: bring it back, or wipe its disk. With one server (`CLUSTER_REPLICAS=1`) there is no Raft log. A copy that `nats stream backup` made of the stream, or a snapshot of a server’s disk, keeps what it has.',
        },
        {
          text: 'The id of the keys is noted with the shards. `holdfast cluster check` compares it with the stream, which has to have as many replicas as the shards; that each sealed text has its key is proved by `holdfast verify` on a folder that `holdfast backup` wrote. Where the stream is deleted, or another one is in its place, a node does not start (exit code 5): put the stream back from a copy, or start with `KEYS_LOST=accept` once, and the personal data of those orders reads as erased. Requests between nodes carry what buyers type: use TLS to the servers where others share the network.',
        },
      ],
    },
    {
      title: 'Updating node by node',
      blocks: [
        {
          text: 'Send SIGTERM to one node: it hands its shards to the others and ends. The others read them first, which takes up to five seconds where events are very large. After 1.5 seconds at most the node closes its own listeners; until the handover is complete it then answers only what other nodes forward to it. Requests wait a second at most. Start the new version, wait until its `/health/ready` answers 200, and go on with the next.',
        },
        {
          text: 'Update NATS servers one at a time as well, the next only when `/healthz` of the last one answers 200 and `holdfast cluster check` finds all replicas up to date, which takes 5 to 8 seconds after a start. Where `/healthz` stays unavailable for a minute, start that server again. End a server with SIGUSR2 or SIGTERM: it gives its leaderships away first, and a change waits 2 seconds at most. A server that is killed stalls the changes of about a third of the events for 4 to 9 seconds, until others are elected.',
        },
      ],
    },
    {
      title: 'What is promised',
      blocks: [
        {
          text: 'All that a single machine promises: an answer to a change means that it is on disk, at a majority of the servers; nothing is done by half; no ticket is sold twice. An event has one writer whose changes count. A node that was thought dead and comes back changes nothing, and shows no hold, order or queue entry from memory that may be old.',
        },
        {
          text: 'A node is killed: its events answer again within 3 seconds. Larger events take longer: one with 100,000 live holds took 2.6 seconds (2.3 to 2.7). A node gets SIGTERM: within 1 second, without an error. A NATS server is killed: changes of about a third of the events wait 4 to 9 seconds. Requests wait up to 12 seconds and are then answered 503 `OVERLOADED` with `Retry-After`. Everything is killed at once: what was answered is there after the start. A request that is repeated with its `Idempotency-Key` during any of that takes effect once.',
        },
        {
          text: 'Public availability at a node that does not own the event may be one second old; a request with the buyer’s `session_key` is answered by the owner. A definition is known at every node within 2 seconds.',
        },
        {
          text: 'Without a majority of the NATS servers nothing can be changed, and nodes are not ready. They go on by themselves when the servers are back.',
        },
      ],
    },
    {
      title: 'What to alert on',
      blocks: [
        {
          text: '`src/operations/prometheus-alerts.yaml` has a group for clusters. The ones that cannot wait: the sum of `holdfast_cluster_shards_owned` is below the number of shards, which means that nobody sells some events; nodes disagree in `holdfast_cluster_nodes`, which means that some do not hear others; `holdfast_ready` is 0. In the morning: a node is missing, `holdfast_cluster_fenced_total` has grown, `holdfast_cluster_append_seconds` or `holdfast_cluster_takeover_seconds` are slow.',
        },
        {
          text: 'Watch the disks of the NATS servers as well: a full one takes no message. `holdfast cluster check` shows how much of their space is used.',
        },
      ],
    },
  ],
};
