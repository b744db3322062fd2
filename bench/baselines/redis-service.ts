/** Holds in Redis: one Lua script for each hold, `appendfsync always`. The argument is the port. */
import { createHash } from 'node:crypto';
import { openRedis } from './redis-client.ts';
import { CAPACITY, serveHolds } from './hold-service.ts';

const TAKE = `
if tonumber(redis.call('GET', KEYS[1])) < tonumber(ARGV[2]) then return 0 end
redis.call('DECRBY', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[2], 'session', ARGV[1], 'quantity', ARGV[2], 'expires_at', ARGV[3])
redis.call('PEXPIREAT', KEYS[2], ARGV[3])
return 1`;

const redis = await openRedis(Number(process.argv[2]));
await redis.command('SET', 'stock', String(CAPACITY));
await redis.command('SCRIPT', 'LOAD', TAKE);
const digest = createHash('sha1').update(TAKE).digest('hex');
await serveHolds({
  async take({ id, sessionKey, quantity, expiresAt }) {
    const taken = await redis.command('EVALSHA', digest, '2', 'stock', id, sessionKey, `${quantity}`, `${expiresAt}`);
    return taken === 1;
  },
});
