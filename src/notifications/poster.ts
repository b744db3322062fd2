import { Webhook } from 'standardwebhooks';
import type { Message } from './messages.ts';

/** Posts one message; rejects when the receiver did not take it. */
export type Post = (message: Message, signal?: AbortSignal) => Promise<void>;

const POST_MS_MAX = 10_000;

/** Posts to one address, signed as Standard Webhooks describes; `now` is the moment that receivers compare with theirs. */
export function createPoster(target: { readonly url: string; readonly secret: string }, now: () => number): Post {
  const signer = new Webhook(target.secret);
  return async ({ id, body }, signal) => {
    const sentAt = new Date(now());
    const timeUp = AbortSignal.timeout(POST_MS_MAX);
    const response = await fetch(target.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
        'webhook-signature': signer.sign(id, sentAt, body),
      },
      body,
      redirect: 'manual',
      signal: signal === undefined ? timeUp : AbortSignal.any([signal, timeUp]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
  };
}
