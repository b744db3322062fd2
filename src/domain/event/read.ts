/**
 * Read: from a query and the state of an event to a view. One line for each query says which aggregate answers it.
 *
 * Nothing is mutated; the same state, query and reading give the same view.
 */
import type { BrandedEvent } from '../catalogue/definition.ts';
import { countUnknownCodes } from '../orders/pricing.ts';
import { eventTotals, gaugesOf, operatorEventView } from './operator-view.ts';
import { findHold } from '../holds/view.ts';
import { unreachable } from '../invariant.ts';
import { findPerformance, findPerformanceOnSale } from '../inventory/performance.ts';
import { liveView, occupancyReading, payloadView, seatingReading, type QueryContext } from './revisioned-views.ts';
import { suggestSeats } from '../inventory/view.ts';
import { activeHoldOf } from '../holds/state.ts';
import { forecastCancellation } from '../orders/amendments/cancellation-forecast.ts';
import { listNamedOrders, listSealedOrders } from '../orders/sealed-orders.ts';
import { findUnopenedPayments, scanForUselessSessions, uselessSessions } from '../orders/open-sessions.ts';
import { listDueRefunds, listRefunds } from '../orders/refund-tries.ts';
import { ordersNumbered } from '../orders/told-numbers.ts';
import { findOrder, findSession, findTicket, listOrders, listVoidTickets } from '../orders/view.ts';
import { findAmendment, quoteAmendment } from '../orders/amendments/decide.ts';
import { hasEntered } from '../doors/state.ts';
import { viewFeed } from '../doors/feed.ts';
import { listStations, stationByToken } from '../doors/stations.ts';
import { listAttendees } from '../doors/attendees.ts';
import { listConflicts, listScans, readDoors, viewScansOf } from '../doors/view.ts';
import { quoteOrder } from '../orders/quote.ts';
import { firstPaymentOf, personalOf } from '../orders/order.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { readFact, type EventFact } from './replay.ts';
import { viewDraw } from '../waiting-room/view.ts';
import { isPublished } from '../catalogue/state.ts';
import type { EventState } from './state.ts';
import type { Query, QueryOf, QueryType, Views } from './query.ts';
import type { Sealing } from '../personal.ts';
import type { FactData } from '../fact.ts';
import type { IssuedTicketView } from '../view.ts';
import type { Hashing } from '../waiting-room/draw.ts';

/** What the actor brings to a query. */
export interface ReadContext extends QueryContext {
  readonly hashing: Hashing;
  /**
   * Null where the key of addresses is not loaded: a list by address then finds only older orders, whose addresses are
   * open.
   */
  readonly sealing: (Pick<Sealing, 'addressHash'> & Partial<Pick<Sealing, 'requestDigest'>>) | null;
}

export function read<Type extends QueryType>(
  state: EventState,
  query: QueryOf<Type>,
  context: ReadContext,
): Views[Type] {
  // By way of unknown: the compiler cannot follow so large a union through a type parameter.
  const view: unknown = viewOf(state, query as Query, context);
  return view as Views[Type];
}

function viewOf(state: EventState, query: Query, context: ReadContext): Views[QueryType] {
  const { now } = context;
  switch (query.type) {
    case 'ReadPayload':
      return payloadView(state, query, context);
    case 'ReadSeating':
      return seatingReading(state, query, context);
    case 'ReadOccupancy':
      return occupancyReading(state, query, context);
    case 'SuggestSeats':
      return ifPublished(state, () => suggestSeats(state, query, activeHoldOf(state, query.sessionKey), now));
    case 'FindPerformance':
      return ifPublished(state, () => {
        const performance = findPerformance(state, query.performanceId);
        return isRefusal(performance) ? performance : { performanceId: performance.id };
      });
    case 'ReadLivePerformance':
      return liveView(state, query, context);
    case 'CountUnknownCodes':
      return { count: countUnknownCodes(state.plan, query.codes) };
    case 'FindHold':
      return findHold(state, query.holdId, query.sessionKey);
    case 'QuoteOrder':
      return quoteOrder(state, query, now);
    case 'QuoteAmendment':
      return quoteAmendment(state, query, context, (ticketId) => hasEntered(state, ticketId));
    case 'FindAmendment':
      return findAmendment(state, query);
    case 'FindOrder': {
      const order = findOrder(state, query.orderId, query.tickets);
      if (isRefusal(order)) return order;
      const { definitionVersion, plan } = state;
      if (query.withDefinition !== true) return { order, definitionVersion, definition: null, datesOnSale: [], now };
      const onSale = plan.visiblePerformances.filter(({ id }) => !isRefusal(findPerformanceOnSale(state, id, now)));
      return { order, definitionVersion, definition: plan.definition, datesOnSale: onSale.map(({ id }) => id), now };
    }
    case 'FindNumbered':
      return { orderIds: ordersNumbered(state, query.number) };
    case 'ListOrders':
      return listOrders(state, query, context.sealing);
    case 'ListPersonalData':
      return query.of === 'NAMED' ? listNamedOrders(state, query) : listSealedOrders(state, query);
    case 'ForecastCancellation':
      return forecastCancellation(state, query);
    case 'FindTicket':
      return { issued: viewIssued(state, query.ticketId) };
    case 'ListAttendees':
      return listAttendees(state, query);
    case 'ListScans':
      return listScans(state, query);
    case 'FindScans':
      return query.ticketIds.flatMap((ticketId) => viewScansOf(state, ticketId));
    case 'ListVoidTickets':
      return ifPublishedOrSold(state, () => listVoidTickets(state, query));
    case 'FindSession': {
      const found = findSession(state, query.checkoutSessionId);
      if (found === null) return refuse('ORDER_NOT_FOUND', {});
      return { ...found, timezone: state.plan.definition.timezone, look: brandedEvent(state) };
    }
    case 'FindUnopenedPayments':
      return findUnopenedPayments(state, query, now);
    case 'FindUselessSessions':
      return uselessSessions(state, query.orderId, now);
    case 'ScanUselessSessions':
      return scanForUselessSessions(state, now, query.before, query.count);
    case 'ListRefunds':
      return listRefunds(state, query);
    case 'ListDueRefunds':
      return listDueRefunds(state, query.limit, now);
    case 'ListStations':
      return listStations(state, now);
    case 'FindStation': {
      const station = stationByToken(state, query.tokenSha256, now);
      return isRefusal(station) ? station : { eventId: state.eventId };
    }
    case 'ReadFeed':
      return { feed: viewFeed(state), isForSale: state.plan.definition.sellingStages.length > 0 };
    case 'ReadDoors':
      return readDoors(state, query, now);
    case 'ListConflicts':
      return listConflicts(state, query);
    case 'FindDraw':
      return ifPublished(state, () => {
        const { name, timezone } = state.plan.definition;
        const opensAt = state.waitingRoom?.opensAt ?? null;
        return { draw: viewDraw(state, query, context.hashing), opensAt, name, timezone, look: brandedEvent(state) };
      });
    case 'ReadBrand':
      return ifPublishedOrSold(state, () => brandedEvent(state));
    case 'ReadFact':
      return viewFact(state, query.stored);
    case 'ReadOperatorEvent':
      return operatorEventView(state, now);
    case 'ReadMoney':
      return { name: state.plan.definition.name, ...state.orders.money.view(-Infinity, state.orders.refunds) };
    case 'ReadGauges':
      return gaugesOf(state, now);
    case 'ReadTotals':
      return eventTotals(state, query.performanceId);
    default:
      return unreachable(query);
  }
}

function brandedEvent({ plan: { definition } }: EventState): BrandedEvent {
  const { slug, brand } = definition;
  return brand === undefined ? { slug } : { slug, brand };
}

function ifPublished<View>(state: EventState, view: () => View): View | Refusal {
  return isPublished(state) ? view() : refuse('EVENT_NOT_FOUND', {});
}

/** For pages of orders and for doors, which an event has even when it is no longer shown. */
function ifPublishedOrSold<View>(state: EventState, view: () => View): View | Refusal {
  return isPublished(state) || state.orders.inOrder.length > 0 ? view() : refuse('EVENT_NOT_FOUND', {});
}

function viewIssued(state: EventState, ticketId: string): IssuedTicketView | null {
  const issued = findTicket(state, ticketId);
  return issued && { ...issued, scans: viewScansOf(state, ticketId) };
}

function viewFact(state: EventState, stored: EventFact): Views['ReadFact'] {
  const { eventId, plan, orders } = state;
  const fact = readFact(stored, plan);
  const { orderId } = fact.data as Partial<FactData['OrderPlaced']>;
  const order = orderId === undefined ? undefined : orders.byId.get(orderId);
  const about = order && {
    purchase: order.purchase,
    firstPaymentId: firstPaymentOf(order)?.id ?? null,
    personal: personalOf(order),
  };
  return { fact, eventId, currency: plan.definition.currency, order: about ?? null };
}
