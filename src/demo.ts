/**
 * What the demo has beside its events: paid orders of Night Shift, so that the operators' pages and the examples of the reference
 * have something to show. Several, because some examples cancel one.
 */
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { readStart } from '#http/order-bodies.ts';
import type { EnginePort } from '#actors/engine-port.ts';
import type { PaymentService } from '#payments/service.ts';

const EVENT_ID = 'evt_club';

const BUYERS = ['Ada Lovelace', 'Emil Brandt', 'Noor Haddad', 'Zoë Kaltenbach'] as const;

const TICKETS = { ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 2 } as const;

/** Buys the tickets of each buyer; answers the first refusal, which no demo needs to fail for. */
export async function buyDemoTickets(
  { events }: Pick<EnginePort, 'events'>,
  { checkoutSessions, sandbox }: PaymentService,
): Promise<Refusal | null> {
  const event = await events.byEventId(EVENT_ID);
  if (event === null || sandbox === null) return null;
  for (const name of BUYERS) {
    const customer = { name, email: `${name.toLowerCase().replace('ë', 'e').replace(' ', '.')}@example.com` };
    const body = { event_id: EVENT_ID, items: [TICKETS], customer, accept_terms: true };
    const started = await event.execute(readStart(body, null));
    if (isRefusal(started)) return started;
    const { order, payment } = started;
    if (payment === null) continue;
    const opened = await checkoutSessions.openSession({ order, payment });
    const { checkoutSessionId } = opened.payment;
    const paid = await sandbox.settle({ checkoutSessionId: checkoutSessionId!, outcome: 'paid', installment: null });
    if (isRefusal(paid)) return paid;
  }
  return null;
}
