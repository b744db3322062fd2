/**
 * The cluster as the node that answers sees it: the live nodes, who owns each shard, and the latest takeovers.
 *
 * 1. A node keeps its colour while the same nodes live; the name stands beside it, so that nobody needs to distinguish
 *    colours.
 */
import { usePolled, type Api } from '../app/api.ts';
import type { Cluster, ClusterNode, ClusterShard, Takeover } from '../app/bodies.ts';
import { number, moment } from '../app/format.ts';
import { Breadcrumbs, PageTitle } from '../parts/frame.tsx';
import { Table } from '../parts/table.tsx';

const POLL_MS = 1_000;
/** As many hues as the style sheet has; with more nodes they are used again. */
const HUES = 6;

export function ClusterPage({ api }: { readonly api: Api }) {
  const { value, trouble } = usePolled<Cluster>('cluster', () => api('GET', '/admin/cluster'), POLL_MS);
  return (
    <>
      <Breadcrumbs />
      <PageTitle>Cluster</PageTitle>
      {trouble !== null && <p class="alert">{trouble}</p>}
      {value === null ? trouble === null && <p class="quiet">Loading…</p> : <Details cluster={value} />}
    </>
  );
}

function Details({ cluster }: { readonly cluster: Cluster }) {
  const { nodes, shards, takeovers } = cluster;
  const hues = new Map(nodes.map(({ name }, n) => [name, n % HUES]));
  return (
    <>
      <p class="quiet small">
        What <b>{cluster.node}</b> hears from the others; the logs of the shards decide. Events belong to a shard for
        ever, a shard to one node at a time.
      </p>
      {!cluster.connected && <p class="alert">{cluster.node} has no connection to a NATS server.</p>}
      {cluster.shards_unowned > 0 && (
        <p class="alert">
          {number(cluster.shards_unowned)} of {number(shards.length)} shards have no owner: requests for their events
          wait.
        </p>
      )}
      <NodeTable nodes={nodes} hues={hues} shards={shards.length} />
      <h2>Shards</h2>
      <ShardMap shards={shards} hues={hues} />
      <h2>Takeovers</h2>
      <TakeoverTable takeovers={takeovers} />
    </>
  );
}

interface NodeTableProps {
  readonly nodes: readonly ClusterNode[];
  readonly hues: ReadonlyMap<string, number>;
  readonly shards: number;
}

function NodeTable({ nodes, hues, shards }: NodeTableProps) {
  return (
    <Table label="Nodes" columns={[['Node'], ['State'], ['Shards', 'number'], ['Share', 'number']]}>
      {nodes.map(({ name, leaving, shards: owned }) => (
        <tr key={name} data-node={name}>
          <td>
            <span class={`node-mark hue-${hues.get(name)}`} /> <b>{name}</b>
          </td>
          <td>{leaving ? <span class="tag PENDING">stopping</span> : <span class="tag ON_SALE">live</span>}</td>
          <td class="number">{number(owned)}</td>
          <td class="number">{shards === 0 ? '0' : Math.round((100 * owned) / shards)} %</td>
        </tr>
      ))}
    </Table>
  );
}

interface ShardMapProps {
  readonly shards: readonly ClusterShard[];
  readonly hues: ReadonlyMap<string, number>;
}

/** A square for each shard, with its number, in the colour of its owner. */
function ShardMap({ shards, hues }: ShardMapProps) {
  return (
    <ol class="shards" start={0}>
      {shards.map(({ shard, owner, epoch }) => {
        const label = owner === null ? `Shard ${shard} has no owner` : `Shard ${shard}: ${owner}, epoch ${epoch}`;
        const hue = owner === null ? undefined : hues.get(owner);
        return (
          <li
            key={shard}
            class={owner === null ? 'ownerless' : hue === undefined ? '' : `hue-${hue}`}
            title={label}
            data-owner={owner ?? ''}
          >
            <span class="unseen">{label}</span>
            <span aria-hidden="true">{shard}</span>
          </li>
        );
      })}
    </ol>
  );
}

function TakeoverTable({ takeovers }: { readonly takeovers: readonly Takeover[] }) {
  if (takeovers.length === 0) return <p class="quiet empty">None since this node has started.</p>;
  return (
    <Table
      label="Takeovers"
      columns={[['When'], ['Shard', 'number'], ['From'], ['To'], ['Without owner', 'number'], ['Epoch', 'number']]}
    >
      {takeovers.map(({ shard, at, from, to, epoch, ownerless_ms: ownerlessMs }) => (
        <tr key={`${shard} ${epoch}`}>
          <td class="stamp">{moment(at, 'medium')}</td>
          <td class="number">{shard}</td>
          <td class="stamp">{from}</td>
          <td class="stamp">{to}</td>
          <td class="number">{number(ownerlessMs)} ms</td>
          <td class="number">{number(epoch)}</td>
        </tr>
      ))}
    </Table>
  );
}
