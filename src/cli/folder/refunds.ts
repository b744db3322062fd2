/** `holdfast refunds`: the refunds of an event and what is due, and their exported form. */
import { suggestion } from '#domain/schema-problems.ts';
import { decimalOf } from '#client/money.ts';
import { REFUND_STATUSES } from '#domain/orders/open-refunds.ts';
import type { RefundPage } from '#domain/orders/refund-tries.ts';
import type { RefundSums } from '#domain/view.ts';
import type { EventOnDisk } from '#offline/events.ts';
import { DATA_OPTION, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { counted, formatMoment, table } from '../terminal/output.ts';
import { dataFolder, openEvent, withView } from './data-folder.ts';
import { csvLine } from '#privacy/csv.ts';

type Refund = RefundPage['refunds'][number];
type RefundStatus = (typeof REFUND_STATUSES)[number];

const PAGE = 500;

export const command: CliCommand = {
  usage: 'refunds EVENT [--status STATUS] [--data DIR]',
  description: [
    'Prints what is due to the buyers of an event (by id or slug), what its refunds come to, and the refunds. Reads what is on ' +
      'disk, also while a service runs on the folder.',
  ],
  options: [{ name: 'status', value: 'STATUS', help: `${REFUND_STATUSES.join(', ')}; all without it` }, DATA_OPTION],
  positionals: { min: 1, max: 1 },
  examples: [
    { line: 'holdfast refunds evt_gala', does: 'lists every refund of the gala' },
    { line: 'holdfast refunds evt_gala --status NEEDS_OPERATOR', does: 'lists those that wait for a decision' },
  ],
  async run(call) {
    const status = statusOf(call);
    const folder = dataFolder(call, 'GET /admin/events/EVENT/refunds');
    await withView(folder, async (view) => {
      const event = await openEvent(folder, view, call.positionals[0]!);
      const { sums } = await pageOf(event, status, null, 1);
      const refunds: Refund[] = [];
      for await (const refund of refundsOf(event, status)) refunds.push(refund);
      call.output.json({ sums, refunds: refunds.map(recordOf) });
      call.output.text(...sumLines(sums), '', counted(refunds.length, 'refund'));
      if (refunds.length === 0) return;
      const heading = ['order', 'refund', 'status', 'amount', 'created', 'tries', 'failure'];
      call.output.text(...table([heading, ...refunds.map(cellsOf)]));
    });
    return 0;
  },
};

function statusOf(call: CliCall): RefundStatus | null {
  const given = call.text('status');
  const status = REFUND_STATUSES.find((each) => each === given) ?? null;
  if (given !== null && status === null) {
    throw new WrongUse(`there is no status ${given}${suggestion(given, [...REFUND_STATUSES])}`);
  }
  return status;
}

function sumLines(sums: RefundSums): string[] {
  return Object.entries(sums).map(([kind, all]) => {
    const each = all.map(
      ({ amountCents, currency, count }) => `${decimalOf(amountCents, currency)} ${currency} (${count})`,
    );
    return `${kind.toLowerCase().replace('_', ' ')}: ${each.join(', ') || 'nothing'}`;
  });
}

const cellsOf = ({ orderId, id, status = 'SUCCEEDED', amountCents, currency, at, tries = 0, failure }: Refund) => [
  orderId,
  id,
  status,
  `${decimalOf(amountCents, currency)} ${currency}`,
  formatMoment(at),
  tries,
  failure?.code ?? '',
];

// ── read and exported ────────────────────────────────────────────────────────────────────────────────────────────────

async function pageOf(
  event: EventOnDisk,
  status: RefundStatus | null,
  after: string | null,
  limit: number,
): Promise<RefundPage> {
  return (await event.read({ type: 'ListRefunds', status, after, limit })) as RefundPage;
}

async function* refundsOf(event: EventOnDisk, status: RefundStatus | null): AsyncGenerator<Refund> {
  let after: string | null = null;
  do {
    const page: RefundPage = await pageOf(event, status, after, PAGE);
    yield* page.refunds;
    after = page.nextAfter;
  } while (after !== null);
}

/** Every exported field; notes, which may name people, are with the orders. */
function recordOf(refund: Refund) {
  const { orderId, id, status = 'SUCCEEDED', amountCents, currency, at, finishedAt = null, nextTryAt = null } = refund;
  const isOpen = status === 'PENDING' || status === 'NEEDS_OPERATOR';
  const ended = isOpen ? null : (finishedAt ?? at);
  return {
    order_id: orderId,
    refund_id: id,
    status,
    amount: decimalOf(amountCents, currency),
    amount_cents: amountCents,
    currency,
    created_at: formatMoment(at),
    finished_at: ended === null ? null : formatMoment(ended),
    payment_id: refund.paymentId ?? null,
    provider: refund.provider ?? null,
    reference: refund.reference ?? null,
    tries: refund.tries ?? 0,
    next_try_at: nextTryAt === null ? null : formatMoment(nextTryAt),
    failure_code: refund.failure?.code ?? null,
    failure_message: refund.failure?.message ?? null,
  };
}

/** The records of an event's refunds, and as lines of CSV. */
export async function* refundRecords(event: EventOnDisk): AsyncGenerator<ReturnType<typeof recordOf>> {
  for await (const refund of refundsOf(event, null)) yield recordOf(refund);
}

export const REFUND_CSV = {
  heading: csvLine(
    Object.keys(recordOf({ id: '', orderId: '', currency: 'EUR', amountCents: 0, at: 0, operator: null, note: null })),
  ),
  line: (record: ReturnType<typeof recordOf>) => csvLine(Object.values(record)),
};
