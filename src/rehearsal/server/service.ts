/**
 * The service that is rehearsed: one of this version, started in a temporary folder, or one at a given address.
 *
 * 1. An own service is a process of its own, with the sandbox, and is stopped and removed whatever becomes of the
 *    rehearsal.
 * 2. An address is refused unless it has the sandbox and the same event: the ids that the trace names must all be
 *    there.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TimeSource } from '#actors/clock.ts';
import { toEventFile } from '#catalogue/event-fields.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import type { MeterResult } from './meter.ts';

/** A rehearsal cannot be held with this service; the hint says what to do. */
class NotRehearsable extends Error {
  readonly hint: string;
  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'NotRehearsable';
    this.hint = hint;
  }
}

/** The variable that tells an own service its clock, as JSON. */
export const CLOCK_SETTING = 'REHEARSAL_CLOCK';

export interface RehearsalClock {
  /** What it shows until the rehearsal begins. */
  readonly startsAt: number;
  readonly speed: number;
}

interface RunningRehearsalClock {
  readonly source: TimeSource;
  begin(): void;
}

/** A clock that stands still until it begins, and then goes `speed` times as fast as the machine's. */
export function startClock({ startsAt, speed }: RehearsalClock): RunningRehearsalClock {
  let beganAt: number | null = null;
  const elapsedMs = (): number => (beganAt === null ? 0 : (stopwatchMs() - beganAt) * speed);
  return {
    source: { wallMs: () => Math.floor(startsAt + elapsedMs()), stopwatchMs: elapsedMs },
    begin: () => void (beganAt ??= stopwatchMs()),
  };
}

export interface RehearsedService {
  readonly url: string;
  /** Resolves with the body of the answer; null where operators cannot be reached. */
  readonly operate: ((method: 'PUT' | 'POST', path: string, body: object) => Promise<unknown>) | null;
  beginMeter(): Promise<void>;
  /** Null for a service at an address. */
  readMeter(): Promise<MeterResult | null>;
  close(): Promise<void>;
}

const meter = new URL('./meter.ts', import.meta.url).href;
const serviceProcess = new URL('./process.ts', import.meta.url);

/** Signals that end a rehearsal: its service is stopped and its folder removed before. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const INTERRUPTED = 130;

/** Starts this version's service in an empty folder; its clock stands still until `beginMeter`. */
export async function startOwnService(clock: RehearsalClock): Promise<RehearsedService & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-rehearsal-'));
  const token = randomBytes(24).toString('base64url');
  const environment = {
    PATH: process.env['PATH'],
    DATA_DIR: folder,
    PORT: '0',
    ADMIN_PORT: '0',
    ADMIN_TOKEN: token,
    SANDBOX: 'on',
    SERVER_TIMING: 'on',
    LOG_LEVEL: 'info',
    [CLOCK_SETTING]: JSON.stringify(clock),
  };
  const child = fork(serviceProcess, [], {
    env: environment,
    execArgv: ['--import', meter],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const closed = once(child, 'close');
  const interrupted = (): void => void close().then(() => process.exit(INTERRUPTED));
  for (const signal of SIGNALS) process.once(signal, interrupted);
  const close = async (): Promise<void> => {
    for (const signal of SIGNALS) process.off(signal, interrupted);
    child.kill('SIGTERM');
    await closed;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { public: url, admin } = await readyLine(child, closed);
    return {
      url,
      folder,
      operate: operatorAt(admin, token),
      beginMeter: async () => void (await ask(child, 'begin')),
      readMeter: () => ask(child, 'read') as Promise<MeterResult>,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Calls the admin API of an own service. */
export function operatorAt(admin: string, token: string): NonNullable<RehearsedService['operate']> {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${admin}${path}`, { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (answer.status >= 300) {
      throw new NotRehearsable(`the service refuses ${method} ${path}: ${text}`, 'Correct the definition.');
    }
    return text === '' ? null : (JSON.parse(text) as unknown);
  };
}

function readyLine(child: ChildProcess, closed: Promise<unknown>): Promise<{ public: string; admin: string }> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line.includes('"msg":"ready"')) resolve(JSON.parse(line) as { public: string; admin: string });
    });
    void closed.then(() => reject(new Error('the service ended before it was ready')));
  });
}

async function ask(child: ChildProcess, message: 'begin' | 'read'): Promise<unknown> {
  const answered = once(child, 'message');
  child.send(message);
  const [answer] = (await answered) as [unknown];
  return answer;
}

/** Defines the event, and takes what was sold before out of sale. */
export async function defineEvent(
  { operate }: RehearsedService,
  definition: EventDefinition,
  taken: readonly { readonly performanceId: string; readonly seatIds: readonly string[] }[],
): Promise<void> {
  const event = `/admin/events/${encodeURIComponent(definition.id)}`;
  await operate!('PUT', event, toEventFile(definition));
  for (const { performanceId, seatIds } of taken) {
    const path = `${event}/performances/${encodeURIComponent(performanceId)}/seats`;
    await operate!('POST', path, { seat_ids: seatIds, action: 'block' });
  }
}

// ── a given address ──────────────────────────────────────────────────────────────────────────────────────────────────

interface EventBody {
  readonly slug: string;
  readonly waiting_room: boolean;
  readonly require_individual_data: boolean;
  readonly performances: readonly { readonly id: string }[];
  readonly ticketTypes: readonly { readonly id: string }[];
  readonly sellingStages: readonly { readonly id: string }[];
}

export interface GivenEvent {
  readonly slug: string;
  readonly hasWaitingRoom: boolean;
  readonly requiresNames: boolean;
}

/** Whether an address leads to this machine itself. */
export function isLoopback(url: URL): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
}

/** The event at a given address, once it is sure that it may be loaded (rule 2). */
export async function findGiven(url: URL, definition: EventDefinition): Promise<GivenEvent> {
  const base = url.href.replace(/\/+$/, '');
  const found = await fetchJson(`${base}/api/events/public/${encodeURIComponent(definition.slug)}`);
  if (found.status !== 200) {
    throw new NotRehearsable(
      `there is no event ${definition.slug} at ${base} (HTTP ${found.status})`,
      'Load the definition there first: holdfast load.',
    );
  }
  const event = unwrapped(found.body) as EventBody & { readonly id: string };
  const missing = missingIds(event, definition);
  if (event.id !== definition.id || missing.length > 0) {
    const what = event.id === definition.id ? `it has no ${missing.join(', no ')}` : `its id is ${event.id}`;
    throw new NotRehearsable(
      `the event at ${base} is another one: ${what}`,
      'Load the definition of then there first.',
    );
  }
  const probe = await fetchJson(`${base}/sandbox/payments/cs_rehearsal`, { outcome: 'paid' });
  if ((probe.body as { readonly code?: string }).code !== 'ORDER_NOT_FOUND') {
    throw new NotRehearsable(
      `the service at ${base} has no payment sandbox`,
      'A rehearsal never pays with a real provider: use a service with SANDBOX=on.',
    );
  }
  return { slug: event.slug, hasWaitingRoom: event.waiting_room, requiresNames: event.require_individual_data };
}

function missingIds(event: EventBody, definition: EventDefinition): string[] {
  const idsOf = (list: readonly { readonly id: string }[]) => new Set(list.map(({ id }) => id));
  const known = {
    performance: idsOf(event.performances),
    'ticket type': idsOf(event.ticketTypes),
    stage: idsOf(event.sellingStages),
  };
  const wanted = {
    performance: definition.performances.filter(({ status }) => status !== 'DRAFT'),
    'ticket type': definition.ticketTypes,
    stage: definition.sellingStages,
  };
  return (Object.keys(known) as (keyof typeof known)[]).flatMap((kind) =>
    wanted[kind].filter(({ id }) => !known[kind].has(id)).map(({ id }) => `${kind} ${id}`),
  );
}

async function fetchJson(address: string, body?: object): Promise<{ status: number; body: unknown }> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  try {
    const answer = await fetch(address, body === undefined ? {} : init);
    return { status: answer.status, body: JSON.parse(await answer.text()) as unknown };
  } catch (error) {
    throw new NotRehearsable(
      `no service answers at ${new URL(address).origin}`,
      'Start it, or correct --against.',
      error,
    );
  }
}

/** A service with RESPONSE_ENVELOPE=data wraps successful bodies. */
function unwrapped(body: unknown): unknown {
  const fields = body as Readonly<Record<string, unknown>>;
  return Object.keys(fields).length === 1 && 'data' in fields ? fields['data'] : body;
}

export function givenService(url: URL): RehearsedService {
  return {
    url: url.href.replace(/\/+$/, ''),
    operate: null,
    beginMeter: async () => {},
    readMeter: async () => null,
    close: async () => {},
  };
}
