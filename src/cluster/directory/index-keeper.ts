/**
 * Definitions at the owner of shard 0: it gives numbers to new events and slugs to one event each, for the whole
 * cluster.
 *
 * 1. A number and a slug are reserved durably before the event's shard is called, so that no two definitions have the
 *    same.
 * 2. The event is indexed once its shard has the definition. A definition that was refused frees the slug. One whose
 *    outcome is not known keeps it, and the next definition of the event goes on from there with the same number.
 * 3. Definitions of one event come one after the other.
 */
import { isRefusal, refuse, type Refusal } from '#domain/refusal.ts';
import { IndexedEvents, type IndexFact } from '#engine/indexed-events.ts';
import { draftEntry, entryOf, type IndexedEvent } from '#actors/event-entry.ts';
import type { DefinedEvent } from '#actors/event-index.ts';
import type { ServiceStream } from '#engine/service-stream.ts';
import type { CommandOf } from '#domain/command.ts';
import type { DefinitionAnswer, ShardCalls } from '../calls/shard-calls.ts';

/** Has the event's shard execute a definition. Rejects with Overloaded when the outcome is unknown. */
export type DefineThere = (
  command: CommandOf<'DefineEvent'>,
  commandId: string,
  entry: IndexedEvent,
) => Promise<Omit<DefinedEvent, 'created'> | Refusal>;

export class IndexKeeper {
  readonly #index: IndexedEvents;
  readonly #stream: Pick<ServiceStream, 'record'>;
  readonly #defineThere: DefineThere;
  /** The last definition of each event that is under way (rule 3). */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(index: IndexedEvents | undefined, stream: Pick<ServiceStream, 'record'>, defineThere: DefineThere) {
    this.#index = index ?? new IndexedEvents();
    this.#stream = stream;
    this.#defineThere = defineThere;
  }

  /** Creates or updates an event. Refuses with UPDATE_CONFLICT, also when the slug belongs to another event. */
  define(args: ShardCalls['define']['args']): Promise<DefinitionAnswer> {
    const { id: eventId } = args.definition;
    const before = this.#underWay.get(eventId) ?? Promise.resolve();
    const defined = before.then(() => this.#define(args));
    const settled = defined
      .catch(() => {})
      .then(() => {
        if (this.#underWay.get(eventId) === settled) this.#underWay.delete(eventId);
      });
    this.#underWay.set(eventId, settled);
    return defined;
  }

  async #define({ definition, by, commandId }: ShardCalls['define']['args']): Promise<DefinitionAnswer> {
    const { id: eventId, slug } = definition;
    const owner = this.#index.ownerOfSlug(slug) ?? eventId;
    if (owner !== eventId) {
      const message = `the event ${owner} has this slug`;
      return refuse('UPDATE_CONFLICT', { conflicts: [{ path: ['slug'], message }] });
    }
    const known = this.#index.byId(eventId);
    const eventNumber = (known ?? this.#index.reservationOf(eventId))?.eventNumber ?? this.#index.nextNumber;
    if (this.#index.ownerOfSlug(slug) === undefined) {
      await this.#record({ type: 'EventReserved', data: { eventId, eventNumber, slug } });
    }
    const command = { type: 'DefineEvent', definition, ...by } as const;
    const reply = await this.#defineThere(command, commandId, draftEntry(eventId, slug, eventNumber));
    if (isRefusal(reply)) {
      if (known?.slug !== slug) await this.#record({ type: 'EventReservationEnded', data: { eventId, slug } });
      return reply;
    }
    const entry = entryOf({ eventNumber, definition });
    if (JSON.stringify(entry) !== JSON.stringify(known)) await this.#record({ type: 'EventIndexed', data: { entry } });
    const { version, changed } = reply;
    return { outcome: 'DONE', eventId, version, changed, created: known === undefined, entry };
  }

  /** The index goes on in the turn of the append, so that no other definition comes between. */
  #record(fact: IndexFact): Promise<void> {
    const recorded = this.#stream.record(fact);
    this.#index.apply(fact);
    return recorded;
  }
}
