/** Refunds at Stripe, read and asked for with Stripe's own SDK against a stand-in of its API. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { ProviderRefunds } from '#payments/provider.ts';
import { openStripe } from '#payments/stripe.ts';
import { openStandIn, SECRET_KEY, WEBHOOK_SECRET, type StandIn, type StandInSession } from './stripe-stand-in.ts';

let standIn: StandIn;
let refunds: ProviderRefunds;
let openSession: (amountCents?: number, currency?: string) => Promise<StandInSession>;

before(async () => {
  standIn = await openStandIn();
  const clock = { now: Date.now, machineNow: Date.now };
  const settings = { secretKey: SECRET_KEY, webhookSecret: WEBHOOK_SECRET, apiBase: standIn.url };
  const provider = await openStripe(settings, clock);
  refunds = provider.refunds!;
  openSession = async (amountCents = 1900, currency = 'EUR') => {
    const n = standIn.sessions.length + 1;
    await provider.openSession(
      {
        orderId: `ord_1_${n}`,
        paymentId: `pay_1_${n}`,
        amountCents,
        currency,
        description: 'Gala',
        customerEmail: async () => null,
        successUrl: 'https://shop.example/yes',
        cancelUrl: 'https://shop.example/no',
        expiresAt: null,
      },
      AbortSignal.timeout(5_000),
    );
    return standIn.sessions.at(-1)!;
  };
});
beforeEach(() => {
  standIn.trouble = null;
  standIn.refunds.outcome = () => 'succeeded';
  standIn.refunds.delayMs = () => 0;
});
after(() => standIn.close());

const signal = () => AbortSignal.timeout(20_000);
const intentOf = ({ id }: StandInSession): string => id.replace('cs_test', 'pi');
const list = ({ id }: StandInSession) => refunds.listRefunds(id, signal());

let asked = 0;
const ask = (session: StandInSession, more: object = {}, until = signal()) => {
  asked += 1;
  const refundId = `ref_1_${asked}`;
  const { client_reference_id: orderId, id: checkoutSessionId } = session;
  const request = { orderId, refundId, checkoutSessionId, amountCents: 500, currency: 'EUR', key: refundId, ...more };
  return refunds.refund(request, until);
};

/** A fault of the provider, as the outbox tells a refusal from a lack of an answer. */
const fault = (isRefusal: boolean, code = 'REFUSED') => ({ name: 'ProviderUnavailable', isRefusal, code });

describe('A refund at Stripe', () => {
  it('is asked for by the payment intent of its session, with its ids, and given back once for a key', async () => {
    const session = await openSession();
    const request = { refundId: 'ref_1_a', key: 'ref_1_a-2' };
    const first = await ask(session, request);
    assert.deepEqual(await ask(session, request), first);
    const [there, ...others] = standIn.refunds.of(intentOf(session));
    assert.deepEqual(others, []);
    assert.deepEqual(first, { outcome: 'SUCCEEDED', reference: there!.id, amountCents: there!.amount });
    assert.deepEqual([there!.amount, standIn.refunds.keys.at(-1)], [500, 'ref_1_a-2']);
    const { order_id, refund_id } = there!.metadata;
    assert.deepEqual([order_id, refund_id], [session.client_reference_id, 'ref_1_a']);
    const found = { reference: there!.id, refundId: 'ref_1_a', amountCents: 500, status: 'SUCCEEDED' };
    assert.deepEqual(await list(session), [found]);
  });

  it('is of the cents of the order in a currency that Stripe counts in others', async () => {
    const session = await openSession(190_050, 'ISK');
    await ask(session, { amountCents: 190_050, currency: 'ISK' });
    assert.deepEqual(
      (await list(session)).map(({ amountCents }) => amountCents),
      [190_050],
    );
  });

  it('may be pending or fail, with the reason of Stripe', async () => {
    const session = await openSession();
    const failure = { code: 'declined', message: 'Stripe: declined' };
    for (const outcome of ['pending', 'failed'] as const) {
      standIn.refunds.outcome = () => outcome;
      const answer = await ask(session);
      const { reference } = answer as { reference: string };
      const status = outcome.toUpperCase();
      const why = outcome === 'failed' && { failure };
      assert.deepEqual(answer, { outcome: status, reference, amountCents: 500, ...why });
      const found = { reference, refundId: `ref_1_${asked}`, amountCents: 500, status, ...why };
      assert.deepEqual((await list(session))[0], found);
    }
  });

  it('that is refused says so with the code of Stripe', async () => {
    const session = await openSession();
    standIn.refunds.outcome = () => 'refused';
    await assert.rejects(ask(session), fault(true, 'balance_insufficient'));
    standIn.refunds.outcome = () => 'succeeded';
    await ask(session, { amountCents: 1900 });
    await assert.rejects(ask(session), fault(true, 'charge_already_refunded'));
    await assert.rejects(ask(session, { amountCents: 1, key: `ref_1_${asked}` }), fault(true, 'idempotency_error'));
    await assert.rejects(ask({ ...session, id: 'cs_test_other' }), fault(true, 'PAYMENT_UNKNOWN'));
    await assert.rejects(list({ ...session, id: 'cs_test_other' }), fault(true, 'PAYMENT_UNKNOWN'));
  });

  it('without a clear answer is neither refused nor given back for certain', async () => {
    const session = await openSession();
    // An error inside Stripe is kept under the key: the next try needs another one.
    standIn.refunds.outcome = () => 'error';
    assert.deepEqual(await ask(session), { outcome: 'UNCLEAR', isAnswered: true });
    standIn.refunds.outcome = () => 'error afterwards';
    assert.deepEqual(await ask(session), { outcome: 'UNCLEAR', isAnswered: true });
    assert.equal((await list(session))[0]!.refundId, `ref_1_${asked}`);
    standIn.refunds.outcome = () => 'succeeded';
    for (const trouble of ['hang up', 'answer lost'] as const) {
      standIn.trouble = trouble;
      await assert.rejects(ask(session), fault(false));
      if (trouble === 'hang up') await assert.rejects(list(session), fault(false));
      standIn.trouble = null;
      const isThere = (await list(session)).some(({ refundId }) => refundId === `ref_1_${asked}`);
      assert.equal(isThere, trouble === 'answer lost');
    }
    standIn.trouble = 'error';
    await assert.rejects(list(session), fault(false));
  });

  it('whose key is in use, or whose time is over, is neither', async () => {
    const session = await openSession();
    standIn.refunds.delayMs = () => 3_000;
    await assert.rejects(ask(session, {}, AbortSignal.timeout(200)), fault(false));
    await assert.rejects(ask(session, { refundId: `ref_1_${asked}`, key: `ref_1_${asked}` }), fault(false));
  });

  it('is found among many pages of others', async () => {
    const session = await openSession(100_000);
    const intent = intentOf(session);
    for (let n = 0; n < 250; n += 1) standIn.refunds.add(intent, 1 + n);
    const found = await list(session);
    assert.deepEqual([found.length, found[0]!.amountCents, found.at(-1)!.amountCents], [250, 250, 1]);
    assert.ok(found.every(({ refundId }) => refundId === null));
  });
});
