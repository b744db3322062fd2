/** `holdfast export`: an event's orders, refunds, scans at its doors or who may come, as CSV or JSON on stdout. */
import { suggestion } from '#domain/schema-problems.ts';
import { DATA_OPTION, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { formatMoment } from '../terminal/output.ts';
import { dataFolder, openEvent, withKeys, withView } from './data-folder.ts';
import { REFUND_CSV, refundRecords } from './refunds.ts';
import { CSV_HEADING, csvOf, jsonOf } from './order-records.ts';
import { PersonalDataReader, type OpenedOrder } from '#privacy/personal-data.ts';
import { csvLine } from '#privacy/csv.ts';
import { ATTENDEE_CSV, attendeeRecords, type AttendeeRecord } from '#privacy/attendee-list.ts';
import { invariant } from '#domain/invariant.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { AttendeePage } from '#domain/doors/attendees.ts';
import type { ExportedScan, ScanPage } from '#domain/doors/view.ts';
import type { EventOnDisk } from '#offline/events.ts';
import type { OrderPage } from '#domain/orders/view.ts';
import type { OrderView } from '#domain/view.ts';

const FORMATS = ['csv', 'json'] as const;
/** What is exported, and what a cluster, which has no folder, is asked for in its place. */
const ASKED_OF_NODES = {
  orders: 'GET /admin/events/EVENT/orders',
  refunds: 'GET /admin/events/EVENT/refunds',
  scans: null,
  attendees: 'GET /admin/events/EVENT/attendees',
} as const;

const EVERY_ORDER = { status: null, email: null, limit: 500, ticketsMax: Number.MAX_SAFE_INTEGER } as const;

export const command: CliCommand = {
  usage: 'export orders | refunds | scans | attendees EVENT [--format csv | json] [--data DIR]',
  description: [
    'Writes all orders of an event (by id or slug) to stdout, the oldest first, with customers, items and money. Amounts are in the ' +
      'minor unit of their currency (cents, yen, fils: ISO 4217); CSV has the sums in the main unit as well. Reads what is on ' +
      'disk, also while a service runs on the folder.',
    'CSV has a heading and a line for each order; a text that a spreadsheet would read as a formula starts with an apostrophe. ' +
      'JSON is a list of orders with payments, refunds and tickets.',
    'refunds writes its refunds in the same way, without notes.',
    'scans writes what was scanned at its doors, ticket after ticket: time, date, door, station (none of a scan by hand), kind, ' +
      'verdict, given (what the station decided by itself, which counts), ticket, type and seat; nothing about people. What was ' +
      'undone is left out.',
    'attendees writes who may come, ticket after ticket, for those at the doors: names, seats, void tickets, and when one was ' +
      'let in; no addresses.',
  ],
  options: [{ name: 'format', value: 'FORMAT', help: 'csv or json (default: csv)' }, DATA_OPTION],
  positionals: { min: 2, max: 2 },
  examples: [
    { line: 'holdfast export orders evt_gala --format csv > gala.csv', does: 'writes a table for accounting' },
    { line: 'holdfast export orders evt_gala --format json | jq length', does: 'counts the orders' },
    { line: 'holdfast export scans evt_gala > scans.csv', does: 'writes who came through which door, without names' },
    {
      line: 'holdfast export attendees evt_gala > door.csv',
      does: 'writes who may come, for a door without a network',
    },
    { line: 'holdfast export refunds evt_gala > refunds.csv', does: 'writes what was given back, and what was not' },
  ],
  async run(call) {
    const [what = '', name = ''] = call.positionals;
    if (!Object.hasOwn(ASKED_OF_NODES, what))
      throw new WrongUse(`there is no export of ${what}${suggestion(what, Object.keys(ASKED_OF_NODES))}`);
    const format = formatOf(call);
    const folder = dataFolder(call, ASKED_OF_NODES[what as keyof typeof ASKED_OF_NODES]);
    await withView(folder, (view) =>
      withKeys(folder, async (keys) => {
        const event = await openEvent(folder, view, name);
        if (what === 'refunds') return write(call, format, refundRecords(event), { ...REFUND_CSV, json: toJson });
        if (what === 'scans') return write(call, format, scanRecords(event), { ...SCAN_CSV, json: toJson });
        if (what === 'attendees') {
          return write(call, format, attendeesOf(event, new PersonalDataReader(keys)), {
            ...ATTENDEE_CSV,
            json: toJson,
          });
        }
        const orders = ordersOf(event, new PersonalDataReader(keys));
        return write(call, format, orders, {
          heading: CSV_HEADING,
          line: ({ order, opened }) => csvOf(order, opened),
          json: ({ order, opened }) => jsonOf(order, opened),
        });
      }),
    );
    return 0;
  },
};

function formatOf(call: CliCall): (typeof FORMATS)[number] {
  const given = call.text('format') ?? (call.has('json') ? 'json' : 'csv');
  const format = FORMATS.find((each) => each === given);
  if (format === undefined) throw new WrongUse(`--format is "${given}": it must be csv or json`);
  return format;
}

interface Form<Exported> {
  readonly heading: string;
  readonly line: (each: Exported) => string;
  readonly json: (each: Exported) => string;
}

const toJson = (record: object): string => JSON.stringify(record);

async function write<Exported>(
  { output }: CliCall,
  format: (typeof FORMATS)[number],
  all: AsyncIterable<Exported>,
  { heading, line, json }: Form<Exported>,
): Promise<void> {
  if (format === 'csv') {
    await output.raw(heading);
    for await (const each of all) await output.raw(line(each));
    return;
  }
  let separator = '[\n';
  for await (const each of all) {
    await output.raw(separator + json(each));
    separator = ',\n';
  }
  await output.raw(separator === '[\n' ? '[]\n' : '\n]\n');
}

interface ReadableOrder {
  readonly order: OrderView;
  readonly opened: OpenedOrder;
}

async function* ordersOf(event: EventOnDisk, personalData: PersonalDataReader): AsyncGenerator<ReadableOrder> {
  let after: string | null = null;
  do {
    const page: OrderPage = await event.read({ type: 'ListOrders', ...EVERY_ORDER, after });
    const opened = await personalData.openAll(page.orders);
    for (const [index, order] of page.orders.entries()) yield { order, opened: opened[index]! };
    after = page.nextAfter;
  } while (after !== null);
}

async function* attendeesOf(event: EventOnDisk, personalData: PersonalDataReader): AsyncGenerator<AttendeeRecord> {
  const read = async (after: string | null): Promise<AttendeePage> => {
    const page = await event.read({ type: 'ListAttendees', performanceId: null, after });
    invariant(!isRefusal(page), 'no date is named that could be missing');
    return page;
  };
  yield* attendeeRecords(await read(null), read, personalData);
}

const SCANS_PER_PAGE = 2_000;

/** A scan as it is exported: nothing about people. */
function scanRecord(scan: ExportedScan) {
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

async function* scanRecords(event: EventOnDisk): AsyncGenerator<ReturnType<typeof scanRecord>> {
  let after: number | null = null;
  do {
    const page: ScanPage = await event.read({ type: 'ListScans', after, limit: SCANS_PER_PAGE });
    yield* page.scans.map(scanRecord);
    after = page.nextAfter;
  } while (after !== null);
}

const SCAN_CSV = {
  heading: csvLine(['time', 'date', 'door', 'station', 'kind', 'verdict', 'given', 'ticket', 'type', 'seat']),
  line: (record: ReturnType<typeof scanRecord>) => csvLine(Object.values(record)),
};
