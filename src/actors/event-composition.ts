/**
 * Builds an event actor from the activated state, the context of its turns, and its followers. A new feature is added
 * to `followersOf`.
 */
import { randomBytes } from 'node:crypto';
import { createHashing } from './crypto.ts';
import { Draws } from './draw.ts';
import { Erasures } from './erasures.ts';
import { EventActor } from './event-actor.ts';
import { OrderTurns } from './order-turns.ts';
import { RetainedRecords } from './process-bytes.ts';
import { SeenStations, WaitingBuyers } from './waiting-buyers.ts';
import type { EventState } from '#domain/event/state.ts';
import type { Activated } from './activation.ts';
import type { EventActorPorts, TurnContext } from './event-actor-ports.ts';
import type { EvictedEvent } from './evicted-events.ts';
import type { FollowedActor, Follower } from './follower.ts';

/** Names this process in the revisions that clients hold, also those of another node or from before a restart. */
const PROCESS = randomBytes(6).toString('base64url');

/** Activations in this process; an activation's number tells its revisions from those of another one. */
let activations = 0;

/** The actor of an activated event; where the event was evicted before, with what was remembered then. */
export function createEventActor(
  activated: Activated,
  ports: EventActorPorts<EventActor>,
  evicted: EvictedEvent | null = null,
): EventActor {
  const { state } = activated;
  return new EventActor(activated, contextOf(state, ports), ports, (actor) =>
    followersOf(state, ports, evicted, actor),
  );
}

function contextOf({ eventId, eventNumber }: EventState, ports: EventActorPorts<EventActor>): TurnContext {
  activations += 1;
  return {
    now: 0,
    activation: `${PROCESS}${activations.toString(36)}`,
    newId: (prefix) => ports.ids.newId(prefix, eventNumber),
    newSeed: () => ports.ids.newSeed(),
    hashing: createHashing(),
    sealing: ports.sealingOf?.(eventId) ?? null,
  };
}

function followersOf(
  state: EventState,
  { clock, journal, keyDestruction, cancelledAtOnceMax, processBytes }: EventActorPorts<EventActor>,
  evicted: EvictedEvent | null,
  actor: FollowedActor,
): readonly Follower[] {
  const erasures = keyDestruction === undefined ? [] : [new Erasures(keyDestruction)];
  return [
    new WaitingBuyers(state, evicted ?? { since: clock.now(), lastSeen: null }, actor),
    new Draws(state, actor),
    new RetainedRecords(state, actor, processBytes),
    new SeenStations(state),
    ...OrderTurns.of(state, journal, actor, cancelledAtOnceMax),
    ...erasures,
  ];
}
