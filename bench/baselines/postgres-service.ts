/**
 * Holds in PostgreSQL: one statement for each hold, in its own transaction, locks the hot stock row, updates it and
 * inserts the hold. The argument is the port.
 *
 * One round trip, prepared once on each connection: a transaction of several statements would keep the row's lock
 * longer.
 */
import { openPostgres, type Postgres } from './postgres-client.ts';
import { CAPACITY, serveHolds } from './hold-service.ts';

/** More connections would only wait for the lock. */
const CONNECTIONS = 16;

const SCHEMA = [
  'CREATE TABLE stock (ticket_type_id text PRIMARY KEY, available bigint NOT NULL CHECK (available >= 0))',
  `INSERT INTO stock VALUES ('single', ${CAPACITY})`,
  'CREATE TABLE holds (id text PRIMARY KEY, session_key text NOT NULL, quantity int NOT NULL, expires_at bigint NOT NULL)',
];
const TAKE = `WITH taken AS (
  UPDATE stock SET available = available - $3::int
  WHERE ticket_type_id = 'single' AND available >= $3::int RETURNING 1)
INSERT INTO holds SELECT $1, $2, $3::int, $4::bigint FROM taken`;

const port = Number(process.argv[2]);
const first = await openPostgres(port);
for (const statement of SCHEMA) await first.run(statement);
const others = Array.from({ length: CONNECTIONS - 1 }, () => openPostgres(port));
const idle: Postgres[] = [first, ...(await Promise.all(others))];
for (const postgres of idle) await postgres.prepare('take', TAKE);
const queue: ((postgres: Postgres) => void)[] = [];

await serveHolds({
  async take({ id, sessionKey, quantity, expiresAt }) {
    const postgres = idle.pop() ?? (await new Promise<Postgres>((resolve) => queue.push(resolve)));
    try {
      const written = await postgres.execute('take', [id, sessionKey, String(quantity), String(expiresAt)]);
      return written === 1;
    } finally {
      const next = queue.shift();
      if (next === undefined) idle.push(postgres);
      else next(postgres);
    }
  },
});
