/**
 * What changed in the storage format since each released version: with it, a folder itself shows which older versions
 * can still read it.
 *
 * 1. A change is listed when an older version would refuse a folder that has it, or would read something else from it.
 *    Optional fields that an older version may ignore without harm are left out.
 * 2. With a release, its version is added to `RELEASED`; what changes afterwards names it in `after`.
 * 3. Each type of fact has its line in `TYPES`: the compiler requires the line of a new type.
 */
import type { FactType } from '#domain/fact.ts';
import type { ServiceFact } from '#engine/service-facts.ts';
import type { FactRow } from '#persistence/journal.ts';

/**
 * Released versions, the oldest first. 0.1.0 knows the facts of `test/golden/journal-1.ndjson`; later builds of that
 * name read more.
 */
export const RELEASED = ['0.1.0'] as const;

interface FormatChange {
  /** The last released version without the change. */
  readonly after: (typeof RELEASED)[number];
  readonly what: string;
  /** REFUSED: an older version does not start, or not the event. MISREAD: it goes on with something missing. */
  readonly effect: 'REFUSED' | 'MISREAD';
}

function refused(after: FormatChange['after'], what: string): FormatChange {
  return { after, what, effect: 'REFUSED' };
}

/** Every type of fact; null where each released version reads it, or may ignore it without harm. */
const TYPES: Readonly<Record<FactType | ServiceFact['type'], FormatChange | null>> = {
  EventDefined: null,
  SaleSteered: refused('0.1.0', 'sales that operators steered (SaleSteered)'),
  PerformanceCancelled: null,
  SeatsBlocked: null,
  SeatsUnblocked: null,
  HoldPlaced: null,
  HoldChanged: null,
  HoldReleased: null,
  HoldExpired: null,
  OrderPlaced: null,
  SoldAtCounter: refused('0.1.0', 'orders sold at a counter (SoldAtCounter)'),
  CheckoutResumed: null,
  PaymentRequested: null,
  CheckoutSessionOpened: null,
  PaymentClosed: null,
  PaymentRecorded: null,
  StrayMoneyRecorded: null,
  OrderPaid: null,
  TicketsIssued: null,
  OrderExpired: null,
  AmendmentRequested: refused('0.1.0', 'amendments of orders that had to be paid (AmendmentRequested)'),
  AmendmentEnded: refused('0.1.0', 'amendments of orders that ended unpaid (AmendmentEnded)'),
  OrderAmended: refused('0.1.0', 'orders that were amended (OrderAmended)'),
  OrderCancelled: null,
  RefundRequested: refused('0.1.0', 'refunds that are executed at their provider (RefundRequested)'),
  RefundAnswered: refused('0.1.0', 'refunds that failed, or wait for their provider (RefundAnswered)'),
  DueRefundsOrdered: refused('0.1.0', 'executions of everything that is due (DueRefundsOrdered)'),
  DueRefundsAsked: refused('0.1.0', 'executions of everything that was due (DueRefundsAsked)'),
  RefundRecorded: null,
  MailRequested: refused('0.1.0', 'mails that were asked for again (MailRequested)'),
  OrderErased: refused('0.1.0', 'orders whose people were erased (OrderErased)'),
  StationAdded: refused('0.1.0', 'stations at doors (StationAdded)'),
  StationRevoked: refused('0.1.0', 'stations at doors that were revoked (StationRevoked)'),
  TicketsScanned: refused('0.1.0', 'tickets scanned at doors (TicketsScanned)'),
  TicketScannedByHand: refused('0.1.0', 'tickets let in or out by hand (TicketScannedByHand)'),
  FeedTaken: refused('0.1.0', 'what a gate took from its service (FeedTaken)'),
  WaitingRoomAdded: null,
  WaitingRoomRescheduled: null,
  WaitingRoomRemoved: null,
  WaitingRoomPaused: null,
  WaitingRoomResumed: null,
  DrawStarted: null,
  LineDrawn: null,
  DrawFinished: null,
  QueueEntryJoined: null,
  QueueEntriesAdmitted: null,
  QueueEntriesDropped: null,
  QueueEntryLeft: null,
  QueuePassExpired: null,
  QueuePassSpent: null,
  RequestAnswered: refused(
    '0.1.0',
    'answers under idempotency keys to more than holds and checkouts (RequestAnswered)',
  ),
  OldestDropped: refused('0.1.0', 'records that left because the process kept too many (OldestDropped)'),
  ClockAdvanced: null,
  NotificationsDelivered: null,
  MailDelivered: null,
  ServiceRequestAnswered: {
    after: '0.1.0',
    what: 'answers under idempotency keys about the service (ServiceRequestAnswered): repeats would be done again',
    effect: 'MISREAD',
  },
  // No folder has these: they are of shard 0 of a cluster.
  EventReserved: null,
  EventIndexed: null,
  EventReservationEnded: null,
};

interface FieldChange extends FormatChange {
  readonly type: FactType;
  /** Fields of the fact that are new. */
  readonly fields: readonly string[];
}

const FIELD_CHANGES: readonly FieldChange[] = [
  {
    ...refused('0.1.0', 'orders whose people are sealed (OrderPlaced.personal)'),
    type: 'OrderPlaced',
    fields: ['personal'],
  },
  {
    after: '0.1.0',
    type: 'DrawStarted',
    fields: ['opening'],
    what: 'a draw with an opening (DrawStarted.opening): its proof would be wrong',
    effect: 'MISREAD',
  },
  {
    after: '0.1.0',
    type: 'QueuePassSpent',
    fields: ['withoutKey'],
    what: 'passes that stay with their session (QueuePassSpent.withoutKey): they would be spent for all',
    effect: 'MISREAD',
  },
  {
    after: '0.1.0',
    type: 'RefundRecorded',
    fields: ['sameAs', 'currency', 'provider', 'reportReference'],
    what: 'refunds known by their reference or in another currency (RefundRecorded): sums would differ',
    effect: 'MISREAD',
  },
  {
    after: '0.1.0',
    type: 'PerformanceCancelled',
    fields: ['orders'],
    what: 'dates cancelled with their tickets alone (PerformanceCancelled.orders): orders would be cancelled whole',
    effect: 'MISREAD',
  },
  {
    after: '0.1.0',
    type: 'StrayMoneyRecorded',
    fields: ['foreignDueCents'],
    what: 'money in another currency than the order (StrayMoneyRecorded.foreignDueCents): sums would differ',
    effect: 'MISREAD',
  },
];

const SNAPSHOT_CHANGE: FormatChange = {
  after: '0.1.0',
  what: 'snapshots of format 2 or later',
  effect: 'REFUSED',
};

const ARCHIVE_CHANGE: FormatChange = {
  after: '0.1.0',
  what: 'events that are read from the archive because no older snapshot covers it',
  effect: 'REFUSED',
};

/** Collects the changes that a folder has. */
export class FormatTrace {
  readonly #found = new Set<FormatChange>();

  see({ type, data }: FactRow): void {
    const change = Object.hasOwn(TYPES, type) ? TYPES[type as keyof typeof TYPES] : null;
    if (change !== null) this.#found.add(change);
    for (const each of FIELD_CHANGES) {
      if (each.type !== type || this.#found.has(each)) continue;
      const read = JSON.parse(data) as object;
      if (each.fields.some((field) => Object.hasOwn(read, field))) this.#found.add(each);
    }
  }

  /** Notes the format of a snapshot; `isArchived`: the archive has facts of its event. */
  seeSnapshot(format: number, isArchived: boolean): void {
    if (format < 2) return;
    this.#found.add(SNAPSHOT_CHANGE);
    if (isArchived) this.#found.add(ARCHIVE_CHANGE);
  }

  /** What each older version would make of the folder. */
  waysBack(): WayBack[] {
    return RELEASED.map((version, index) => {
      const later: readonly string[] = RELEASED.slice(index);
      const inTheWay = [...this.#found].filter(({ after }) => later.includes(after));
      const isRefused = inTheWay.some((change) => change.effect === 'REFUSED' && change !== SNAPSHOT_CHANGE);
      const withoutSnapshots = !isRefused && inTheWay.includes(SNAPSHOT_CHANGE);
      const reading = isRefused ? 'NO' : inTheWay.some(({ effect }) => effect === 'MISREAD') ? 'MISREAD' : 'YES';
      return { version, reading, withoutSnapshots, inTheWay: inTheWay.map(({ what }) => what) };
    });
  }
}

export interface WayBack {
  readonly version: string;
  readonly reading: 'YES' | 'MISREAD' | 'NO';
  /** Whether the folder `snapshots` must be removed first; everything is in the journal. */
  readonly withoutSnapshots: boolean;
  /** What is in the folder that the version does not know. */
  readonly inTheWay: readonly string[];
}
