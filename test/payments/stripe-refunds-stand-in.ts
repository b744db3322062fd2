/**
 * The refunds of a stand-in for Stripe's API: created once under a key, listed by payment intent with the newest first,
 * a page at a time, and settled later where they are pending.
 *
 * 1. As Stripe does it keeps the first answer under a key, also an error; the same key with another form is refused,
 *    and so is a key that is in use.
 * 2. Never more of a payment is given back than came.
 */
import { setTimeout as pause } from 'node:timers/promises';

export interface StandInRefund {
  readonly id: string;
  readonly object: 'refund';
  readonly amount: number;
  readonly currency: string;
  readonly payment_intent: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly failure_reason?: string;
}

/** What a request to create a refund comes to: a status of the refund, or an error. */
export type RefundOutcome = StandInRefund['status'] | 'refused' | 'error' | 'error afterwards';

interface RefundAnswer {
  readonly status: number;
  readonly body: object;
}

const PAGE = 100;
const REFUSED = 400;

const refusal = (message: string, more: object = {}): RefundAnswer => ({
  status: REFUSED,
  body: { error: { type: 'invalid_request_error', message, ...more } },
});
const DOWN: RefundAnswer = { status: 500, body: { error: { type: 'api_error', message: 'down' } } };

/** The fields of a form such as `metadata[refund_id]=…` that stand under a name. */
export function fieldsOf(form: URLSearchParams, name: string): Record<string, string> {
  const fields = [...form].flatMap(([field, value]) =>
    field.startsWith(`${name}[`) ? [[field.slice(name.length + 1, -1), value] as const] : [],
  );
  return Object.fromEntries(fields);
}

export class StandInRefunds {
  /** Every refund, the oldest first. */
  readonly all: StandInRefund[] = [];
  /** The key of each request to create one, in their order. */
  readonly keys: string[] = [];
  /** What the next requests come to; a key that is known has its answer already. */
  outcome: () => RefundOutcome = () => 'succeeded';
  /** Milliseconds until a request is executed, during which its key is in use; or once they are known. */
  delayMs: () => number | Promise<number> = () => 0;
  /** Called with every refund that is new or has another status. */
  onChange: (refund: StandInRefund) => void = () => {};
  readonly #paidBy: (paymentIntent: string) => { readonly amount: number; readonly currency: string } | undefined;
  readonly #answers = new Map<string, { readonly form: string; answer: RefundAnswer | null }>();

  constructor(paidBy: (paymentIntent: string) => { readonly amount: number; readonly currency: string } | undefined) {
    this.#paidBy = paidBy;
  }

  /** Refunds of a payment that did not fail. */
  of(paymentIntent: string): readonly StandInRefund[] {
    return this.all.filter((each) => each.payment_intent === paymentIntent && each.status !== 'failed');
  }

  list(query: URLSearchParams): RefundAnswer {
    const found = this.all.filter((each) => each.payment_intent === query.get('payment_intent')).reverse();
    const after = query.get('starting_after');
    const from = after === null ? 0 : found.findIndex(({ id }) => id === after) + 1;
    const data = found.slice(from, from + Math.min(PAGE, Number(query.get('limit') ?? 10)));
    const has_more = from + data.length < found.length;
    return { status: 200, body: { object: 'list', url: '/v1/refunds', data, has_more } };
  }

  async create(form: string, key: string): Promise<RefundAnswer> {
    this.keys.push(key);
    const known = this.#answers.get(key);
    if (known?.answer === null) {
      return { status: 409, body: { error: { type: 'idempotency_error', code: 'idempotency_key_in_use' } } };
    }
    if (known?.answer !== undefined && known.form !== form) {
      return {
        status: REFUSED,
        body: { error: { type: 'idempotency_error', message: 'the key has other parameters' } },
      };
    }
    if (known?.answer !== undefined) return known.answer;
    const kept: { readonly form: string; answer: RefundAnswer | null } = { form, answer: null };
    this.#answers.set(key, kept);
    const delayMs = await this.delayMs();
    if (delayMs > 0) await pause(delayMs);
    return (kept.answer = this.#execute(new URLSearchParams(form)));
  }

  /** Gives money back without a request of the service, as a person does at the provider's page. */
  add(paymentIntent: string, amount: number, metadata: Readonly<Record<string, string>> = {}): StandInRefund {
    return this.#give(paymentIntent, amount, metadata, 'succeeded');
  }

  /** Lets a refund succeed or fail that was pending, or fail though it had succeeded. */
  settle(id: string, status: 'succeeded' | 'failed'): void {
    const index = this.all.findIndex((each) => each.id === id);
    this.all[index] = { ...this.all[index]!, status, ...(status === 'failed' && { failure_reason: 'declined' }) };
    this.onChange(this.all[index]);
  }

  #execute(form: URLSearchParams): RefundAnswer {
    const intent = form.get('payment_intent') ?? '';
    const amount = Number(form.get('amount'));
    const paid = this.#paidBy(intent);
    if (paid === undefined) return refusal('no such payment intent', { code: 'resource_missing' });
    const left = paid.amount - this.of(intent).reduce((sum, each) => sum + each.amount, 0);
    if (amount > left) return refusal('more than is left', left === 0 ? { code: 'charge_already_refunded' } : {});
    const outcome = this.outcome();
    if (outcome === 'refused') return refusal('not today', { code: 'balance_insufficient' });
    if (outcome === 'error') return DOWN;
    const status = outcome === 'error afterwards' ? 'succeeded' : outcome;
    const refund = this.#give(intent, amount, fieldsOf(form, 'metadata'), status);
    return outcome === 'error afterwards' ? DOWN : { status: 200, body: refund };
  }

  #give(
    paymentIntent: string,
    amount: number,
    metadata: Readonly<Record<string, string>>,
    status: StandInRefund['status'],
  ): StandInRefund {
    const refund: StandInRefund = {
      id: `re_${this.all.length + 1}`,
      object: 'refund',
      amount,
      currency: this.#paidBy(paymentIntent)!.currency,
      payment_intent: paymentIntent,
      metadata,
      status,
      ...(status === 'failed' && { failure_reason: 'declined' }),
    };
    this.all.push(refund);
    this.onChange(refund);
    return refund;
  }
}
