/**
 * The definition that is rehearsed, the trace's own or another: what is on sale in it, and how the two differ for
 * buyers.
 *
 * What was taken before the period is out of sale: seats are blocked once the event is defined, places without numbers
 * are taken off the capacity.
 */
import type { EventDefinition, LocalityDefinition } from '#domain/catalogue/definition.ts';
import type { TakenBefore } from './trace.ts';

/** The definition without the places that were taken before the period. */
export function withoutTaken(definition: EventDefinition, { places }: TakenBefore): EventDefinition {
  const left = (locality: LocalityDefinition): LocalityDefinition => {
    const taken = places[locality.id] ?? 0;
    if (locality.seating !== 'GENERAL' || taken === 0) return locality;
    return { ...locality, capacity: Math.max(0, locality.capacity - taken) };
  };
  return { ...definition, localities: definition.localities.map(left) };
}

/** Tickets that buyers can have of all performances together. */
export function ticketsOnSale({ localities, performances }: EventDefinition, { seats }: TakenBefore): number {
  const open = performances.filter(({ status }) => status === 'ON_SALE');
  const places = localities.reduce((sum, locality) => sum + placesOf(locality), 0);
  const taken = seats
    .filter(({ performanceId }) => open.some(({ id }) => id === performanceId))
    .reduce((sum, { seatIds }) => sum + seatIds.length, 0);
  return open.length * places - taken;
}

function placesOf(locality: LocalityDefinition): number {
  if (locality.seating === 'GENERAL') return locality.capacity;
  return locality.sections.reduce((sum, { rows }) => sum + rows.reduce((seats, row) => seats + row.seats.length, 0), 0);
}

/** What differs between two definitions for buyers, a line each. */
export function definitionChanges(then: EventDefinition, now: EventDefinition): string[] {
  const lines: string[] = [];
  const say = (name: string, before: unknown, after: unknown): void => {
    if (before !== after) lines.push(`${name}: ${String(before ?? 'none')} then, ${String(after ?? 'none')} now`);
  };
  say('waiting room', then.waitingRoom, now.waitingRoom);
  if (then.waitingRoom || now.waitingRoom) {
    say('admissions a minute', then.waitingRoomRate, now.waitingRoomRate);
    say('minutes of a pass', then.waitingRoomMinutes, now.waitingRoomMinutes);
    say('most passes at once', then.waitingRoomMaxAdmitted, now.waitingRoomMaxAdmitted);
  }
  say('minutes of a hold', then.holdMinutes, now.holdMinutes);
  say('minutes to pay', then.paymentMinutes, now.paymentMinutes);
  say('tickets in an order', then.maxTicketsPerOrder, now.maxTicketsPerOrder);
  say('tickets for an address', then.maxTicketsPerEmail, now.maxTicketsPerEmail);
  const before = offersOf(then);
  const after = offersOf(now);
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    say(`price of ${name}`, before.get(name)?.price, after.get(name)?.price);
    say(`quota of ${name}`, before.get(name)?.quota, after.get(name)?.quota);
  }
  for (const { id } of now.localities) {
    const locality = then.localities.find((each) => each.id === id);
    const other = now.localities.find((each) => each.id === id)!;
    say(`places of ${id}`, locality === undefined ? null : placesOf(locality), placesOf(other));
  }
  for (const type of now.ticketTypes) {
    const other = then.ticketTypes.find(({ id }) => id === type.id);
    say(`quota of ${type.id}`, other?.quota, type.quota);
    say(`units of ${type.id} in an order`, other?.maxPerOrder, type.maxPerOrder);
  }
  return lines;
}

function offersOf({
  sellingStages,
}: EventDefinition): Map<string, { readonly price: number; readonly quota: number | null }> {
  return new Map(
    sellingStages.flatMap((stage) =>
      Object.entries(stage.prices).map(
        ([type, price]) => [`${type}, ${stage.id}`, { price, quota: stage.quotas[type] ?? null }] as const,
      ),
    ),
  );
}
