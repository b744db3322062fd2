/**
 * What somebody should look at by the service's own figures, with what it means and what to do. The bounds and the
 * words are those of the alerts for Prometheus (`src/operations/prometheus-alerts.yaml`); a test compares them.
 */
import type { Overview } from '../app/bodies.ts';
import { bytes, number } from '../app/format.ts';

interface Rule {
  /** As Prometheus' alert is called. */
  readonly name: string;
  /** What is seen now; null where all is well. */
  readonly seen: (service: Overview['service'], events: Overview['events']) => string | null;
  readonly means: string;
  readonly action: string;
}

const FREE_BYTES_MIN = 2e9;
const LOOP_DELAY_MS_MAX = 500;
const NOTIFICATIONS_BEHIND_MAX = 1_000;

const RULES: readonly Rule[] = [
  {
    name: 'HoldfastNotReady',
    seen: ({ ready, reason }) => (ready ? null : `Not ready: ${reason}`),
    means: 'Changes are refused, or new holds, checkouts and joins alone; reads go on.',
    action: 'curl /health/ready says why. On a full or nearly full disk make room; it goes on by itself.',
  },
  {
    name: 'HoldfastEventBroken',
    seen: ({ degraded }) => {
      const broken = degraded.filter((what) => what.startsWith('event:'));
      return broken.length === 0 ? null : `Broken: ${broken.map((what) => what.slice('event:'.length)).join(', ')}`;
    },
    means: 'An event cannot be activated and answers 503; all others are served.',
    action: 'curl /health/ready names it, holdfast verify says which fact its replay stops at.',
  },
  {
    name: 'HoldfastClockLeapt',
    seen: ({ degraded }) => (degraded.includes('clock') ? 'The clock is off' : null),
    means: 'The clock of the machine was set by more than a minute. Windows go on by a stopwatch.',
    action: "See to the machine's clock, then restart the service, so that sales begin and end by the right time.",
  },
  {
    name: 'HoldfastArchiveDamaged',
    seen: ({ degraded }) => (degraded.includes('archive') ? 'The archive is damaged' : null),
    means: 'A file of the archive is damaged or missing. The sale goes on; what the file had cannot be restored.',
    action: 'The log and holdfast verify name it. Put it back from a backup; the next start or prune looks again.',
  },
  {
    name: 'HoldfastDiskFillsUp',
    seen: ({ free_bytes: free }) => (free !== null && free < FREE_BYTES_MIN ? `${bytes(free)} free` : null),
    means: 'The disk of the data folder will be full within a day, or has less than 2 GB.',
    action:
      'Make room on it, or move the folder to a larger disk. Do not prune now, because that first writes an archive file to the same disk, and journal.db does not shrink.',
  },
  {
    name: 'HoldfastLoopIsLate',
    seen: ({ event_loop_delay_ms: delay }) => (delay > LOOP_DELAY_MS_MAX ? `${number(delay)} ms late` : null),
    means: 'Everybody waits half a second for the event loop of the sale, or of a thread that answers requests.',
    action:
      'It has more to do than it can. Put waiting rooms in front of the hottest events; where HTTP_THREADS is set and one of these threads is late, raise it.',
  },
  {
    name: 'HoldfastNotificationsWait',
    seen: ({ notification_lag: lag }) =>
      lag !== null && lag > NOTIFICATIONS_BEHIND_MAX ? `${number(lag)} facts behind` : null,
    means: 'The receiver of notifications does not take them.',
    action: 'Nothing is lost; they are sent in order when it answers again.',
  },
  {
    name: 'HoldfastRefundNeedsOperator',
    seen: (_service, events) => {
      const stuck = events.filter((event) => event.refunds_needing_operator > 0);
      const all = stuck.map(({ name, refunds_needing_operator: count }) => `${name} (${number(count)})`);
      return all.length === 0 ? null : `Refunds need an operator: ${all.join(', ')}`;
    },
    means: 'A refund was refused by its provider, or got no clear answer for 72 hours.',
    action: "Look at the provider's page, then resolve the refund on the page of its order.",
  },
];

export function Alerts({ service, events }: Pick<Overview, 'service' | 'events'>) {
  const raised = RULES.flatMap((rule) => {
    const seen = rule.seen(service, events);
    return seen === null ? [] : [{ ...rule, seen }];
  });
  if (raised.length === 0) return null;
  return (
    <ul class="alerts" aria-label="Alerts">
      {raised.map(({ name, seen, means, action }) => (
        <li key={name} class="alert">
          <b>{seen}.</b> {means} <span class="small">{action}</span>
        </li>
      ))}
    </ul>
  );
}
