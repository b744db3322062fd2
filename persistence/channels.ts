/** Where the journal says how it fares, for metrics: a diagnostics channel, so that nobody is called while nobody listens. */

import { channel } from 'node:diagnostics_channel';

/** A batch of facts became durable. */
export interface BatchMessage {
  readonly facts: number;
  /** From the first row to the return of the fsync, in the writer's thread. */
  readonly commitMs: number;
}

export const batchChannel = channel('holdfast:batch');
