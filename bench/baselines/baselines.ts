/** The desks over Redis and PostgreSQL as servers under measurement: what their store uses counts as theirs. */
import { startMeasured, type MeasuredServer } from '../http/server.ts';
import { startPostgres, startRedis, type Store } from './stores.ts';

export interface Baseline {
  readonly name: string;
  /** Null where its store is not installed. */
  readonly server: MeasuredServer | null;
  readonly note: string;
}

/** Fastify and Redis: a Lua script a hold, each fsynced before its answer. */
export async function startRedisBaseline(): Promise<Baseline> {
  return baselineOf('Redis', 'redis-server', 'bench/baselines/redis-desk.ts', await startRedis());
}

/** Fastify and PostgreSQL: a transaction a hold, with a lock on the hot stock row. */
export async function startPostgresBaseline(): Promise<Baseline> {
  return baselineOf('PostgreSQL', 'postgresql', 'bench/baselines/postgres-desk.ts', await startPostgres());
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

function withStore(desk: MeasuredServer, store: Store): MeasuredServer {
  let begin = 0;
  return {
    ...desk,
    async beginMeter() {
      begin = store.cpuMicros();
      await desk.beginMeter();
    },
    async readMeter() {
      const reading = await desk.readMeter();
      return { ...reading, cpuMicros: reading.cpuMicros + store.cpuMicros() - begin };
    },
    async stop() {
      await desk.stop();
      await store.stop();
    },
  };
}
