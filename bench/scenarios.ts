import type { Scenario } from './scenario.ts';
import { bestAvailable } from './scenarios/best-available.ts';
import { engineTurns } from './scenarios/engine-turns.ts';
import { getEvent } from './scenarios/get-event.ts';
import { memory } from './scenarios/memory.ts';
import { postHold } from './scenarios/post-hold.ts';
import { purchases } from './scenarios/purchases.ts';
import { queuePolls } from './scenarios/queue-polls.ts';
import { replay } from './scenarios/replay.ts';
import { tableLookup } from './scenarios/table-lookup.ts';

/** All scenarios, in the order in which they run. */
export const SCENARIOS: readonly Scenario[] = [
  postHold,
  getEvent,
  purchases,
  queuePolls,
  engineTurns,
  bestAvailable,
  replay,
  memory,
  tableLookup,
];
