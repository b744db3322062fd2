import { channel } from 'node:diagnostics_channel';

/** A batch of facts became durable. */
export interface BatchMessage {
  readonly facts: number;
  /** From the first row to the return of the fsync. */
  readonly commitMs: number;
}

/** Carries a message for each batch; a diagnostics channel, so that nothing is published without a subscriber. */
export const batchChannel = channel('holdfast:batch');
