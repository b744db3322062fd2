/**
 * The part that the baselines share: a Fastify route for holds of one hot ticket type, over a store.
 *
 * The route validates the same body with the same schema as the service, and its answer has the same shape and size. A
 * store does the minimum of a hold: take stock when there is enough, write the hold, and wait until both are on disk.
 * It has no seats, stages, replaced holds, expiry, idempotency or history, so each store is measured at its best.
 */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { compileValidator } from '#http/protocol/validation.ts';
import { CreateHold } from '#http/buyers/holds.ts';

export const CAPACITY = 100_000_000;
const HOLD_MS = 600 * 60_000;

interface HoldRecord {
  readonly id: string;
  readonly sessionKey: string;
  readonly quantity: number;
  readonly expiresAt: number;
}

interface HoldStore {
  /** Resolves when stock and hold are on disk; false when there is not enough stock. */
  take(hold: HoldRecord): Promise<boolean>;
}

interface HoldRequest {
  readonly event_id: string;
  readonly session_key: string;
  readonly items: readonly {
    readonly ticket_type_id: string;
    readonly selling_stage_id: string;
    readonly quantity: number;
  }[];
}

/** Serves on a free port and prints a ready line as the service does. */
export async function serveHolds(store: HoldStore): Promise<void> {
  const app = fastify({ logger: false });
  app.setValidatorCompiler(compileValidator);
  app.post<{ Body: HoldRequest }>('/api/checkout/holds', { schema: { body: CreateHold } }, async ({ body }, reply) => {
    const [item] = body.items as [HoldRequest['items'][number]];
    const id = `hld_${randomBytes(18).toString('base64url')}`;
    const expiresAt = Date.now() + HOLD_MS;
    const taken = await store.take({ id, sessionKey: body.session_key, quantity: item.quantity, expiresAt });
    if (!taken) return reply.code(400).send({ code: 'INSUFFICIENT_TICKETS' });
    const { ticket_type_id, selling_stage_id, quantity } = item;
    const line = { ticket_type_id, selling_stage_id, performance_id: 'night', quantity, ticket_count: quantity };
    return reply.code(201).send({
      id,
      event_id: body.event_id,
      status: 'ACTIVE',
      expires_at: new Date(expiresAt).toISOString(),
      order_id: null,
      items: [{ ...line, seat_ids: [], seat_labels: [] }],
    });
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ msg: 'ready', public: `http://127.0.0.1:${port}`, admin: '' })}\n`);
}
