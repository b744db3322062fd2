/**
 * The pages on which buyers change a paid order, without a script: a form that asks for a quote, and one that does what
 * was quoted and leads back to the order.
 *
 * 1. The quote is the idempotency key as well: a button that is pressed twice does it once. What costs something leads
 *    to its payment page.
 * 2. A refusal is shown on the page that asked, with the status that the API has for it.
 */
import { Type } from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readAt } from '#actors/event-port.ts';
import { brandOf } from '#brand/brand.ts';
import type { AmendmentQuote } from '#domain/amendment-request.ts';
import type { CommandOf } from '#domain/command.ts';
import type { FoundOrder } from '#domain/event/query.ts';
import { isRefusal, refuse } from '#domain/refusal.ts';
import { isChangeKind, offerOf } from '../../pages/change-offers.ts';
import { changePage, type ChangeContent, type FormFields } from '../../pages/changes.ts';
import { sendPage } from '../../pages/html.ts';
import type { PublicPorts } from '../../ports.ts';
import { readForms, type HttpApp } from '../../protocol/app.ts';
import { ERRORS, isRefused, NOT_FOUND, ORDER_NOT_FOUND, type Refused } from '../../protocol/errors.ts';
import { textsFor } from '../../protocol/negotiation.ts';
import { readIdempotencyKey } from '../../protocol/request-parts.ts';
import { addRoute } from '../../protocol/route.ts';
import { amendOrder, ownRequest, type RequestBody } from './amendments.ts';
import { bestSeats, bodyOf, fieldsOf, fieldsOfAll, refusalOf } from './change-fields.ts';

const PATH = Type.Object({ order_id: Type.String(), kind: Type.String() });
const DROP_PATH = Type.Object({ order_id: Type.String(), amendment_id: Type.String() });
const Fields = Type.Record(Type.String(), Type.String());

/** A page of a thousand tickets fits. */
const FORM_BYTES_MAX = 128 * 1024;

type ChangesPorts = Pick<PublicPorts, 'events' | 'personalData' | 'payments' | 'settings'>;

/** What a page is made of, without its language. */
type Content = Omit<ChangeContent, 'texts'>;
type Execute = (command: CommandOf<'AmendOrder'>) => ReturnType<typeof amendOrder>;

export async function changeRoutes(app: HttpApp, all: ChangesPorts): Promise<void> {
  const { events, payments } = all;
  const ports = { events, checkoutSessions: payments.checkoutSessions, absentProviders: payments.absent };
  const open = async (orderId: string, kind: string, fields: FormFields): Promise<Content | Refused> => {
    if (!isChangeKind(kind)) return NOT_FOUND;
    const query = { type: 'FindOrder', orderId, withDefinition: true } as const;
    const found = await readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, query);
    if (isRefusal(found)) return ORDER_NOT_FOUND;
    return { ...(await toShown(found, all)), kind, fields, refusal: null, quote: null };
  };

  /** The content with a quote, or with why there is none. */
  const quoted = async (asked: Content): Promise<Content> => {
    const { id: orderId } = asked.order;
    const event = events.byId('ord', orderId);
    const seated = await bestSeats(asked, (wanted) =>
      readAt(event, ORDER_NOT_FOUND, { type: 'SuggestSeats', ...wanted }),
    );
    if (isRefusal(seated)) return { ...asked, refusal: seated };
    const body = bodyOf({ ...asked, fields: seated });
    const content = { ...asked, fields: fieldsOf(body, asked) };
    const refusal = notOffered(content, body) ?? refusalOf(body);
    if (refusal !== null) return { ...asked, refusal };
    const query = { type: 'QuoteAmendment', orderId, by: 'BUYER', request: ownRequest(body) } as const;
    const found = await readAt(event, ORDER_NOT_FOUND, query);
    return isRefusal(found) ? { ...asked, refusal: found } : { ...content, quote: found };
  };

  addRoute(
    app,
    'GET /orders/:order_id/changes/:kind',
    { params: PATH, hide: true },
    {
      config: { page: true },
      costs: 'AmendOrder',
      answer: async ({ params: { order_id: orderId, kind } }) => {
        const content = await open(orderId, kind, {});
        // The first page of a withdrawal already has the button, for all tickets.
        if (isRefused(content) || content.kind !== 'withdrawal') return content;
        return quoted({ ...content, fields: fieldsOfAll(content) });
      },
      send: sendChange,
    },
  );

  await app.register(async (scope: HttpApp) => {
    readForms(scope, FORM_BYTES_MAX);
    addRoute(
      scope,
      'POST /orders/:order_id/changes/:kind',
      { params: PATH, body: Fields, hide: true },
      {
        config: { page: true, bodyBytesMax: FORM_BYTES_MAX },
        command: 'AmendOrder',
        answer: async ({ params: { order_id: orderId, kind }, body: fields }, { execute }) => {
          const content = await open(orderId, kind, fields);
          if (isRefused(content)) return content;
          if (fields['quote'] === undefined) return quoted(content);
          return amended(content, (command) => amendOrder(ports, execute, command));
        },
        send: (content, reply, request) => {
          if ('payAt' in content) return reply.redirect(new URL(content.payAt).href, 303);
          if ('done' in content) return reply.redirect(`/orders/${content.orderId}?done=${content.done}`, 303);
          return sendChange(content, reply, request);
        },
      },
    );
    dropRoute(scope, events);
  });
}

/** An order with what its page shows besides. */
async function toShown(found: FoundOrder, { personalData, settings }: ChangesPorts) {
  const definition = found.definition!;
  return {
    ...found,
    definition,
    brand: brandOf(settings.brand, definition),
    opened: await personalData.open(found.order),
  };
}

/** The button that drops a change which waits for its payment. */
function dropRoute(scope: HttpApp, events: ChangesPorts['events']): void {
  addRoute(
    scope,
    'POST /orders/:order_id/amendments/:amendment_id/drop',
    { params: DROP_PATH, hide: true },
    {
      config: { page: true },
      command: 'CancelAmendment',
      answer: async ({ params: { order_id: orderId, amendment_id: amendmentId } }, { execute }) => {
        const command = { type: 'CancelAmendment', orderId, amendmentId, by: 'BUYER', operator: null } as const;
        const dropped = await execute(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
        // A change that was paid or expired meanwhile is shown as such.
        return isRefusal(dropped) && dropped.code !== 'AMENDMENT_NOT_PENDING' ? dropped : { orderId };
      },
      send: ({ orderId }, reply) => reply.redirect(`/orders/${orderId}`, 303),
    },
  );
}

function sendChange(content: Content, reply: FastifyReply, request: Pick<FastifyRequest, 'headers'>): FastifyReply {
  if (content.refusal !== null) reply.code(ERRORS[content.refusal.code].status);
  return sendPage(reply, changePage({ ...content, texts: textsFor(request) }));
}

/** Does what was quoted (rule 1); where that is stale, the content has the new quote. */
async function amended(
  content: Content,
  execute: Execute,
): Promise<Content | Refused | { readonly orderId: string; readonly done: string } | { readonly payAt: string }> {
  const {
    order: { id: orderId },
    fields,
  } = content;
  const body = bodyOf(content);
  const refusal = refusalOf(body);
  if (refusal !== null) return { ...content, refusal };
  const quote = fields['quote']!;
  const asked = { headers: { 'idempotency-key': quote }, body };
  const idempotency = readIdempotencyKey('POST /orders/changes', asked, { subject: [orderId] });
  if (idempotency !== null && 'outcome' in idempotency) return { ...content, refusal: idempotency };
  const by = { by: 'BUYER', operator: null, note: null } as const;
  const command = { type: 'AmendOrder', orderId, request: ownRequest(body), quote, idempotency, ...by } as const;
  const done = await execute(command);
  if (!isRefused(done)) {
    const { id, payment } = done.amendment;
    // An amendment that was answered before may be paid, or over, by now.
    const isOver = content.order.amendments.some((known) => known.id === id && known.status !== 'PENDING');
    const payAt = isOver ? null : (payment?.redirectUrl ?? null);
    return payAt === null ? { orderId, done: id } : { payAt };
  }
  if (done.code !== 'QUOTE_STALE' || notOffered(content, body) !== null) return { ...content, refusal: done };
  return { ...content, refusal: done, quote: done.detail.quote as AmendmentQuote };
}

/**
 * Whether a request asks for what its page does not offer. Tickets whose days of withdrawal are over would be given
 * back for a fee, and that is no withdrawal.
 */
function notOffered(content: Content, { cancel = [] }: RequestBody): Refused | null {
  const offered = new Set(offerOf(content.kind, content)?.tickets.map(({ id }) => id));
  const isOffered = offered.size > 0 && (content.kind !== 'withdrawal' || cancel.every((id) => offered.has(id)));
  return isOffered ? null : refuse('AMENDMENT_NOT_ALLOWED', { reason: 'NOT_OFFERED', until: null });
}
