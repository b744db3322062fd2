/**
 * How the reply that a decision names becomes the reply that is given: its views are made once, after evolve, in the
 * same turn.
 */
import { invariant, unreachable } from '../invariant.ts';
import { findHold } from '../holds/view.ts';
import { findAmendment } from '../orders/amendments/decide.ts';
import { asThen, type ChangesThen } from '../orders/amendments/tickets.ts';
import { viewOrder, viewOrderById, viewOrderAndPayment } from '../orders/view.ts';
import { viewStation } from '../doors/stations.ts';
import { isRefusal } from '../refusal.ts';
import { viewOwnEntry } from '../waiting-room/view.ts';
import type { Reply } from '../command.ts';
import type { ReplyReference } from '../decision.ts';
import type { EventState } from './state.ts';
import type { HoldView, QueueEntryView } from '../view.ts';

/** The reply that a decision named, once its facts are applied. */
export function toReply(state: EventState, named: ReplyReference, now: number): Reply {
  switch (named.shows) {
    case 'VALUES':
      return named.reply;
    case 'HOLD':
      return { outcome: 'DONE', hold: holdOf(state, named), replayed: false };
    case 'ENTRY':
      return { outcome: 'DONE', entry: entryOf(state, named, now), joined: named.joined };
    case 'ORDER':
      return { outcome: 'DONE', order: viewOrderById(state, named.orderId), repeated: named.repeated };
    case 'AMENDMENT': {
      const amendment = findAmendment(state, named);
      invariant(!isRefusal(amendment), 'an amendment that was decided on is there');
      const { status, payment } = amendment;
      const isToOpen = status === 'PENDING' && payment !== null && payment.checkoutSessionId === null;
      const toOpen = isToOpen ? viewOrderAndPayment(state, named.orderId, payment.id) : NOTHING_TO_OPEN;
      return { outcome: 'DONE', amendment, ...toOpen, replayed: named.replayed ?? false };
    }
    case 'STATION':
      return { outcome: 'DONE', station: viewStation(state.doors!.stations.get(named.stationId)!, now) };
    case 'PAYMENT': {
      const { orderId, paymentId, resumed, replayed, before } = named;
      const shown = viewOrderAndPayment(state, orderId, paymentId);
      if (before === undefined) return { outcome: 'DONE', ...shown, resumed, replayed };
      const then = asThen(state.orders.byId.get(orderId)!, before.changes as ChangesThen | null);
      return { outcome: 'DONE', ...shown, order: viewOrder(state, then), resumed, replayed };
    }
    default:
      return unreachable(named);
  }
}

const NOTHING_TO_OPEN = { order: null, payment: null };

function holdOf(state: EventState, { holdId, sessionKey }: Extract<ReplyReference, { shows: 'HOLD' }>): HoldView {
  const hold = findHold(state, holdId, sessionKey);
  invariant(!isRefusal(hold), 'a hold that was decided on is there');
  return hold;
}

function entryOf(
  state: EventState,
  { entryId, sessionKey }: Extract<ReplyReference, { shows: 'ENTRY' }>,
  now: number,
): QueueEntryView {
  const entry = viewOwnEntry(state, entryId, sessionKey, now);
  invariant(!isRefusal(entry), 'a queue entry that was decided on is there');
  return entry;
}
