/** The scans at the doors of an event, as they are exported: nothing about people. */
import type { ExportedScan, ScanPage } from '#domain/doors/view.ts';
import type { EventOnDisk } from '#offline/events.ts';
import { formatMoment } from '../terminal/output.ts';
import { csvLine } from '#privacy/csv.ts';

const PAGE = 2_000;

function recordOf(scan: ExportedScan) {
  const { at, performanceId, doorId, stationName, kind, verdict, given, ticketId, ticketTypeId, seatId } = scan;
  return {
    time: formatMoment(at),
    date: performanceId,
    door: doorId,
    station: stationName,
    kind,
    verdict,
    given,
    ticket: ticketId,
    type: ticketTypeId,
    seat: seatId,
  };
}

export async function* scanRecords(event: EventOnDisk): AsyncGenerator<ReturnType<typeof recordOf>> {
  let after: number | null = null;
  do {
    const page: ScanPage = await event.read({ type: 'ListScans', after, limit: PAGE });
    yield* page.scans.map(recordOf);
    after = page.nextAfter;
  } while (after !== null);
}

export const SCAN_CSV = {
  heading: csvLine(['time', 'date', 'door', 'station', 'kind', 'verdict', 'given', 'ticket', 'type', 'seat']),
  line: (record: ReturnType<typeof recordOf>) => csvLine(Object.values(record)),
};
