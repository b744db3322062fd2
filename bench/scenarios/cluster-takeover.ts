/**
 * How long events have no answer when a node or a server fails, seen by buyers: the drill of `test/cluster` with its
 * faults, three nodes on three servers.
 */
import { everyFault, runDrill, type DrillStep } from '../../test/cluster/drill/run.ts';
import { PROMISED_MS } from '../../test/cluster/drill/report.ts';
import type { FaultKind } from '../../test/cluster/drill/faults.ts';
import { withoutNats } from '../cluster.ts';
import type { Figure, Scenario } from '../scenario.ts';

const QUICK: readonly FaultKind[] = ['node killed', 'node ended', 'server killed'];

export const clusterTakeover: Scenario = {
  name: 'cluster-takeover',
  about: 'times without an answer for an event while nodes and NATS servers are killed, ended and stopped',
  async run({ quick, rounds, report }) {
    if (withoutNats !== null) return withoutNats;
    const faults = quick ? QUICK : Array.from({ length: rounds }, () => [...everyFault(0)]).flat();
    const outcome = await runDrill({
      faults,
      buyers: 8,
      shards: 12,
      events: 12,
      restMsMax: 100,
      seed: 1,
      onProgress: report,
    });
    const byKind = Map.groupBy(outcome.steps, ({ what }) => what);
    return {
      figures: [
        ...Array.from(byKind, ([what, steps]) => figuresOf(what, steps)).flat(),
        { name: 'audit: problems found', value: outcome.wrong.length, unit: '', budget: { atMost: 0 } },
      ],
      notes: [`${outcome.requests} requests, ${outcome.holds} holds and ${outcome.orders} orders in the audit`],
    };
  },
};

/** The median and the longest of all events that the fault touches. */
function figuresOf(what: string, steps: readonly DrillStep[]): Figure[] {
  const gaps = steps.flatMap(({ touchedMs }) => touchedMs).toSorted((a, b) => a - b);
  const longest = gaps.at(-1);
  if (longest === undefined) return [];
  const promisedMs = PROMISED_MS[what];
  return [
    { name: `${what}: without an answer, p50`, unit: 'ms', value: gaps[Math.floor((gaps.length - 1) / 2)]! },
    {
      name: `${what}: without an answer, longest`,
      unit: 'ms',
      value: longest,
      ...(promisedMs !== undefined && { budget: { atMost: promisedMs } }),
    },
  ];
}
