/**
 * Facts of versions that had no sealing, with their personal data sealed: what a journal that is written anew has in
 * their place.
 *
 * 1. A fact says afterwards what it said before, but its personal data only to who has the key: every other field stays
 *    as it is stored, also one that this version does not write.
 * 2. A fact that is sealed, or has nothing to seal, stays as it is.
 */
import { readTracking } from '#domain/orders/tracking.ts';
import type { FactData } from '#domain/fact.ts';
import type { PersonalData, Sealing } from '#domain/personal.ts';

/** The data in place of what is stored; null where nothing is to be sealed (rule 2). */
export function sealStored(type: string, stored: string, sealing: Sealing): object | null {
  switch (type) {
    case 'OrderPlaced':
      return sealOrder(JSON.parse(stored) as FactData['OrderPlaced'], sealing);
    case 'OrderCancelled': {
      const data = JSON.parse(stored) as FactData['OrderCancelled'];
      // The note of a cancelled performance is about a date.
      return data.cause === 'PERFORMANCE' ? null : sealNote(type, data, sealing);
    }
    case 'RefundRecorded':
      return sealNote(type, JSON.parse(stored) as FactData['RefundRecorded'], sealing);
    default:
      return null;
  }
}

function sealOrder(data: FactData['OrderPlaced'], sealing: Sealing): object | null {
  const { orderId, customer, tracking, items } = data;
  if (customer === null) return null;
  const attendees = items.map((item) => item.attendees);
  const personal: PersonalData = { customer, attendees, tracking: readTracking(tracking) };
  return {
    ...data,
    items: items.map((item) => ({ ...item, attendees: null, ...(item.attendees !== null && { isNamed: true }) })),
    customer: null,
    tracking: null,
    personal: {
      sealed: sealing.seal(orderId, 'OrderPlaced', personal),
      addressHash: sealing.addressHash(customer.email),
    },
  } satisfies FactData['OrderPlaced'];
}

function sealNote<Type extends 'OrderCancelled' | 'RefundRecorded'>(
  type: Type,
  data: FactData[Type],
  sealing: Sealing,
): object | null {
  const { orderId, note } = data;
  return note === null ? null : { ...data, note: null, sealedNote: sealing.seal(orderId, type, note) };
}
