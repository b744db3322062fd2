/** Diagnostics channels for metrics and live pages: a message costs nothing while nothing subscribes. */
import { channel } from 'node:diagnostics_channel';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
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

/** How long a step of a command or query took; published in the asynchronous context of the caller. */
export interface StepMessage {
  /** `handover` is the way to the thread of the event and back, where that is another one. */
  readonly step: 'turn' | 'disk' | 'handover';
  readonly ms: number;
}

export const stepChannel = channel('holdfast:step');

/** Begins to time a step; 0 while nobody listens, so that no clock is read. */
export function beginStep(): number {
  return stepChannel.hasSubscribers ? stopwatchMs() : 0;
}

/** Publishes how long a step took that was begun while somebody listened. */
export function endStep(step: StepMessage['step'], begin: number): void {
  if (begin !== 0) stepChannel.publish({ step, ms: stopwatchMs() - begin } satisfies StepMessage);
}

export const turnChannel = channel('holdfast:turn');

/** Publishes what a turn came to. */
export function publishTurn(
  eventId: string,
  command: CommandType,
  answer: { readonly outcome: 'DONE' } | Refusal,
  facts: readonly Fact[],
): void {
  if (!turnChannel.hasSubscribers) return;
  const code = isRefusal(answer) ? answer.code : null;
  turnChannel.publish({ eventId, command, code, facts } satisfies TurnMessage);
}

export const activationChannel = channel('holdfast:activation');
