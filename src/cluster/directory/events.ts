/**
 * Every event of the cluster, wherever it is: found by the directory, reached by the router. The counterpart of
 * `actors/event-index.ts` for a node.
 *
 * 1. A definition goes through the owner of shard 0, and is answered once this node's own directory has it.
 * 2. Until the directory was read every call is refused with Overloaded: there may be an event of that name.
 * 3. An event that the directory does not have is looked for once more when the directory has caught up: another node
 *    may just have answered its definition. Where that cannot be known the call is refused with Overloaded as well.
 * 4. An event that cannot be activated is left out of lists.
 */
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { byFirstPerformance, pageOf, type IndexedEvent } from '#actors/event-entry.ts';
import { eventNumberOf, type IdPrefix } from '#domain/ids.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { Deployment } from '#engine/deployment.ts';
import type { DefinedEvent } from '#actors/event-index.ts';
import type { EventPort, Found } from '#actors/event-port.ts';
import type { IndexedEvents } from '#engine/indexed-events.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { OperatorNote } from '#domain/fact.ts';
import type { OperatorEventView } from '#domain/event/operator-view.ts';
import type { Query } from '#domain/event/query.ts';
import { INDEX_SHARD, shardOf } from './placement.ts';
import { eventAt, type ShardRouter } from '../calls/router.ts';
import type { EventDirectory } from './event-directory.ts';
import type { RemoteReads } from './remote-reads.ts';
import type { Summaries } from './summaries.ts';

interface ClusterEventsPorts {
  readonly shards: number;
  readonly directory: EventDirectory;
  readonly router: ShardRouter;
  readonly reads: RemoteReads;
  readonly summaries: Summaries;
  readonly isOwned: (shard: number) => boolean;
}

interface PageRequest {
  readonly limit: number;
  readonly after: string | null;
}

/**
 * How long a definition waits for this node's directory (rule 1), and a search for an event (rule 3). After that time
 * the directories of other nodes have the definition all the same.
 */
const FOLLOW_MS_MAX = 2_000;

export class ClusterEvents {
  readonly #ports: ClusterEventsPorts;
  readonly #events = new Map<string, EventPort>();
  /** Published events by first performance; made anew when the directory changes. */
  #listed: readonly IndexedEvent[] | null = null;

  constructor(ports: ClusterEventsPorts) {
    this.#ports = ports;
    ports.directory.onChange(() => (this.#listed = null));
  }

  // ── finding ────────────────────────────────────────────────────────────────────────────────────────────────────────

  byEventId(eventId: string): Found {
    return this.#find((index) => index.byId(eventId));
  }

  bySlug(slug: string): Found {
    return this.#find((index) => index.bySlug(slug));
  }

  byId(prefix: IdPrefix, id: string): Found {
    const eventNumber = eventNumberOf(prefix, id);
    return eventNumber === null ? null : this.#find((index) => index.byNumber(eventNumber));
  }

  /** Rule 2. */
  get #index() {
    const { isRead, index } = this.#ports.directory;
    if (!isRead) throw new Overloaded('the node is starting: the index of events is not read yet', RETRY_AFTER_SECONDS);
    return index;
  }

  #find(lookUp: (index: IndexedEvents) => IndexedEvent | undefined): Found {
    const entry = lookUp(this.#index);
    if (entry !== undefined) return this.#event(entry);
    const finding = this.#findLater(lookUp);
    // Whoever shares the answer of another request does not look at this one.
    finding.catch(() => {});
    return finding;
  }

  /** Rule 3. */
  async #findLater(lookUp: (index: IndexedEvents) => IndexedEvent | undefined): Promise<EventPort | null> {
    const isCurrent = await this.#ports.directory.catchUp(FOLLOW_MS_MAX);
    const entry = lookUp(this.#index);
    if (entry !== undefined) return this.#event(entry);
    if (isCurrent) return null;
    throw new Overloaded('the index of events cannot be read now', RETRY_AFTER_SECONDS);
  }

  #event({ eventId }: IndexedEvent): EventPort {
    const known = this.#events.get(eventId);
    if (known !== undefined) return known;
    const event = this.#eventAt(eventId);
    this.#events.set(eventId, event);
    return event;
  }

  #eventAt(eventId: string): EventPort {
    const { shards, router, reads, isOwned } = this.#ports;
    const shard = shardOf(eventId, shards);
    const event = eventAt(router, shard, eventId);
    return {
      eventId,
      execute: (command) => event.execute(command),
      read(query) {
        if (isOwned(shard)) return event.read(query);
        return reads.read(eventId, query as Query, () => event.read(query)) as ReturnType<
          typeof event.read<typeof query.type>
        >;
      },
    };
  }

  // ── lists ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  async list(page: PageRequest): ReturnType<Deployment['events']['list']> {
    this.#listed ??= this.#index
      .all()
      .filter(({ published }) => published)
      .sort(byFirstPerformance);
    const { ids, nextAfter } = pageOf(this.#listed, page);
    return { events: await this.#ports.summaries.read(ids), nextAfter };
  }

  async listAll(page: PageRequest): ReturnType<Deployment['events']['listAll']> {
    const { ids, nextAfter } = pageOf(this.#index.all(), page);
    return { eventIds: ids, nextAfter };
  }

  /** What operators see of those of the events that are in memory at their owners. */
  async readActive(eventIds: readonly string[]): Promise<readonly OperatorEventView[]> {
    const byShard = Map.groupBy(eventIds, (eventId) => shardOf(eventId, this.#ports.shards));
    const reading = [...byShard].map(([shard, ids]) =>
      this.#ports.router.call(shard, { kind: 'shard', name: 'active', args: { eventIds: ids } }),
    );
    return (await Promise.all(reading)).flat();
  }

  // ── definitions ────────────────────────────────────────────────────────────────────────────────────────────────────

  async define(definition: EventDefinition, by: OperatorNote): Promise<DefinedEvent | Refusal> {
    const { router, directory } = this.#ports;
    const args = { commandId: router.newCommandId(), definition, by };
    const answer = await router.call(INDEX_SHARD, { kind: 'shard', name: 'define', args });
    if (isRefusal(answer)) return answer;
    const { entry, ...defined } = answer;
    const expected = JSON.stringify(entry);
    await directory.until(() => JSON.stringify(directory.index.byId(definition.id)) === expected, FOLLOW_MS_MAX);
    return defined;
  }
}
