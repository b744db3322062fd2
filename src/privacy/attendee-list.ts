/**
 * Who may come to an event, for those who stand at its doors: read page after page and opened for one answer.
 *
 * 1. A name and nothing else about people: no address, no number. For an erased order it has no name.
 * 2. One page is in memory at a time, however many tickets there are.
 */
import type { AttendeePage } from '#domain/doors/attendees.ts';
import { numberOf } from '#domain/orders/told-numbers.ts';
import type { VoidReason } from '#domain/view.ts';
import { csvLine } from './csv.ts';
import type { PersonalDataReader } from './personal-data.ts';

export interface AttendeeRecord {
  readonly ticket_id: string;
  /** As it stands on the ticket. */
  readonly number: string;
  readonly status: 'VALID' | 'VOID';
  readonly void_reason: VoidReason | null;
  /** The name of the person on the ticket. */
  readonly name: string | null;
  /** Of the buyer. */
  readonly buyer_name: string | null;
  readonly order_id: string;
  readonly performance_id: string;
  readonly performance_name: string;
  readonly ticket_type_id: string;
  readonly ticket_type_name: string;
  readonly section: string | null;
  readonly row_label: string | null;
  readonly seat_label: string | null;
  readonly entered_at: string | null;
  readonly inside: boolean;
}

const COLUMNS: readonly (keyof AttendeeRecord)[] = [
  'ticket_id',
  'number',
  'status',
  'void_reason',
  'name',
  'buyer_name',
  'order_id',
  'performance_id',
  'performance_name',
  'ticket_type_id',
  'ticket_type_name',
  'section',
  'row_label',
  'seat_label',
  'entered_at',
  'inside',
];

export const ATTENDEE_CSV = {
  heading: csvLine(COLUMNS),
  line: (record: AttendeeRecord): string =>
    csvLine(COLUMNS.map((name) => (typeof record[name] === 'boolean' ? String(record[name]) : record[name]))),
};

/** The records of a first page, and of those that `read` answers after it. */
export async function* attendeeRecords(
  first: AttendeePage,
  read: (after: string) => Promise<AttendeePage>,
  personalData: Pick<PersonalDataReader, 'openAll'>,
): AsyncGenerator<AttendeeRecord> {
  let page = first;
  for (;;) {
    yield* await recordsOf(page, personalData);
    if (page.nextAfter === null) return;
    page = await read(page.nextAfter);
  }
}

async function recordsOf(
  { orders }: AttendeePage,
  personalData: Pick<PersonalDataReader, 'openAll'>,
): Promise<readonly AttendeeRecord[]> {
  const opened = await personalData.openAll(orders);
  return orders.flatMap(({ orderId, tickets }, index) => {
    const { customer, attendees } = opened[index]!;
    return tickets.map(
      ({ ticket, ticketTypeName, performanceName, voidReason, enteredAt, isInside }): AttendeeRecord => ({
        ticket_id: ticket.id,
        number: numberOf(ticket.id),
        status: voidReason === null ? 'VALID' : 'VOID',
        void_reason: voidReason,
        name: attendees[ticket.itemIndex]?.[ticket.offset]?.name ?? null,
        buyer_name: customer?.name ?? null,
        order_id: orderId,
        performance_id: ticket.performanceId,
        performance_name: performanceName,
        ticket_type_id: ticket.ticketTypeId,
        ticket_type_name: ticketTypeName,
        section: ticket.section,
        row_label: ticket.rowLabel,
        seat_label: ticket.seatLabel,
        entered_at: enteredAt === null ? null : new Date(enteredAt).toISOString(),
        inside: isInside,
      }),
    );
  });
}
