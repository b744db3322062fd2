/**
 * Stand-ins for Stripe's API: they open Checkout sessions, give money back, remember idempotency keys, and sign events
 * with Stripe's own SDK.
 */
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { Stripe } from 'stripe';
import { serveHttp } from '../fixtures/http-server.ts';
import { fieldsOf, StandInRefunds } from './stripe-refunds-stand-in.ts';

export const SECRET_KEY = 'sk_test_standin0123456789';
export const WEBHOOK_SECRET = 'whsec_standin0123456789';

export interface StandInSession {
  readonly id: string;
  readonly url: string;
  readonly amount_total: number;
  readonly currency: string;
  readonly expires_at: number;
  readonly client_reference_id: string;
  readonly metadata: Record<string, string>;
  readonly form: URLSearchParams;
}

type Trouble = 'error' | 'hang up' | 'answer lost' | null;

export interface StandIn {
  readonly url: string;
  readonly sessions: readonly StandInSession[];
  readonly requests: number;
  /** Ids of sessions that were expired, in their order. */
  readonly expired: readonly string[];
  /** Every session is paid by the payment intent of its number: `pi_1` by `cs_test_1`. */
  readonly refunds: StandInRefunds;
  /** How the next requests are answered; null for well. */
  trouble: Trouble | ((request: IncomingMessage) => Trouble);
  /** An event about a session, as Stripe posts it: its body and signature header. */
  event(type: string, object: object, options?: { id?: string; at?: number; previous?: object }): SignedEvent;
  close(): Promise<void>;
}

export interface SignedEvent {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A session as Stripe reports it once it is paid. */
export function seen(session: StandInSession, overrides: object = {}): object {
  return { ...session, form: undefined, object: 'checkout.session', payment_status: 'paid', ...overrides };
}

function sessionOf(id: string, form: URLSearchParams): StandInSession {
  return {
    id,
    url: `https://checkout.stripe.com/c/pay/${id}`,
    amount_total: Number(form.get('line_items[0][price_data][unit_amount]')),
    currency: form.get('line_items[0][price_data][currency]')!,
    expires_at: Number(form.get('expires_at')),
    client_reference_id: form.get('client_reference_id')!,
    metadata: fieldsOf(form, 'metadata'),
    form,
  };
}

interface EventContent {
  readonly id: string;
  readonly type: string;
  readonly object: object;
  readonly at?: number;
  readonly previous?: object;
}

function signedEvent(stripe: Stripe, { id, type, object, at = Date.now(), previous }: EventContent): SignedEvent {
  const timestamp = Math.floor(at / 1000);
  const data = { object, ...(previous !== undefined && { previous_attributes: previous }) };
  const body = JSON.stringify({ id, object: 'event', type, created: timestamp, data });
  const header = stripe.webhooks.generateTestHeaderString({ payload: body, secret: WEBHOOK_SECRET, timestamp });
  return { body, headers: { 'stripe-signature': header } };
}

export async function openStandIn(): Promise<StandIn> {
  const sessions: StandInSession[] = [];
  const expired: string[] = [];
  const byKey = new Map<string, { readonly form: string; readonly session: StandInSession }>();
  const failed = new Set<string>();
  const stripe = new Stripe(SECRET_KEY);
  let events = 0;
  const refunds = new StandInRefunds((intent) => {
    const session = sessions[Number(intent.slice('pi_'.length)) - 1];
    return session && { amount: session.amount_total, currency: session.currency };
  });
  const standIn = { sessions, expired, refunds, requests: 0, trouble: null } as unknown as {
    -readonly [K in keyof StandIn]: StandIn[K];
  };

  const create = (form: string, key: string): StandInSession => {
    const known = byKey.get(key);
    if (known !== undefined) {
      assert.equal(known.form, form, 'Stripe refuses a known key with other parameters');
      return known.session;
    }
    const session = sessionOf(`cs_test_${sessions.length + 1}`, new URLSearchParams(form));
    sessions.push(session);
    byKey.set(key, { form, session });
    return session;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let form = '';
    for await (const chunk of request) form += String(chunk);
    standIn.requests += 1;
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const trouble = typeof standIn.trouble === 'function' ? standIn.trouble(request) : standIn.trouble;
    if (trouble === 'hang up') return void request.socket.destroy();
    const key = String(request.headers['idempotency-key']);
    if (trouble === 'error' && request.method === 'POST') failed.add(key);
    // As Stripe does: an error is repeated under its key.
    if (trouble === 'error' || failed.has(key)) return send(500, { error: { type: 'api_error', message: 'down' } });
    if (request.headers.authorization !== `Bearer ${SECRET_KEY}`) {
      return send(401, { error: { type: 'invalid_request_error', message: 'no such key' } });
    }
    const expiring = /^\/v1\/checkout\/sessions\/(\w+)\/expire$/.exec(request.url ?? '')?.[1];
    if (expiring !== undefined) {
      if (expired.includes(expiring))
        return send(400, { error: { type: 'invalid_request_error', message: 'not open' } });
      expired.push(expiring);
      return send(200, { object: 'checkout.session', id: expiring, status: 'expired' });
    }
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://stand-in');
    if (pathname === '/v1/refunds') {
      const { status, body } = request.method === 'GET' ? refunds.list(searchParams) : await refunds.create(form, key);
      return trouble === 'answer lost' ? void request.socket.destroy() : send(status, body);
    }
    const read = /^\/v1\/checkout\/sessions\/cs_test_(\w+)$/.exec(pathname)?.[1];
    if (request.method === 'GET' && read !== undefined) {
      const payment_intent = sessions[Number(read) - 1] === undefined ? null : `pi_${read}`;
      return send(200, { object: 'checkout.session', id: `cs_test_${read}`, payment_intent });
    }
    const payment = /^\/v1\/payment_intents\/pi_(\w+)$/.exec(pathname)?.[1];
    if (request.method === 'GET' && payment !== undefined) {
      const paid = sessions[Number(payment) - 1];
      if (paid === undefined) return send(404, { error: { type: 'invalid_request_error', code: 'resource_missing' } });
      const metadata = fieldsOf(paid.form, 'payment_intent_data[metadata]');
      return send(200, { object: 'payment_intent', id: `pi_${payment}`, metadata });
    }
    if (request.method !== 'POST' || pathname !== '/v1/checkout/sessions') return send(404, { error: {} });
    const session = create(form, key);
    if (trouble === 'answer lost') return void request.socket.destroy();
    send(200, { object: 'checkout.session', ...session, form: undefined });
  };

  const { url, close } = await serveHttp((request, response) => void answer(request, response));
  Object.assign(standIn, { url, close });
  standIn.event = (type, object, options = {}) => {
    events += 1;
    return signedEvent(stripe, { id: options.id ?? `evt_${events}`, type, object, ...options });
  };
  return standIn;
}

/**
 * A stand-in for Stripe that opens a session only when `answer` is called, the one that was asked for first; a service
 * is started with its `environment`.
 */
export async function openSlowProvider(t: TestContext) {
  const waiting: { readonly session: StandInSession; readonly response: ServerResponse }[] = [];
  let opened = 0;
  let noteAsked = (): void => {};
  const asked = new Promise<void>((resolve) => (noteAsked = resolve));
  const server = await serveHttp(async (request, response) => {
    let form = '';
    for await (const chunk of request) form += String(chunk);
    opened += 1;
    waiting.push({ session: sessionOf(`cs_test_slow_${opened}`, new URLSearchParams(form)), response });
    noteAsked();
  });
  t.after(() => server.close());
  const environment = {
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: server.url,
    SANDBOX: 'off',
  };
  return {
    environment,
    /** Resolves when it is asked for the first session. */
    asked,
    /** Calls that wait for an answer. */
    get waiting() {
      return waiting.length;
    },
    answer(): StandInSession {
      const { session, response } = waiting.shift()!;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'checkout.session', ...session, form: undefined }));
      return session;
    },
  };
}
