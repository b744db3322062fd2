/** Diagnostics channels for metrics and live pages: a message costs nothing while nothing subscribes. */
import { channel } from 'node:diagnostics_channel';
import type { Fact } from '#domain/fact.ts';
import type { CommandType } from '#domain/command.ts';

/** A command ran to its end; `code` is the refusal's, or null when it was done. */
export interface TurnMessage {
  readonly eventId: string;
  readonly command: CommandType;
  readonly code: string | null;
  readonly facts: readonly Fact[];
}

/** An event was activated or evicted. */
export interface ActivationMessage {
  readonly eventId: string;
  readonly alive: boolean;
  readonly factsReplayed: number;
  readonly tookMs: number;
}

export type { BatchMessage } from '#persistence/journal.ts';

export const turnChannel = channel('holdfast:turn');
export const activationChannel = channel('holdfast:activation');
