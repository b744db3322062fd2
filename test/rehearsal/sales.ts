/**
 * Sales recorded for rehearsals: buyers with names and addresses, under a clock that stands still between their steps.
 */
import assert from 'node:assert/strict';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { StartedCheckoutBody } from '#http/buyers/checkout/schema.ts';
import { settle, start } from '../fixtures/checkout.ts';
import type { TestService } from '../fixtures/service.ts';

type Outcome = Parameters<typeof settle>[2];

/** What buyers say about themselves; none of it may be in a rehearsal. */
export const PERSONAL = {
  names: ['Ada Lovelace', 'Grace Hopper', 'Mary Somerville'],
  tracking: { utm_source: 'the-secret-newsletter', landing_page: 'https://partner.example/personal?who=ada' },
  promoterCode: 'PROMOTER-ULRIKE',
  referralCode: 'FRIEND-OF-ADA',
  successUrl: 'https://shop.example/thanks-ada',
  documentNumber: 'PASSPORT-C01X00T47',
  phone: '+49 361 5550123',
};

/** A hall of 60 seats, and a floor for 40. */
export function concert(overrides: object = {}): object {
  return {
    id: 'evt_concert',
    slug: 'concert',
    name: 'Concert',
    currency: 'EUR',
    hold_minutes: 10,
    performances: [{ id: 'eve', name: 'Eve', starts_at: '2028-05-08T20:00:00Z', ends_at: '2028-05-09T04:00:00Z' }],
    localities: [
      {
        id: 'hall',
        name: 'Hall',
        seating: 'NUMBERED',
        sections: [
          {
            id: 'H',
            name: 'Hall',
            zone_key: 'hall',
            rows: ['1', '2', '3', '4', '5'].map((label) => ({ label, seats: 12 })),
          },
        ],
      },
      { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 40 },
    ],
    ticketTypes: [
      { id: 'seat', name: 'Seat', locality_id: 'hall' },
      { id: 'stand', name: 'Stand', locality_id: 'floor' },
    ],
    sellingStages: [{ id: 'now', name: 'Now', prices: { seat: 4500, stand: 2000 } }],
    ...overrides,
  };
}

export function itemOf(ticketTypeId: string, quantity: number, more: object = {}): object {
  return { ticket_type_id: ticketTypeId, selling_stage_id: 'now', quantity, ...more };
}

interface Buyer {
  readonly key: string;
  readonly pass?: string;
}

export function buyers(service: TestService) {
  let count = 0;
  const withPass = (pass: string | undefined) => (pass === undefined ? {} : { queue_pass: pass });
  return {
    arrive: (): Buyer => ({ key: `a-private-session-${(count += 1)}` }),
    hold: ({ key, pass }: Buyer, items: readonly object[]): Promise<HoldBody> =>
      service.hold({ event_id: 'evt_concert', session_key: key, items, ...withPass(pass) }),
    start({ key, pass }: Buyer, holdId: string | null, more: object = {}): Promise<StartedCheckoutBody> {
      const name = PERSONAL.names[count % PERSONAL.names.length]!;
      const { tracking, promoterCode, referralCode, successUrl, documentNumber, phone } = PERSONAL;
      return start(service, {
        event_id: 'evt_concert',
        hold_id: holdId,
        items: undefined,
        session_key: key,
        customer: { name, email: `${key}@people.example`, document_number: documentNumber, phone },
        tracking,
        promoter_code: promoterCode,
        referral_code: referralCode,
        success_url: successUrl,
        ...withPass(pass),
        ...more,
      });
    },
    settle: (sessionId: string | null, outcome: Outcome): Promise<unknown> =>
      settle(service, { checkout_session_id: sessionId }, outcome),
  };
}

/**
 * Sells the hall and the floor out in twenty seconds: best seats, picked seats, a change, a release, a decline that is
 * paid in the end, a cancelled order, and a checkout without a hold.
 */
export async function sellOut(service: TestService): Promise<void> {
  const { arrive, hold, start, settle } = buyers(service);
  const pay = async (buyer: Buyer, holdId: string): Promise<void> => {
    service.wait(50);
    const { checkout_session_id: session } = await start(buyer, holdId);
    service.wait(50);
    await settle(session, 'paid');
  };
  const undecided = arrive();
  const released = await hold(undecided, [itemOf('seat', 4)]);
  service.wait(200);
  await service.delete(`/api/checkout/holds/${released.id}`, { 'x-session-key': undecided.key });
  const changing = arrive();
  const held = await hold(changing, [itemOf('seat', 2)]);
  service.wait(100);
  const change = { items: [itemOf('seat', 4)] };
  assert.equal(
    (await service.patch(`/api/checkout/holds/${held.id}`, change, { 'x-session-key': changing.key })).status,
    200,
  );
  await pay(changing, held.id);
  const picking = arrive();
  const picked = await hold(picking, [itemOf('seat', 2, { seat_ids: ['H-5-11', 'H-5-12'] })]);
  await pay(picking, picked.id);
  const cancelling = arrive();
  const { checkout_session_id: cancelled } = await start(cancelling, (await hold(cancelling, [itemOf('seat', 6)])).id);
  service.wait(100);
  await settle(cancelled, 'cancelled');
  const declined = arrive();
  const order = await start(declined, (await hold(declined, [itemOf('stand', 4)])).id);
  await settle(order.checkout_session_id, 'declined');
  service.wait(500);
  const again = await service.post(`/api/checkout/orders/${order.order_id}/payments`, {});
  await settle(String(again.body['checkout_session_id']), 'paid');
  const direct = await start(arrive(), null, { items: [itemOf('stand', 6, { attendees: guests(6) })] });
  await settle(direct.checkout_session_id, 'paid');
  for (let place = 0; place < 30; place += 6) {
    service.wait(700);
    const buyer = arrive();
    await pay(buyer, (await hold(buyer, [itemOf('stand', 6)])).id);
  }
  for (;;) {
    service.wait(600);
    const buyer = arrive();
    const { body } = await service.get<{ available: number }>(
      '/api/events/public/concert/seating/occupancy?performance_id=eve',
    );
    if (body.available === 0) return;
    await pay(buyer, (await hold(buyer, [itemOf('seat', body.available > 24 ? 3 : 1)])).id);
  }
}

function guests(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${PERSONAL.names[index % 3]} the ${index}th`,
    email: `guest-${index}@people.example`,
    document_number: PERSONAL.documentNumber,
    phone: PERSONAL.phone,
  }));
}
