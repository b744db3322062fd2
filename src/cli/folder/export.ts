/** `holdfast export orders`: an event's orders as CSV or JSON on stdout. */
import { suggestion } from '#domain/schema-problems.ts';
import { DATA_OPTION, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { dataFolder, openEvent, withKeys, withView } from './data-folder.ts';
import { CSV_HEADING, csvOf, jsonOf } from './order-records.ts';
import { PersonalDataReader, type OpenedOrder } from '#privacy/personal-data.ts';
import type { EventOnDisk } from '#offline/events.ts';
import type { OrderPage } from '#domain/orders/view.ts';
import type { OrderView } from '#domain/view.ts';

const FORMATS = ['csv', 'json'] as const;
const EVERY_ORDER = { status: null, email: null, limit: 500, ticketsMax: Number.MAX_SAFE_INTEGER } as const;

export const exportCommand: CliCommand = {
  usage: 'export orders EVENT [--format csv | json] [--data DIR]',
  description: [
    'Writes all orders of an event (by id or slug) to stdout, the oldest first, with customers, items and money. Amounts are in the ' +
      'minor unit of their currency (cents, yen, fils: ISO 4217); CSV has the sums in the main unit as well. Reads what is on ' +
      'disk, also while a service runs on the folder.',
    'CSV has a heading and a line for each order; a text that a spreadsheet would read as a formula starts with an apostrophe. ' +
      'JSON is a list of orders with payments, refunds and tickets.',
  ],
  options: [{ name: 'format', value: 'FORMAT', help: 'csv or json (default: csv)' }, DATA_OPTION],
  positionals: { min: 2, max: 2 },
  examples: [
    { line: 'holdfast export orders evt_gala --format csv > gala.csv', does: 'writes a table for accounting' },
    { line: 'holdfast export orders evt_gala --format json | jq length', does: 'counts the orders' },
  ],
  async run(call) {
    const [what = '', name = ''] = call.positionals;
    if (what !== 'orders') throw new WrongUse(`there is no export of ${what}${suggestion(what, ['orders'])}`);
    const format = formatOf(call);
    const folder = dataFolder(call, 'GET /admin/events/EVENT/orders');
    await withView(folder, (view) =>
      withKeys(folder, async (keys) => {
        const event = await openEvent(folder, view, name);
        const orders = ordersOf(event, new PersonalDataReader(keys));
        await (format === 'csv' ? writeCsv(call, orders) : writeJson(call, orders));
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

async function writeCsv(call: CliCall, orders: AsyncIterable<ReadableOrder>): Promise<void> {
  await call.output.raw(CSV_HEADING);
  for await (const { order, opened } of orders) await call.output.raw(csvOf(order, opened));
}

async function writeJson(call: CliCall, orders: AsyncIterable<ReadableOrder>): Promise<void> {
  let separator = '[\n';
  for await (const { order, opened } of orders) {
    await call.output.raw(separator + jsonOf(order, opened));
    separator = ',\n';
  }
  await call.output.raw(separator === '[\n' ? '[]\n' : '\n]\n');
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
