import { createActor } from 'xstate';
import {
  performanceMachine,
  performanceTransitions,
  type PerformanceStatus,
  type PerformanceTrigger,
} from '#machines/performance.ts';
import { invariant } from '#domain/invariant.ts';
import { performanceChannel, type PerformanceMessage } from './channels.ts';

/**
 * The actor of one date: XState runs its status beside the table that `evolve` follows, and the two must agree.
 *
 * The box office calls it inside the turn, after the date's stock changed; it tells the channel what became of the date.
 */
export interface PerformanceActor {
  /** Takes over the status that the facts of a turn led to. Throws a Defect when the machine knows no way there. */
  follow(status: PerformanceStatus): void;
}

/** Starts the actor of a date in the status that activation found. */
export function startPerformance(eventId: string, performanceId: string, status: PerformanceStatus): PerformanceActor {
  const actor = createActor(performanceMachine, {
    snapshot: performanceMachine.resolveState({ value: status }),
  });
  actor.start();
  let current = status;
  return {
    follow(next) {
      if (next === current) return;
      const trigger = triggerBetween(current, next);
      actor.send({ type: trigger });
      invariant(actor.getSnapshot().value === next, `the machine does not lead from ${current} to ${next}`);
      current = next;
      if (!performanceChannel.hasSubscribers) return;
      performanceChannel.publish({ eventId, performanceId, status: next } satisfies PerformanceMessage);
    },
  };
}

function triggerBetween(from: PerformanceStatus, to: PerformanceStatus): PerformanceTrigger {
  const change = performanceTransitions.transitions.find((each) => each.from === from && each.to === to);
  invariant(change?.trigger, `the transition table must lead from ${from} to ${to}`);
  return change.trigger;
}
