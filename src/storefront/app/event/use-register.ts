/** The seats of the event of a hold by name; nothing is loaded for a hold without seats. */
import { useMemo } from 'preact/hooks';
import { useLoaded } from '#client/browser/hooks.ts';
import type { EventPayload, Hold } from '#client/bodies.ts';
import { client } from '../service.ts';
import { registerOf, type SeatRegister } from './seat-register.tsx';

export function useRegister(event: EventPayload, hold: Hold): SeatRegister {
  const isSeated = hold.items.some((item) => item.seat_ids.length > 0);
  const seating = useLoaded(isSeated ? event.slug : null, (signal) => client.getSeating(event.slug, { signal }));
  return useMemo(() => registerOf(seating.value), [seating.value]);
}
