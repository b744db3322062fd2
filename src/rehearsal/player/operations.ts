/**
 * Plays what operators did, at a service of its own: definitions, blocked seats, orders at a counter, cancelled
 * performances.
 */
import { toEventFile } from '#catalogue/event-fields.ts';
import { withoutTaken } from '../trace/definition.ts';
import type { RehearsedService } from '../server/service.ts';
import { linesIn, seatsIn, ticketsIn, type PlacedHold } from './purchases.ts';
import type { RequestBuilder } from './requests.ts';
import type { Timeline } from './timeline.ts';
import type { Sales } from '../trace/sales.ts';
import type { OperatorAction, Trace } from '../trace/trace.ts';

interface OperationPorts {
  readonly operate: NonNullable<RehearsedService['operate']>;
  readonly timeline: Timeline;
  readonly requests: Pick<RequestBuilder, 'counterOrder'>;
  /** What is sold at a counter is counted with what buyers buy. */
  readonly sales: Sales;
  /** A moment of the period, on the timeline. */
  atMoment(at: number): number;
  /** Whether another definition is rehearsed, which the trace's own must not replace. */
  readonly isDefinitionGiven: boolean;
}

/**
 * Has every operation done at its moment; `refused` are those that the service did not take. `sold` resolves when the
 * last order at a counter is answered.
 */
export function playOperations(
  trace: Trace,
  ports: OperationPorts,
): { readonly refused: readonly string[]; readonly sold: Promise<unknown> } {
  const { timeline, atMoment } = ports;
  const refused: string[] = [];
  const sales: Promise<unknown>[] = [];
  for (const operation of trace.operations) {
    const done = timeline.at(atMoment(operation.at)).then(() => perform(operation, trace, ports));
    const answered = done.catch(() => refused.push(`operation ${operation.kind}: the service refused it`));
    if (operation.kind === 'SELL_AT_COUNTER') sales.push(answered);
  }
  return { refused, sold: Promise.all(sales) };
}

/** An order as operators see it, as far as it is read. */
interface CounterOrder extends Pick<PlacedHold, 'items'> {
  readonly total_amount: number;
}

async function perform(
  operation: OperatorAction,
  trace: Trace,
  { operate, timeline, requests, sales, isDefinitionGiven }: OperationPorts,
): Promise<void> {
  const event = `/admin/events/${encodeURIComponent(trace.eventId)}`;
  switch (operation.kind) {
    case 'DEFINE': {
      if (isDefinitionGiven) return;
      const definition = withoutTaken(operation.definition, trace.takenBefore);
      await operate('PUT', event, toEventFile(definition));
      return;
    }
    case 'SELL_AT_COUNTER': {
      const order = (await operate('POST', `${event}/orders`, requests.counterOrder(operation))) as CounterOrder;
      const { items, total_amount: totalCents } = order;
      const counted = { tickets: ticketsIn(items), seats: seatsIn(items), totalCents, lines: linesIn(items) };
      sales.sold({ at: timeline.now(), ...counted });
      return;
    }
    case 'CANCEL_PERFORMANCE':
      await operate('POST', `${event}/performances/${encodeURIComponent(operation.performanceId)}/cancel`, {
        orders: operation.orders,
      });
      return;
    case 'BLOCK':
    case 'UNBLOCK': {
      const path = `${event}/performances/${encodeURIComponent(operation.performanceId)}/seats`;
      await operate('POST', path, {
        seat_ids: operation.seatIds,
        action: operation.kind === 'BLOCK' ? 'block' : 'unblock',
      });
      return;
    }
  }
}
