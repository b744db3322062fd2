/**
 * The part of PostgreSQL's protocol (version 3) that the baseline needs: one statement at a time on a connection,
 * prepared ones in one round trip, no passwords. Only the number of written rows is read.
 */
import { once } from 'node:events';
import { connect } from 'node:net';

export interface Postgres {
  run(statement: string): Promise<number>;
  prepare(name: string, statement: string): Promise<number>;
  /** Executes a prepared statement; resolves to the number of rows written. */
  execute(name: string, values: readonly string[]): Promise<number>;
}

const PROTOCOL = 196_608;

export async function openPostgres(port: number): Promise<Postgres> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  let pending = Promise.withResolvers<number>();
  let rest: Buffer = Buffer.alloc(0);
  let rows = 0;
  let trouble: string | null = null;
  const onMessage = (type: string, body: Buffer): void => {
    if (type === 'E') trouble = body.toString('utf8').replaceAll('\0', ' ');
    if (type === 'C') rows = Number(/(\d+)\0$/.exec(body.toString('latin1'))?.[1] ?? 0);
    if (type !== 'Z') return;
    if (trouble === null) pending.resolve(rows);
    else pending.reject(new Error(trouble));
  };
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      onMessage(rest.toString('latin1', 0, 1), rest.subarray(5, end));
      rest = rest.subarray(end);
    }
  });
  socket.on('close', () => pending.reject(new Error('PostgreSQL closed the connection')));
  const send = (bytes: Buffer): Promise<number> => {
    rows = 0;
    trouble = null;
    pending = Promise.withResolvers<number>();
    socket.write(bytes);
    return pending.promise;
  };
  const parameters = Buffer.from('user\0bench\0database\0postgres\0\0');
  await send(Buffer.concat([int32(8 + parameters.length), int32(PROTOCOL), parameters]));
  return {
    run: (statement) => send(message('Q', text(statement))),
    prepare: (name, statement) => send(Buffer.concat([message('P', text(name), text(statement), int16(0)), SYNC])),
    execute(name, values) {
      const bound = values.flatMap((value) => [int32(Buffer.byteLength(value)), Buffer.from(value)]);
      const bind = message('B', text(''), text(name), int16(0), int16(values.length), ...bound, int16(0));
      return send(Buffer.concat([bind, EXECUTE, SYNC]));
    },
  };
}

const SYNC = message('S');
const EXECUTE = message('E', text(''), int32(0));

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(4 + body.length), body]);
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
