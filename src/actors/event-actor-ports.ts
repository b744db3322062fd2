import type { Turn } from '#domain/event/decide.ts';
import type { ReadContext } from '#domain/event/read.ts';
import type { ReplyReference } from '#domain/decision.ts';
import type { Sealing } from '#domain/personal.ts';
import type { Journal } from '#persistence/journal.ts';
import type { AdmissionPorts } from './admission.ts';
import type { Clock } from './clock.ts';
import type { IdSource } from './crypto.ts';
import type { ProcessBytes } from './process-bytes.ts';

/** Destroys the keys of what was erased. */
export interface ErasedKeys {
  /** Refuses an erasure while too many keys wait. */
  admit(): void;
  /** Resolves when the keys are destroyed for good. */
  destroy(keyIds: readonly string[]): Promise<void>;
}

/** What the turns and queries of an event bring along. */
export type TurnContext = Turn & ReadContext & { now: number };

/** What an event actor needs of the process that it runs in. */
export interface EventActorPorts<Actor> extends AdmissionPorts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Orders that one turn of a cancellation looks at; absent for the bound of the service. */
  readonly cancelledAtOnceMax?: number;
  /** What events may keep together; absent for the bounds of this process. */
  readonly processBytes?: ProcessBytes;
  /** Seals personal data of an event. */
  readonly sealingOf?: (eventId: string) => Sealing;
  /** Absent where nothing is sealed. */
  readonly keyDestruction?: ErasedKeys;
  /** The reply that an earlier execution of the command with this id named; absent where commands have no ids. */
  readonly executed?: (commandId: string) => ReplyReference | undefined;
  /** Schedules a call of `settleDue` at a moment. */
  schedule(eventId: string, at: number): void;
  /** The actor retired itself because of a defect. */
  retired(actor: Actor, defect: unknown): void;
}
