/** The scenarios, in their order, and which of them a quick run leaves out. */
import type { Scenario } from './scenario.ts';
import { bestAvailable } from './scenarios/best-available.ts';
import { cancelledDate } from './scenarios/cancelled-date.ts';
import { clusterActivation } from './scenarios/cluster-activation.ts';
import { clusterHolds } from './scenarios/cluster-holds.ts';
import { clusterTakeover } from './scenarios/cluster-takeover.ts';
import { bestSeats } from './scenarios/best-seats.ts';
import { doors } from './scenarios/doors.ts';
import { engineTurns } from './scenarios/engine-turns.ts';
import { fixedRate } from './scenarios/fixed-rate.ts';
import { forwardedCalls } from './scenarios/forwarded-calls.ts';
import { getEvent } from './scenarios/get-event.ts';
import { growingConnections } from './scenarios/growing-connections.ts';
import { growingEvents } from './scenarios/growing-events.ts';
import { growingHolds } from './scenarios/growing-holds.ts';
import { growingSeats } from './scenarios/growing-seats.ts';
import { idle } from './scenarios/idle.ts';
import { journal } from './scenarios/journal.ts';
import { memory } from './scenarios/memory.ts';
import { occupancySince } from './scenarios/occupancy-since.ts';
import { pickedSeats } from './scenarios/picked-seats.ts';
import { postHold } from './scenarios/post-hold.ts';
import { providerPace } from './scenarios/provider-pace.ts';
import { purchases } from './scenarios/purchases.ts';
import { sealing } from './scenarios/sealing.ts';
import { queuePolls } from './scenarios/queue-polls.ts';
import { replay } from './scenarios/replay.ts';
import { rush } from './scenarios/rush.ts';
import { spreadHolds } from './scenarios/spread-holds.ts';
import { stadiumSellOut } from './scenarios/stadium-sell-out.ts';
import { tableLookup } from './scenarios/table-lookup.ts';
import { httpThreads } from './scenarios/http-threads.ts';
import { threads, threadsMillion } from './scenarios/threads.ts';
import { evening } from './scenarios/evening.ts';
import { activation } from './scenarios/activation.ts';

/** All scenarios, in the order in which they run and are reported. */
export const SCENARIOS: readonly Scenario[] = [
  stadiumSellOut,
  postHold,
  fixedRate,
  spreadHolds,
  pickedSeats,
  bestSeats,
  getEvent,
  occupancySince,
  purchases,
  providerPace,
  cancelledDate,
  doors,
  sealing,
  rush,
  queuePolls,
  growingHolds,
  growingEvents,
  growingSeats,
  growingConnections,
  engineTurns,
  bestAvailable,
  replay,
  journal,
  activation,
  idle,
  memory,
  tableLookup,
  forwardedCalls,
  threads,
  threadsMillion,
  httpThreads,
  evening,
  clusterHolds,
  clusterTakeover,
  clusterActivation,
];

/** Left out of a quick run unless they are named: another scenario shows nearly the same, or they take long. */
const NOT_QUICK: readonly Scenario[] = [
  providerPace,
  cancelledDate,
  fixedRate,
  spreadHolds,
  pickedSeats,
  occupancySince,
  sealing,
  growingEvents,
  growingSeats,
  growingConnections,
  journal,
  threadsMillion,
  httpThreads,
  evening,
  clusterTakeover,
  clusterActivation,
];

/** The scenarios of these names; without names all, or the most important ones for a quick run. */
export function chooseScenarios(names: readonly string[], quick: boolean): readonly Scenario[] {
  if (names.length > 0) return SCENARIOS.filter(({ name }) => names.includes(name));
  return quick ? SCENARIOS.filter((each) => !NOT_QUICK.includes(each)) : SCENARIOS;
}
