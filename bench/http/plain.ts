/**
 * The baseline: a Fastify route that validates the same body and answers the same bytes at once. The argument is a
 * `PlainRoute`.
 */
import { fastify } from 'fastify';
import type { AddressInfo } from 'node:net';
import { compileValidator } from '#http/protocol/validation.ts';
import { CreateHold } from '#http/buyers/holds.ts';

export interface PlainRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

const route = JSON.parse(process.argv[2]!) as PlainRoute;
const app = fastify({ logger: false });
app.setValidatorCompiler(compileValidator);
const bytes = Buffer.from(route.body);
app.route({
  method: route.method,
  url: route.path,
  ...(route.method === 'POST' && { schema: { body: CreateHold } }),
  handler: async (_request, reply) =>
    reply.code(route.status).header('content-type', 'application/json; charset=utf-8').send(bytes),
});
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ msg: 'ready', public: `http://127.0.0.1:${port}`, admin: '' })}\n`);
