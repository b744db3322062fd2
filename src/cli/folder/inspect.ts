/** `holdfast inspect`: the state on disk in numbers, of all events, one event, or one of its performances. */
import { suggestion } from '#domain/schema-problems.ts';
import { eventIdsIn, openEventOnDisk, type EventOnDisk } from '#offline/events.ts';
import type { StockTotals } from '#domain/inventory/inventory.ts';
import { addCounts, NO_COUNTS, type EventTotals, type EventCounts } from '#domain/event/operator-view.ts';
import { CommandFailure, DATA_OPTION, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { dataFolder, openEvent, withView } from './data-folder.ts';
import { byStatus, counted, formatMoment, table } from '../terminal/output.ts';

export const command: CliCommand = {
  usage: 'inspect [EVENT [--performance ID]] [--data DIR]',
  description: [
    'Reads what is on disk, also while a service runs on the folder, and prints it in numbers: a line for each event; for one event ' +
      '(by id or slug) its performances and localities, holds, orders and waiting room; for one performance also every ticket type ' +
      'and stage.',
    'A hold that expired while no service ran is still counted as held; the next start expires it.',
  ],
  options: [{ name: 'performance', value: 'ID', help: 'only this performance of the event' }, DATA_OPTION],
  positionals: { min: 0, max: 1 },
  examples: [
    { line: 'holdfast inspect', does: 'prints a line for each event' },
    {
      line: 'holdfast inspect erfurt-volley --performance derby',
      does: 'prints one performance with every ticket type',
    },
  ],
  async run(call) {
    const folder = dataFolder(call, 'GET /admin/overview');
    const [name] = call.positionals;
    if (name === undefined && call.has('performance'))
      throw new WrongUse('--performance needs the event: inspect EVENT');
    await withView(folder, async (view) => {
      if (name === undefined) {
        const events = eventIdsIn(view).map((eventId) => () => openEventOnDisk(folder, view, eventId));
        return showEvents(call, events, view.headSeq);
      }
      const event = await openEvent(folder, view, name);
      const performanceId = call.text('performance');
      const counts = await event.read({ type: 'ReadTotals', performanceId });
      if (performanceId === null) showEvent(call, counts);
      else showPerformance(call, event, counts, performanceId);
    });
    return 0;
  },
};

// ── all events ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Reads one event at a time, so that only one is in memory. */
async function showEvents(
  { output }: CliCall,
  opens: readonly (() => Promise<EventOnDisk | null>)[],
  headSeq: number,
): Promise<void> {
  const events: (EventCounts & { readonly id: string; readonly status: string; readonly dates: number })[] = [];
  for (const [index, open] of opens.entries()) {
    output.progress('reading events', index, opens.length);
    const event = await open();
    if (event === null) continue;
    const { definition, performances, counts } = await event.read({ type: 'ReadTotals', performanceId: null });
    events.push({ id: event.eventId, status: definition.status, dates: performances.length, ...counts });
  }
  const heading = ['event', 'status', 'performances', ...STOCK_HEADING, 'waiting', 'holds', 'orders'];
  const rows = events.map((event) => {
    const { id, status, dates, tickets, queue, holds, orders } = event;
    const paid = orders.CONFIRMED + orders.PARTIALLY_PAID;
    return [id, status, dates, ...stockCells(tickets), queue.waiting, holds.ACTIVE, orders.PENDING + paid];
  });
  output.text(...table([heading, ...rows]), '', `${counted(events.length, 'event')} as of fact ${headSeq}.`);
  const totalCounts = events.reduce<EventCounts>(addCounts, NO_COUNTS);
  output.json({ ok: true, headSeq, events, total: totalCounts });
}

// ── one event ────────────────────────────────────────────────────────────────────────────────────────────────────────

function showEvent({ output }: CliCall, event: EventTotals): void {
  const { definition, definitionVersion, counts, performances: dates, waitingRoom } = event;
  output.text(
    `${definition.id}  ${definition.name}`,
    `slug ${definition.slug}, ${definition.status}, version ${definitionVersion}`,
    '',
    ...table([
      ['performance', 'status', 'locality', ...STOCK_HEADING],
      ...dates.flatMap(({ id, status, localities }) =>
        localities.map((locality) => [id, status, locality.id, ...stockCells(locality)]),
      ),
    ]),
    '',
    `holds   ${byStatus(counts.holds)}`,
    `orders  ${byStatus(counts.orders)}`,
  );
  if (waitingRoom !== null) {
    const { status, opensAt } = waitingRoom;
    const opening = opensAt === null ? '' : `, opening at ${formatMoment(opensAt)}`;
    output.text(`queue   ${status}${opening}: ${counts.queue.waiting} waiting, ${counts.queue.admitted} admitted`);
  }
  const { id, slug, name, status } = definition;
  const room = waitingRoom && { status: waitingRoom.status, opensAt: momentOrNull(waitingRoom.opensAt) };
  output.json({
    ok: true,
    id,
    slug,
    name,
    status,
    version: definitionVersion,
    dates,
    ...counts,
    waitingRoom: room,
  });
}

// ── one performance ──────────────────────────────────────────────────────────────────────────────────────────────────

function showPerformance(
  { output }: CliCall,
  { eventId }: EventOnDisk,
  { performances, offers: rows }: EventTotals,
  performanceId: string,
): void {
  const view = performances.find(({ id }) => id === performanceId);
  if (view === undefined || rows === null) {
    const ids = performances.map(({ id }) => id);
    throw new CommandFailure(
      `${eventId} has no performance ${performanceId}${suggestion(performanceId, ids)}`,
      `Its performances are ${ids.join(', ')}.`,
    );
  }
  output.text(
    `${eventId}, performance ${view.id}: ${view.status}`,
    '',
    ...table([
      ['locality', ...STOCK_HEADING],
      ...view.localities.map((locality) => [locality.id, ...stockCells(locality)]),
    ]),
    '',
    ...table([
      ['ticket type', 'stage', 'price', 'available', 'held', 'sold'],
      ...rows.map((row) => [row.ticketTypeId, row.sellingStageId, row.priceCents, row.available, row.held, row.sold]),
    ]),
  );
  output.json({ ok: true, eventId, ...view, rows });
}

// ── cells ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const STOCK_HEADING = ['capacity', 'available', 'held', 'sold', 'blocked'] as const;

function stockCells({ capacity, available, held, sold, blocked }: StockTotals): number[] {
  return [capacity, available, held, sold, blocked];
}

function momentOrNull(at: number | null): string | null {
  return at === null ? null : formatMoment(at);
}
