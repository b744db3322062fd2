/**
 * What the console saw since it was opened, for its charts: one sample for each look, the oldest dropped first.
 *
 * Kept in memory alone; the long memory is a metrics server that reads /metrics.
 */
import type { Overview, Stock } from './bodies.ts';

export interface Sample {
  readonly at: number;
  /** By event and date. */
  readonly stock: ReadonlyMap<string, Stock>;
  /** By event. */
  readonly waiting: ReadonlyMap<string, number>;
}

const SAMPLES_MAX = 1_800;

export type History = readonly Sample[];

export function dateKey(eventId: string, performanceId: string): string {
  return `${eventId}/${performanceId}`;
}

export function withSample(history: History, overview: Overview): History {
  const stock = new Map<string, Stock>();
  const waiting = new Map<string, number>();
  for (const event of overview.events) {
    for (const date of event.performances) stock.set(dateKey(event.id, date.id), date);
    if (event.waiting_room !== null) waiting.set(event.id, event.waiting_room.waiting);
  }
  return [...history.slice(1 - SAMPLES_MAX), { at: Date.parse(overview.now), stock, waiting }];
}
