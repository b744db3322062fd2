import type { NamedReply } from '#domain/decision.ts';
import type { Sealing } from '#domain/personal.ts';
import type { Journal } from '#persistence/journal.ts';
import type { Clock } from './clock.ts';
import type { IdSource } from './crypto.ts';
import type { KeyDestruction } from './key-destruction.ts';

/** What an event actor needs of the process that it runs in. */
export interface EventActorPorts<Actor> {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Replies that may wait for the disk at once; above it a command is refused undecided (I10). */
  readonly waitingRepliesMax: number;
  /** Orders that one turn of a cancellation looks at; absent for the bound of the service. */
  readonly cancelledAtOnceMax?: number;
  /** Seals personal data of an event. */
  readonly sealingOf?: (eventId: string) => Sealing;
  /** Destroys the keys of what was erased (8). */
  readonly keyDestruction?: KeyDestruction;
  /** The reply that was named to a command with this id (7); absent where commands have no ids. */
  readonly executed?: (commandId: string) => NamedReply | undefined;
  /** Tells activations in this process from those of the event's other owners; absent where there are none. */
  readonly owner?: string;
  /** Whether the disk has too little room for new claims; absent where it is not checked. */
  readonly isShortOfSpace?: () => boolean;
  /** Has `settleDue` called at a moment. */
  schedule(eventId: string, at: number): void;
  /** The actor retired itself because of a defect. */
  retired(actor: Actor, defect: unknown): void;
}
