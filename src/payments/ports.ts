/** The narrow types of other modules that payments need; `actors` implements them. */
import type { EventFinder } from '#actors/event-port.ts';

export type EventsPort = Pick<EventFinder, 'byId'>;

export interface ClockPort {
  now(): number;
  /** How far the clock is ahead of the machine's. */
  readonly offsetMs: number;
  /** The time of the machine's clock. */
  machineNow(): number;
}
