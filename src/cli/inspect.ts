/** `holdfast inspect`: the state on disk in numbers, of all events, one event, or one of its performances. */
import { eventIdsIn, readEventState } from '#actors/reading.ts';
import { addFigures, figuresOf, NO_FIGURES, type Figures } from '#domain/figures.ts';
import { left, totals, totalsOf, type StockTotals } from '#domain/inventory/inventory.ts';
import { CommandFailure, DATA_OPTION, suggestion, WrongUse, type Call, type Command } from './command.ts';
import { dataFolder, readEvent, withView } from './data-folder.ts';
import { byStatus, counted, formatMoment, table } from './output.ts';
import type { EventState } from '#domain/event-state.ts';
import type { PerformanceState } from '#domain/inventory/performance.ts';

export const inspectCommand: Command = {
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
    const folder = dataFolder(call);
    const [name] = call.positionals;
    if (name === undefined && call.has('performance'))
      throw new WrongUse('--performance needs the event: inspect EVENT');
    await withView(folder, async (view) => {
      if (name === undefined) {
        const states = eventIdsIn(view).map((eventId) => () => readEventState(folder, view, eventId));
        return showEvents(call, states, view.headSeq);
      }
      const state = await readEvent(folder, view, name);
      const performanceId = call.text('performance');
      if (performanceId === null) showEvent(call, state);
      else showPerformance(call, state, performanceId);
    });
    return 0;
  },
};

// ── all events ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Reads one event at a time, so that only one is in memory. */
async function showEvents(
  { output }: Call,
  states: readonly (() => Promise<EventState | null>)[],
  headSeq: number,
): Promise<void> {
  const events: (Figures & { readonly id: string; readonly status: string; readonly dates: number })[] = [];
  for (const [index, read] of states.entries()) {
    output.progress('reading events', index, states.length);
    const state = await read();
    if (state === null) continue;
    const { status } = state.plan.definition;
    events.push({ id: state.eventId, status, dates: state.performances.size, ...figuresOf(state) });
  }
  const heading = ['event', 'status', 'performances', ...STOCK_HEADING, 'waiting', 'holds', 'orders'];
  const rows = events.map((event) => {
    const { id, status, dates, tickets, queue, holds, orders } = event;
    const paid = orders.CONFIRMED + orders.PARTIALLY_PAID;
    return [id, status, dates, ...stockCells(tickets), queue.waiting, holds.ACTIVE, orders.PENDING + paid];
  });
  output.text(...table([heading, ...rows]), '', `${counted(events.length, 'event')} as of fact ${headSeq}.`);
  const totalFigures = events.reduce<Figures>(addFigures, NO_FIGURES);
  output.json({ ok: true, headSeq, events, total: totalFigures });
}

// ── one event ────────────────────────────────────────────────────────────────────────────────────────────────────────

function showEvent({ output }: Call, state: EventState): void {
  const { definition } = state.plan;
  const figures = figuresOf(state);
  const dates = [...state.performances.values()].map((performance) => performanceView(state, performance));
  const { waitingRoom } = state;
  output.text(
    `${definition.id}  ${definition.name}`,
    `slug ${definition.slug}, ${definition.status}, version ${state.definitionVersion}`,
    '',
    ...table([
      ['performance', 'status', 'locality', ...STOCK_HEADING],
      ...dates.flatMap(({ id, status, localities }) =>
        localities.map((locality) => [id, status, locality.id, ...stockCells(locality)]),
      ),
    ]),
    '',
    `holds   ${byStatus(figures.holds)}`,
    `orders  ${byStatus(figures.orders)}`,
  );
  if (waitingRoom !== null) {
    const { status, opensAt } = waitingRoom;
    const opening = opensAt === null ? '' : `, opening at ${formatMoment(opensAt)}`;
    output.text(`queue   ${status}${opening}: ${figures.queue.waiting} waiting, ${figures.queue.admitted} admitted`);
  }
  const { id, slug, name, status } = definition;
  const room = waitingRoom && { status: waitingRoom.status, opensAt: momentOrNull(waitingRoom.opensAt) };
  output.json({
    ok: true,
    id,
    slug,
    name,
    status,
    version: state.definitionVersion,
    dates,
    ...figures,
    waitingRoom: room,
  });
}

function performanceView(state: EventState, { id, status, inventory }: PerformanceState) {
  const localities = state.plan.localities.map((locality) => ({ id: locality.id, ...totalsOf(inventory, locality) }));
  return { id, status, ...totals(inventory), localities };
}

// ── one performance ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function showPerformance({ output }: Call, state: EventState, performanceId: string): void {
  const performance = state.performances.get(performanceId);
  if (performance === undefined) {
    const known = suggestion(performanceId, state.performances.keys());
    throw new CommandFailure(
      `${state.eventId} has no performance ${performanceId}${known}`,
      `Its performances are ${[...state.performances.keys()].join(', ')}.`,
    );
  }
  const { inventory } = performance;
  const view = performanceView(state, performance);
  const rows = state.plan.rows.map((row) => ({
    ticketTypeId: row.ticketTypeId,
    sellingStageId: row.sellingStageId,
    priceCents: row.priceCents,
    available: left(inventory, row),
    held: inventory.held[row.index]!,
    sold: inventory.sold[row.index]!,
  }));
  output.text(
    `${state.eventId}, performance ${view.id}: ${view.status}`,
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
  output.json({ ok: true, eventId: state.eventId, ...view, rows });
}

// ── cells ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const STOCK_HEADING = ['capacity', 'available', 'held', 'sold', 'blocked'] as const;

function stockCells({ capacity, available, held, sold, blocked }: StockTotals): number[] {
  return [capacity, available, held, sold, blocked];
}

function momentOrNull(at: number | null): string | null {
  return at === null ? null : formatMoment(at);
}
