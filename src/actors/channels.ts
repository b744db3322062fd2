/**
 * Where the actors say what happened, for metrics and live pages: diagnostics channels, so that nobody is called
 * and a message costs nothing while nobody listens.
 */
import { channel } from 'node:diagnostics_channel';
import type { Fact } from '#domain/fact.ts';
import type { CommandType } from '#domain/command.ts';
import type { PerformanceStatus } from '#machines/performance.ts';

/** A command ran to its end; `code` is the refusal's, or null when it was done. */
export interface TurnMessage {
  readonly eventId: string;
  readonly command: CommandType;
  readonly code: string | null;
  readonly facts: readonly Fact[];
}

/** A date became sold out, came back or was cancelled. */
export interface PerformanceMessage {
  readonly eventId: string;
  readonly performanceId: string;
  readonly status: PerformanceStatus;
}

/** A box office came alive or went to sleep. */
export interface ActivationMessage {
  readonly eventId: string;
  readonly alive: boolean;
  readonly factsReplayed: number;
  readonly tookMs: number;
}

export type { BatchMessage } from '#persistence/journal.ts';

export const turnChannel = channel('holdfast:turn');
export const performanceChannel = channel('holdfast:performance');
export const activationChannel = channel('holdfast:activation');
