/** An event with numbered seats on one of its performances, loaded and followed for the element. */
import type { EventPayload, SaleSteering, Seating, TicketAvailability } from '#client/bodies.ts';
import type { Client } from '#client/client.ts';
import { firstPerformance } from '#client/first-performance.ts';
import type { SeatStates } from '#client/live.ts';

export interface ShownSale {
  readonly event: EventPayload;
  readonly seating: Seating;
  readonly performanceId: string;
  readonly rows: readonly TicketAvailability[];
  /** The seats that are not free for the public. */
  readonly states: SeatStates;
  readonly steering: SaleSteering | null;
}

/**
 * Gives the sale at once and at each change, until the signal is aborted; throws an ApiError where the event cannot be
 * read. Without a performance the first is shown that can be bought. An event that was changed is read again.
 */
export async function followSale(
  client: Client,
  slug: string,
  wanted: string | null,
  signal: AbortSignal,
  onSale: (sale: ShownSale) => void,
): Promise<void> {
  while (!signal.aborted) {
    const performanceId = wanted ?? firstPerformance(await client.getEvent(slug, { signal }));
    const [event, seating] = await Promise.all([
      client.getEvent(slug, { performanceId, signal }),
      client.getSeating(slug, { signal }),
    ]);
    const isChanged = new AbortController();
    let version: number | null = null;
    await client.watchDate({
      slug,
      performanceId: performanceId!,
      signal: AbortSignal.any([signal, isChanged.signal]),
      onState({ definitionVersion, rows, seats, steering }) {
        // The rest of what came at once, after the page chose another event.
        if (signal.aborted || isChanged.signal.aborted) return;
        if (version !== null && definitionVersion !== null && definitionVersion !== version) return isChanged.abort();
        version ??= definitionVersion;
        onSale({ event, seating, performanceId: performanceId!, rows, states: seats ?? new Map(), steering });
      },
    });
  }
}
