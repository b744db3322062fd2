/**
 * The buyers: each goes through whole purchases, one after the other, in a process of its own as `load.ts` does.
 *
 * A purchase is four requests over one connection: hold a ticket, start the checkout, pay at the sandbox, ask for the order.
 * It counts when the order reads CONFIRMED; purchases that the end of the time cuts off do not count.
 */
import autocannon from 'autocannon';
import { CANNON } from './cannon.ts';
import { newHistogram, packHistogram, recordMillis } from '../histogram.ts';

export interface BuyersJob {
  readonly url: string;
  readonly buyers: number;
  readonly seconds: number;
  /** Numbers in session keys and addresses begin here, so that runs do not repeat one another. */
  readonly firstNumber: number;
}

export interface BuyersResult {
  /** Whole purchases. */
  readonly requests: number;
  readonly perSecond: number;
  /** From the first request of a purchase to its last answer, packed. */
  readonly histogram: string;
  /** What went otherwise than it should, the first few of it. */
  readonly troubles: readonly string[];
  readonly nextNumber: number;
}

/** What one buyer remembers from answer to request; autocannon makes it anew for each purchase. */
interface Memory {
  number: number;
  beginMs: number;
  holdId: string;
  orderId: string;
  checkoutSessionId: string;
}

const TROUBLES_MAX = 5;
const EVENT_ID = 'evt_hot';

process.on('message', (job) => {
  void buy(job as BuyersJob).then((result) => process.send!(result));
});

async function buy({ url, buyers, seconds, firstNumber }: BuyersJob): Promise<BuyersResult> {
  const histogram = newHistogram();
  const troubles: string[] = [];
  let number = firstNumber;
  let purchases = 0;
  const begin = performance.now();
  let end = begin;
  const requests = purchaseOf({
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
    duration: seconds,
    requests,
    ...CANNON,
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

interface Till {
  nextNumber(): number;
  bought(memory: Memory): void;
  failed(trouble: string): void;
}

function purchaseOf(till: Till): autocannon.Request[] {
  return [
    step(till, 201, {
      ask(memory) {
        memory.number = till.nextNumber();
        memory.beginMs = performance.now();
        return post('/api/checkout/holds', {
          event_id: EVENT_ID,
          session_key: `session-${memory.number}`,
          items: [{ ticket_type_id: 'single', selling_stage_id: 'general', quantity: 1 }],
        });
      },
      learn(memory, body) {
        memory.holdId = (body as { readonly id: string }).id;
      },
    }),
    step(till, 201, {
      ask: ({ number, holdId }) =>
        post('/api/checkout/start', {
          event_id: EVENT_ID,
          hold_id: holdId,
          session_key: `session-${number}`,
          customer: { email: `buyer-${number}@example.com`, name: 'A Buyer' },
          accept_terms: true,
        }),
      learn(memory, body) {
        const started = body as { readonly order_id: string; readonly checkout_session_id: string };
        memory.orderId = started.order_id;
        memory.checkoutSessionId = started.checkout_session_id;
      },
    }),
    step(till, 200, {
      ask: ({ checkoutSessionId }) => post(`/sandbox/payments/${checkoutSessionId}`, { outcome: 'paid' }),
      learn() {},
    }),
    step(till, 200, {
      ask: ({ orderId }) => ({ method: 'GET', path: `/api/checkout/status/${orderId}` }),
      learn(memory, body) {
        const { status } = body as { readonly status: string };
        if (status === 'CONFIRMED') till.bought(memory);
        else till.failed(`a paid order reads ${status}`);
      },
    }),
  ];
}

interface Step {
  ask(memory: Memory): Partial<autocannon.Request>;
  learn(memory: Memory, body: unknown): void;
}

function step(till: Till, status: number, { ask, learn }: Step): autocannon.Request {
  return {
    setupRequest: (request, context) => ({ ...request, ...ask(context as Memory) }),
    onResponse(answered, body, context) {
      if (answered === status) learn(context as Memory, JSON.parse(body));
      else till.failed(`${answered}: ${body}`);
    },
  };
}

function post(path: string, body: object): Partial<autocannon.Request> {
  return { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
