/** The baselines over Redis and PostgreSQL as measured servers; the processor time of the store counts as theirs. */
import { startMeasured, type MeasuredServer } from '../http/server.ts';
import { startPostgres, startRedis, type Store } from './stores.ts';

export interface Baseline {
  readonly name: string;
  /** Null when its store is not installed. */
  readonly server: MeasuredServer | null;
  readonly note: string;
}

/** Fastify and Redis: a Lua script for each hold, fsynced before the answer. */
export async function startRedisBaseline(): Promise<Baseline> {
  return baselineOf('Redis', 'redis-server', 'bench/baselines/redis-service.ts', await startRedis());
}

/** Fastify and PostgreSQL: a transaction for each hold, with a lock on the hot stock row. */
export async function startPostgresBaseline(): Promise<Baseline> {
  return baselineOf('PostgreSQL', 'postgresql', 'bench/baselines/postgres-service.ts', await startPostgres());
}

async function baselineOf(name: string, debianPackage: string, file: string, store: Store | null): Promise<Baseline> {
  if (store === null) {
    return { name, server: null, note: `${name} was left out: not installed (apt-get install ${debianPackage})` };
  }
  try {
    return { name, server: withStore(await startMeasured(file, [String(store.port)], {}), store), note: store.version };
  } catch (error) {
    await store.stop();
    throw error;
  }
}

function withStore(server: MeasuredServer, store: Store): MeasuredServer {
  let begin = 0;
  return {
    ...server,
    async beginMeter() {
      begin = store.cpuMicros();
      await server.beginMeter();
    },
    async readMeter() {
      const reading = await server.readMeter();
      return { ...reading, cpuMicros: reading.cpuMicros + store.cpuMicros() - begin };
    },
    async stop() {
      await server.stop();
      await store.stop();
    },
  };
}
