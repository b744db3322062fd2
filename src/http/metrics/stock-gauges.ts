/**
 * Gauges that are read when the metrics are read: tickets, queue entries, refunds, the journal's heads, the disk.
 *
 * 1. Only events in memory are read; none is activated for it. One reading passes over each of them once, in slices.
 *    The refunds and conflicts of the others are as they were when they left memory, or were stored.
 * 2. At most `LABELLED_EVENTS_MAX` events, those used last, have labels of their own; the sums are over all events in
 *    memory.
 * 3. `holdfast_oversold_total` compares the counters of every performance with its capacity. It is 0, or there is a
 *    defect.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from '@platformatic/prom-client';
import type { ConflictSums, DoorGauges } from '#domain/doors/view.ts';
import { sumOf } from '#domain/money.ts';
import { sumOfCounts } from '#domain/orders/open-refunds.ts';
import type { Gauges } from '#domain/event/operator-view.ts';
import type { DeploymentState } from '#engine/deployment.ts';
import type { GaugesPort } from '../ports.ts';
import { readUnlessBusy } from '#actors/event-port.ts';

const LABELLED_EVENTS_MAX = 100;
const EVENTS_A_SLICE = 200;
const CONFLICTS = ['DOUBLE_ENTRY', 'ENTERED_VOID', 'ENTERED_OTHERWISE'] as const;
const STATIONS = ['LIVE', 'SILENT', 'EXPIRED', 'REVOKED'] as const;
const TICKET_STATES = ['available', 'held', 'sold', 'blocked'] as const;

type TicketCounts = Record<(typeof TICKET_STATES)[number], number>;

/** Adds the gauges; they are filled each time the registry is read, all from one state of the deployment. */
export function addStockGauges(registers: Registry[], gauges: GaugesPort, state: () => DeploymentState): void {
  addSaleGauges(registers, gauges);
  addJournalGauges(registers, state);
  const { clock } = gauges;
  const gauge = gaugesOf(registers);
  gauge('holdfast_events', 'Events in the directory, in memory or evicted.', () => state().events);
  gauge(
    'holdfast_events_broken',
    'Events that cannot be activated and answer 503. Anything but 0 needs an operator.',
    () => state().brokenEvents,
  );
  gauge(
    'holdfast_archive_problems',
    'Files of the archive that are damaged or missing, as of the start or the last prune. Anything but 0 needs an operator.',
    () => state().archiveProblems,
  );
  new Counter({
    name: 'holdfast_clock_leaps_total',
    help: "Leaps of the machine's clock by more than a minute since the start.",
    registers,
    collect() {
      this.reset();
      this.inc(clock.leaps);
    },
  });
  gauge('holdfast_live_events', 'Events in memory.', () => gauges.active().length);
  gauge('holdfast_ready', '1 when everything can be taken on, else 0.', () => (state().trouble === null ? 1 : 0));
  new Counter({
    name: 'holdfast_refund_tries_total',
    help: 'Tries to have a refund given back, by what the provider answered since the start.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(gauges.refundTries())) this.inc({ outcome }, count);
    },
  });
  addMailGauges(registers, gauges);
  gauge('holdfast_disk_free_bytes', 'Free space on the disk of the data folder.', () => state().freeBytes);
}

function addMailGauges(registers: Registry[], { mailer = { counts: {}, failingMs: 0 } }: GaugesPort): void {
  new Counter({
    name: 'holdfast_mails_total',
    help: 'Mails by what became of them since the start: sent, retried for now, dropped for good.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(mailer.counts)) this.inc({ outcome }, count);
    },
  });
  gaugesOf(registers)(
    'holdfast_mail_failing_seconds',
    'For how long no mail could be sent, for a reason that is not the mail’s; 0 where the last one was.',
    () => mailer.failingMs / 1_000,
  );
}

/** Makes gauges of one value each; where it is null, the gauge has no sample. */
function gaugesOf(registers: Registry[]) {
  return (name: string, help: string, figure: () => number | null): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = figure();
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  };
}

function addJournalGauges(registers: Registry[], state: () => DeploymentState): void {
  const journal = () => state().journal;
  const gauge = gaugesOf(registers);
  gauge('holdfast_journal_appended_seq', 'The last fact handed to the journal.', () => journal().appendedSeq);
  gauge('holdfast_journal_durable_seq', 'The last fact known to be on disk.', () => journal().durableSeq);
  gauge('holdfast_journal_pending_facts', 'Facts on their way to the disk.', () => {
    const { appendedSeq, durableSeq } = journal();
    return Math.max(0, appendedSeq - durableSeq);
  });
  gauge(
    'holdfast_snapshot_age_seconds',
    'Since the newest snapshot; 0 while there is none.',
    () => state().snapshotAgeSeconds,
  );
  gauge('holdfast_notification_lag_facts', 'Durable facts not yet told to the receiver.', () => {
    const { notifiedSeq, journal } = state();
    return notifiedSeq === null ? null : Math.max(0, journal.durableSeq - notifiedSeq);
  });
}

function addSaleGauges(registers: Registry[], gauges: GaugesPort): void {
  // All of them are read together: one pass is begun for the first and awaited by every one.
  let reading = Promise.resolve();
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> =>
    new Gauge({ name, help, labelNames, registers, collect: () => reading });
  const labelled: Gauge<'event_id' | 'state'> = new Gauge({
    name: 'holdfast_event_tickets',
    help: `Tickets of the events asked last (at most ${LABELLED_EVENTS_MAX}) over all dates, by state.`,
    labelNames: ['event_id', 'state'],
    registers,
    collect: () => (reading = read()),
  });
  const queues = gauge(
    'holdfast_event_queue_entries',
    `Entries in the waiting rooms of the events asked last (at most ${LABELLED_EVENTS_MAX}), by status.`,
    ['event_id', 'status'],
  );
  const oversold = new Counter({
    name: 'holdfast_oversold_total',
    help: 'The most tickets ever found beyond capacity at a reading. Anything but 0 is a defect.',
    registers,
    collect: () => reading,
  });
  const tickets = gauge('holdfast_tickets', 'Tickets of all events in memory, by state.', ['state']);
  const refunds = gauge('holdfast_refunds', 'Refunds of all events, by status.', ['status']);
  const fillDoors = addDoorGauges(gauge);
  let oversoldMost = 0;
  async function read(): Promise<void> {
    labelled.reset();
    queues.reset();
    const sums: TicketCounts = { available: 0, held: 0, sold: 0, blocked: 0 };
    const kept = gauges.notInMemory();
    const refundCounts = kept.flatMap((each) => each.refunds ?? []);
    const keptDoors = kept.flatMap((each) => each.doors ?? []);
    const doors: DoorGauges[] = [];
    let found = 0;
    for await (const { eventId, index, view } of readAll(gauges)) {
      found += view.oversold;
      for (const state of TICKET_STATES) sums[state] += view.tickets[state];
      refundCounts.push(view.refunds);
      doors.push(view.doors);
      if (index >= LABELLED_EVENTS_MAX) continue;
      for (const state of TICKET_STATES) labelled.set({ event_id: eventId, state }, view.tickets[state]);
      for (const [status, count] of Object.entries(view.queue ?? {})) queues.set({ event_id: eventId, status }, count);
    }
    for (const state of TICKET_STATES) tickets.set({ state }, sums[state]);
    for (const [status, count] of Object.entries(sumOfCounts(refundCounts))) refunds.set({ status }, count);
    fillDoors(doors, [...doors, ...keptDoors]);
    oversold.inc(Math.max(0, found - oversoldMost));
    oversoldMost = Math.max(oversoldMost, found);
  }
}

type MakeGauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) => Gauge<Label>;

/** The gauges of the doors; the function fills them from the figures of the events in memory, and conflicts of all. */
function addDoorGauges(gauge: MakeGauge): (inMemory: readonly DoorGauges[], all: readonly ConflictSums[]) => void {
  const inside = gauge(
    'holdfast_people_inside',
    'People let in at the doors of events in memory, less those let out.',
    [],
  );
  const conflicts = gauge('holdfast_scan_conflicts', 'Conflicts of scans of all events, by kind.', ['kind']);
  const stations = gauge(
    'holdfast_stations',
    'Stations of events in memory, by status. SILENT ones told of scans that wait, and were not seen for ten minutes.',
    ['status'],
  );
  return (inMemory, all) => {
    inside.set(sumOf(inMemory, (figures) => figures.inside));
    for (const kind of CONFLICTS) {
      const count = sumOf(all, (figures) => figures.conflicts[kind]);
      conflicts.set({ kind }, count);
    }
    for (const status of STATIONS) {
      const count = sumOf(inMemory, (figures) => figures.stations[status]);
      stations.set({ status }, count);
    }
  };
}

/** Reads every event in memory, the one used last first. */
async function* readAll(gauges: GaugesPort): AsyncGenerator<{
  readonly eventId: string;
  readonly index: number;
  readonly view: Gauges;
}> {
  for (const [index, event] of gauges.active().entries()) {
    if (index % EVENTS_A_SLICE === EVENTS_A_SLICE - 1) await nextRound();
    const view = await readUnlessBusy(event.read({ type: 'ReadGauges' }));
    if (view !== null) yield { eventId: event.eventId, index, view };
  }
}
