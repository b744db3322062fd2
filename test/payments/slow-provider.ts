import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** A stand-in for Stripe that opens its one session when it is told to; what a service needs to use it is in `environment`. */
export async function openSlowProvider(t: TestContext) {
  let answer = (): void => {};
  let noteAsked = (): void => {};
  const asked = new Promise<void>((resolve) => (noteAsked = resolve));
  const server = createServer((request, response) => {
    request.resume();
    answer = () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'cs_test_slow', object: 'checkout.session', url: 'https://pay.example/' }));
    };
    noteAsked();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const environment = {
    STRIPE_SECRET_KEY: 'sk_test_standin0123456789',
    STRIPE_WEBHOOK_SECRET: 'whsec_standin0123456789',
    STRIPE_API_BASE: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    SANDBOX: 'off',
  };
  return { environment, asked, answer: () => answer() };
}
