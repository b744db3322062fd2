/**
 * Finds and erases orders: through the admin API of a running service or of a node of a cluster, or with an engine of
 * its own.
 *
 * Both ways answer the same, so that the command does not know which one it uses.
 */
import { executeAt, readAt } from '#actors/event-port.ts';
import { SEARCH_BEGIN, searchSubject, type SubjectPosition } from '#privacy/subject-search.ts';
import { isRefusal, refuse } from '#domain/refusal.ts';
import { readServingPid } from '#persistence/sqlite/lock.ts';
import type { Engine } from '#engine/engine.ts';
import type { OrderView } from '#domain/view.ts';
import { CommandFailure, WrongUse, type CliCall } from '../terminal/command.ts';
import { dataFolder } from '../folder/data-folder.ts';
import { formatMoment } from '../terminal/output.ts';
import { adminAccess, callService, errorOf, openOffline, type AdminAccess } from '../service/access.ts';

/** What an operator needs to see of an order before it is erased. */
export interface ListedOrder {
  readonly orderId: string;
  readonly eventId: string;
  readonly status: string;
  /** RFC 3339. */
  readonly placedAt: string;
  readonly totalCents: number;
  readonly currency: string;
  /** RFC 3339; null while its personal data is there. */
  readonly erasedAt: string | null;
}

/** An order of somebody else with a ticket in the person's name. */
interface ListedAttendance {
  readonly orderId: string;
  readonly eventId: string;
}

export interface FoundOrders {
  readonly orders: readonly ListedOrder[];
  readonly attended: readonly ListedAttendance[];
  readonly unreadEvents: readonly string[];
}

/** `code` is that of the refusal. */
type Erasing = { readonly order: ListedOrder } | { readonly code: string; readonly message: string };

export interface ErasureAccess {
  /** Null for an order that is not there. */
  find(orderId: string): Promise<ListedOrder | null>;
  findByEmail(email: string): Promise<FoundOrders>;
  erase(orderId: string, operator: string): Promise<Erasing>;
  close(): Promise<void>;
}

/** Opens the way that this folder needs. Rejects with FolderInUse, and as `startEngine` does. */
export async function openErasure(call: CliCall): Promise<ErasureAccess> {
  const isCluster = Boolean(call.environment['NATS_URL']);
  if (isCluster && call.has('data'))
    throw new WrongUse('--data names the folder of a single machine, and NATS_URL a cluster: leave one of them out');
  const isServed = isCluster || readServingPid(dataFolder(call)) !== null;
  return isServed ? new OnlineErasure(adminAccess(call)) : new OfflineErasure(await openOffline(call));
}

const MESSAGES: Readonly<Record<string, string>> = {
  ORDER_NOT_FOUND: 'there is no such order',
  ORDER_NOT_ERASABLE: 'its payment is awaited: cancel the order first, or wait until its payment window has ended',
  ORDER_NOT_SEALED:
    'it is of an older version, which kept personal data open: holdfast seal makes a folder in which it can be erased',
};

function refused(code: string, message = ''): Erasing {
  return { code, message: MESSAGES[code] ?? message };
}

// ── through a service ────────────────────────────────────────────────────────────────────────────────────────────────

interface OrderBody {
  readonly order_id: string;
  readonly event: { readonly id: string };
  readonly status: string;
  readonly placed_at: string;
  readonly total_amount: number;
  readonly currency: string;
  readonly erased_at: string | null;
}

interface SubjectBody {
  readonly orders: readonly { readonly order: OrderBody }[];
  readonly attendances: readonly { readonly order_id: string; readonly event: { readonly id: string } }[];
  readonly unread_events: readonly string[];
  readonly next_cursor: string | null;
}

class OnlineErasure implements ErasureAccess {
  readonly #access: AdminAccess;

  constructor(access: AdminAccess) {
    this.#access = access;
  }

  async find(orderId: string): Promise<ListedOrder | null> {
    const answer = await callService(this.#access, 'GET', `/admin/orders/${encodeURIComponent(orderId)}`);
    if (answer.status === 404) return null;
    if (answer.status !== 200) throw failureOf(answer);
    return listedBody(answer.body as unknown as OrderBody);
  }

  async findByEmail(email: string): Promise<FoundOrders> {
    const query = new URLSearchParams({ email, limit: '200' });
    const found = { orders: [] as ListedOrder[], attended: [] as ListedAttendance[], unreadEvents: [] as string[] };
    for (;;) {
      const answer = await callService(this.#access, 'GET', `/admin/subject?${query.toString()}`);
      if (answer.status !== 200) throw failureOf(answer);
      const page = answer.body as unknown as SubjectBody;
      found.orders.push(...page.orders.map(({ order }) => listedBody(order)));
      found.attended.push(...page.attendances.map((each) => ({ orderId: each.order_id, eventId: each.event.id })));
      found.unreadEvents.push(...page.unread_events);
      if (page.next_cursor === null) return found;
      query.set('cursor', page.next_cursor);
    }
  }

  async erase(orderId: string, operator: string): Promise<Erasing> {
    const path = `/admin/orders/${encodeURIComponent(orderId)}/erase`;
    const answer = await callService(this.#access, 'POST', path, {}, operator);
    if (answer.status === 200) return { order: listedBody(answer.body as unknown as OrderBody) };
    const { code, message } = errorOf(answer);
    return refused(code, message);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function failureOf(answer: Parameters<typeof errorOf>[0]): CommandFailure {
  const { code, message } = errorOf(answer);
  return new CommandFailure(`the service did not answer: ${code}: ${message}`, 'Its log says more.');
}

function listedBody(body: OrderBody): ListedOrder {
  const { order_id: orderId, status, placed_at: placedAt, total_amount: totalCents, currency } = body;
  return { orderId, eventId: body.event.id, status, placedAt, totalCents, currency, erasedAt: body.erased_at };
}

// ── with an engine ───────────────────────────────────────────────────────────────────────────────────────────────────

class OfflineErasure implements ErasureAccess {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async find(orderId: string): Promise<ListedOrder | null> {
    const found = await readAt(this.#engine.events.byId('ord', orderId), null, { type: 'FindOrder', orderId });
    return found === null || isRefusal(found) ? null : listedView(found.order);
  }

  async findByEmail(email: string): Promise<FoundOrders> {
    const found = { orders: [] as ListedOrder[], attended: [] as ListedAttendance[], unreadEvents: [] as string[] };
    let position: SubjectPosition | null = SEARCH_BEGIN;
    while (position !== null) {
      const page: Awaited<ReturnType<typeof searchSubject>> = await searchSubject(this.#engine, email, {
        position,
        limit: ORDERS_A_PAGE,
      });
      found.orders.push(...page.purchases.map(({ order }) => listedView(order)));
      found.attended.push(...page.attendances.map(({ order }) => ({ orderId: order.id, eventId: order.event.id })));
      found.unreadEvents.push(...page.unreadEvents);
      position = page.next;
    }
    return found;
  }

  async erase(orderId: string, operator: string): Promise<Erasing> {
    const command = { type: 'EraseOrder', orderId, operator, note: null } as const;
    const event = this.#engine.events.byId('ord', orderId);
    const answer = await executeAt(event, refuse('ORDER_NOT_FOUND', {}), command);
    return isRefusal(answer) ? refused(answer.code) : { order: listedView(answer.order) };
  }

  close(): Promise<void> {
    return this.#engine.stop();
  }
}

const ORDERS_A_PAGE = 200;

function listedView({ id, event, status, placedAt, totalCents, currency, personal }: OrderView): ListedOrder {
  const { erasure } = personal;
  const erasedAt = erasure && formatMoment(erasure.at);
  return { orderId: id, eventId: event.id, status, placedAt: formatMoment(placedAt), totalCents, currency, erasedAt };
}
