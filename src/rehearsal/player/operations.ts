/**
 * Plays what operators did, at a service of its own: definitions, blocked seats, cancelled performances.
 */
import { toEventFile } from '#catalogue/event-fields.ts';
import { withoutTaken } from '../trace/definition.ts';
import type { RehearsedService } from '../server/service.ts';
import type { Timeline } from './timeline.ts';
import type { OperatorAction, Trace } from '../trace/trace.ts';

interface OperationPorts {
  readonly operate: NonNullable<RehearsedService['operate']>;
  readonly timeline: Timeline;
  /** A moment of the period, on the timeline. */
  atMoment(at: number): number;
  /** Whether another definition is rehearsed, which those of then must not replace. */
  readonly isDefinitionGiven: boolean;
}

/** Has every operation done at its moment; `refused` are those that the service did not take. */
export function playOperations(trace: Trace, ports: OperationPorts): { readonly refused: readonly string[] } {
  const { timeline, atMoment } = ports;
  const refused: string[] = [];
  for (const operation of trace.operations) {
    const done = timeline.at(atMoment(operation.at)).then(() => perform(operation, trace, ports));
    done.catch(() => refused.push(`operation ${operation.kind}: the service refused it`));
  }
  return { refused };
}

async function perform(
  operation: OperatorAction,
  trace: Trace,
  { operate, isDefinitionGiven }: OperationPorts,
): Promise<void> {
  const event = `/admin/events/${encodeURIComponent(trace.eventId)}`;
  switch (operation.kind) {
    case 'DEFINE': {
      if (isDefinitionGiven) return;
      const definition = withoutTaken(operation.definition, trace.takenBefore);
      await operate('PUT', event, toEventFile(definition));
      return;
    }
    case 'CANCEL_PERFORMANCE':
      await operate('POST', `${event}/performances/${encodeURIComponent(operation.performanceId)}/cancel`, {});
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
