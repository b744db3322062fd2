/**
 * Facts of the service itself, in the journal's stream '', and the state that they add up to. They belong to no event.
 */
import type { IdempotencyKey } from '#domain/fact.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { ActivationSource } from '#actors/activation.ts';
import { IndexedEvents, type IndexFactData } from './indexed-events.ts';

/** The stream of the service's own facts. */
export const SERVICE_STREAM = '';

/**
 * How far something was delivered: everything up to `throughSeq`, except for the queues in `behind`, which are
 * delivered up to an earlier fact. Notifications have a queue for each event, mails one for each order.
 */
export interface NotificationCursor {
  readonly throughSeq: number;
  readonly behind: Readonly<Record<string, number>>;
}

/** What is delivered from the journal, each by the fact that keeps its cursor. */
export const CURSOR_FACTS = { notifications: 'NotificationsDelivered', mail: 'MailDelivered' } as const;
export type Delivered = keyof typeof CURSOR_FACTS;
export const DELIVERED = Object.keys(CURSOR_FACTS) as readonly Delivered[];

/** The queue of a fact in a cursor; null where nothing of it is delivered. */
export type QueueOf = (row: Pick<FactRow, 'type' | 'eventId' | 'data'>) => string | null;

/** The last fact up to which everything was accepted. */
export function deliveredThrough({ throughSeq, behind }: NotificationCursor): number {
  return Math.min(throughSeq, ...Object.values(behind));
}

/** An answer to a request about the service that carried an idempotency key. */
export interface ServiceAnswer extends IdempotencyKey {
  readonly at: number;
  readonly answer: unknown;
}

/** The newest of the last day; few requests are about the service. */
const ANSWERS_MAX = 100;

export interface ServiceFactData extends IndexFactData {
  /** The sandbox clock was moved; the offset is the sum of all steps. */
  ClockAdvanced: { readonly offsetMs: number };
  /** The receiver has accepted notifications up to here. */
  NotificationsDelivered: NotificationCursor;
  /** Mails were sent up to here. */
  MailDelivered: NotificationCursor;
  ServiceRequestAnswered: ServiceAnswer;
}

export type ServiceFact = {
  [Type in keyof ServiceFactData]: { readonly type: Type; readonly data: ServiceFactData[Type] };
}[keyof ServiceFactData];

/** Every type of service fact; a type that is not here was written by a newer version. */
export const SERVICE_FACT_TYPES = {
  ClockAdvanced: true,
  NotificationsDelivered: true,
  MailDelivered: true,
  ServiceRequestAnswered: true,
  EventReserved: true,
  EventIndexed: true,
  EventReservationEnded: true,
} as const satisfies Record<ServiceFact['type'], true>;

/** A service fact as the journal stores it; null for a fact of another stream. */
export function readServiceFact(row: FactRow): ServiceFact | null {
  return row.eventId === SERVICE_STREAM ? ({ type: row.type, data: JSON.parse(row.data) } as ServiceFact) : null;
}

/** What the service's own facts add up to; a snapshot of it lets them be pruned like any others. */
export interface ServiceState {
  clockOffsetMs: number;
  /** Null when no receiver was ever notified. */
  notifications: NotificationCursor | null;
  /** The same of mails; a state written before there were any has none. */
  mail?: NotificationCursor;
  /** In the order in which they were given; a state written before there were any has none. */
  answers?: readonly ServiceAnswer[];
  /** Of shard 0 of a cluster; absent on a single machine. */
  index?: IndexedEvents;
}

/** One more answer; the ones of its key and the oldest beyond the bound are forgotten. */
export function keepAnswer(answers: readonly ServiceAnswer[], added: ServiceAnswer): readonly ServiceAnswer[] {
  return [...answers.filter(({ key }) => key !== added.key), added].slice(-ANSWERS_MAX);
}

export function newServiceState(): ServiceState {
  return { clockOffsetMs: 0, notifications: null };
}

/** Applies a service fact; what no fact concerns stays as it is. */
export function evolveService(state: Partial<ServiceState>, fact: ServiceFact): void {
  const { type, data } = fact;
  switch (type) {
    case 'ClockAdvanced':
      state.clockOffsetMs = data.offsetMs;
      return;
    case 'NotificationsDelivered':
      state.notifications = data;
      return;
    case 'MailDelivered':
      state.mail = data;
      return;
    case 'ServiceRequestAnswered':
      state.answers = keepAnswer(state.answers ?? [], data);
      return;
    case 'EventReserved':
    case 'EventIndexed':
    case 'EventReservationEnded':
      (state.index ??= new IndexedEvents()).apply(fact);
  }
}

/** The state as the pieces of a snapshot. */
export function servicePieces({ index, ...state }: ServiceState): readonly string[] {
  return [JSON.stringify(state), ...(index?.pieces() ?? [])];
}

/** The state that a snapshot describes. */
export function restoreService([piece, ...ofIndex]: readonly string[]): ServiceState {
  const state = { ...newServiceState(), ...(piece === undefined ? {} : (JSON.parse(piece) as Partial<ServiceState>)) };
  return ofIndex.length === 0 ? state : { ...state, index: IndexedEvents.restore(ofIndex) };
}

/**
 * The service's own state as of one of its facts, on the same path. With `afterSeq` the facts up to there are left out
 * when no snapshot has them.
 */
export async function activateService(
  source: ActivationSource,
  atMostSeq: number = Number.MAX_SAFE_INTEGER,
  afterSeq = 0,
): Promise<ServiceState> {
  const snapshot = await source.newestSnapshot(SERVICE_STREAM, atMostSeq);
  const state = snapshot === null ? newServiceState() : restoreService(snapshot.pieces);
  for (const row of await source.factsAfter(SERVICE_STREAM, Math.max(afterSeq, snapshot?.header.seq ?? 0))) {
    if (row.seq > atMostSeq) break;
    const own = readServiceFact(row);
    if (own !== null) evolveService(state, own);
  }
  return state;
}
