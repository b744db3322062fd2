/**
 * Buyers who make whole purchases, one after the other, in a process of its own as `load.ts` is.
 *
 * A purchase is four requests over one connection: hold a ticket, start the checkout, pay in the sandbox, read the
 * order. It counts when the order is CONFIRMED; a purchase that the end of the time interrupts does not count.
 */
import autocannon from 'autocannon';
import { placeHold, readOrder, settlePayment, startCheckout } from '#rehearsal/player/buyer-requests.ts';
import type { PlayerRequest } from '#rehearsal/player/connection.ts';
import { AUTOCANNON_OPTIONS } from './traffic.ts';
import { newHistogram, packHistogram, recordMillis } from '../histogram.ts';

export interface BuyersJob {
  readonly url: string;
  readonly buyers: number;
  /** The event that is sold; the hot one by default. */
  readonly eventId?: string;
  /** How long a run is; or the number of purchases, of which each buyer makes as many. */
  readonly seconds?: number;
  readonly purchases?: number;
  /** The first number in session keys and addresses, so that runs differ. */
  readonly firstNumber: number;
}

export interface BuyersResult {
  /** Whole purchases. */
  readonly requests: number;
  readonly perSecond: number;
  /** From the first request of a purchase to its last answer, packed. */
  readonly histogram: string;
  /** The first unexpected answers. */
  readonly troubles: readonly string[];
  readonly nextNumber: number;
}

/** The state of one purchase; autocannon makes a new one for each. */
interface Purchase {
  number: number;
  beginMs: number;
  holdId: string;
  orderId: string;
  checkoutSessionId: string;
}

const TROUBLES_MAX = 5;
const HOT_EVENT = 'evt_hot';

process.on('message', (job) => {
  void buy(job as BuyersJob).then((result) => process.send!(result));
});

async function buy(job: BuyersJob): Promise<BuyersResult> {
  const { url, buyers, firstNumber, eventId = HOT_EVENT } = job;
  const histogram = newHistogram();
  const troubles: string[] = [];
  let number = firstNumber;
  let purchases = 0;
  const begin = performance.now();
  let end = begin;
  const requests = purchaseOf({
    eventId,
    nextNumber: () => number++,
    bought({ beginMs }) {
      end = performance.now();
      purchases += 1;
      recordMillis(histogram, end - beginMs);
    },
    failed(trouble) {
      if (troubles.length < TROUBLES_MAX) troubles.push(trouble);
    },
  });
  const { errors } = await autocannon({
    url,
    connections: buyers,
    ...lengthOf(job, requests.length),
    requests,
    ...AUTOCANNON_OPTIONS,
  });
  if (errors > 0) troubles.push(`${errors} connections failed`);
  return {
    requests: purchases,
    perSecond: purchases / ((end - begin) / 1000),
    histogram: packHistogram(histogram),
    troubles,
    nextNumber: number,
  };
}

function lengthOf({ purchases, seconds, buyers }: BuyersJob, requestsEach: number): object {
  if (purchases === undefined) return { duration: seconds };
  return { amount: Math.ceil(purchases / buyers) * buyers * requestsEach };
}

interface PurchaseEvents {
  readonly eventId: string;
  nextNumber(): number;
  bought(purchase: Purchase): void;
  failed(trouble: string): void;
}

function purchaseOf(events: PurchaseEvents): autocannon.Request[] {
  return [
    step(events, 201, {
      request(purchase) {
        purchase.number = events.nextNumber();
        purchase.beginMs = performance.now();
        const items = [{ ticket_type_id: 'single', selling_stage_id: 'general', quantity: 1 }];
        return placeHold(events.eventId, `session-${purchase.number}`, items);
      },
      onAnswer(purchase, body) {
        purchase.holdId = (body as { readonly id: string }).id;
      },
    }),
    step(events, 201, {
      request({ number, holdId }) {
        const customer = { email: `buyer-${number}@example.com`, name: 'A Buyer' };
        return startCheckout(events.eventId, { hold_id: holdId, session_key: `session-${number}`, customer });
      },
      onAnswer(purchase, body) {
        const started = body as { readonly order_id: string; readonly checkout_session_id: string };
        purchase.orderId = started.order_id;
        purchase.checkoutSessionId = started.checkout_session_id;
      },
    }),
    step(events, 200, {
      request: ({ checkoutSessionId }) => settlePayment(checkoutSessionId, 'paid'),
      onAnswer() {},
    }),
    step(events, 200, {
      request: ({ orderId }) => readOrder(orderId),
      onAnswer(purchase, body) {
        const { status } = body as { readonly status: string };
        if (status === 'CONFIRMED') events.bought(purchase);
        else events.failed(`a paid order reads ${status}`);
      },
    }),
  ];
}

interface Step {
  request(purchase: Purchase): PlayerRequest;
  onAnswer(purchase: Purchase, body: unknown): void;
}

function step(events: PurchaseEvents, status: number, { request, onAnswer }: Step): autocannon.Request {
  return {
    setupRequest(base, context) {
      const { method, path, body } = request(context as Purchase);
      const content = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body };
      return { ...base, method, path, ...content };
    },
    onResponse(answered, body, context) {
      if (answered === status) onAnswer(context as Purchase, JSON.parse(body));
      else events.failed(`${answered}: ${body}`);
    },
  };
}
