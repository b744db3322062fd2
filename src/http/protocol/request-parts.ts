/**
 * The parts of a request beside its body: idempotency key, session key, operator and cursor.
 *
 * 1. A request is recognized as a repeat by its key and by a digest of route and body. The digest is of canonical JSON,
 *    so that a client may write its fields in another order. The keys are kept by the domain, which keys the digest
 *    where a body may name people.
 * 2. An operator names themselves in `X-Operator`. The bearer token is one for all; the name is what the operator's
 *    tool vouches for.
 * 3. A cursor is opaque to clients: it says where the next page of a list starts.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IdempotencyKey, OperatorNote } from '#domain/fact.ts';
import { refuseProblems, type Refusal } from '#domain/refusal.ts';
import { SESSION_KEY_LENGTH_MAX, SESSION_KEY_LENGTH_MIN } from './fields.ts';
import { problemAt } from './validation.ts';

// ── idempotency keys ─────────────────────────────────────────────────────────────────────────────────────────────────

export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

interface RequestWithKey {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** What a request is about beside its route and body. */
interface About {
  /** A key counts on each of these by itself: the hold or the order, and for a hold its owner. */
  readonly subject?: readonly string[];
  /** Part of the request: the same key with another target is a reused key. */
  readonly target?: readonly string[];
}

/**
 * The idempotency key of a request, null when it carries none; VALIDATION_ERROR when the key is empty or too long. A
 * key counts on its own route: a storefront may give a hold and its checkout the same one.
 */
export function readIdempotencyKey(
  route: string,
  request: RequestWithKey,
  { subject = [], target = [] }: About = {},
): IdempotencyKey | Refusal | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && key.length >= 1 && key.length <= IDEMPOTENCY_KEY_LENGTH_MAX) {
    const scope = [route, ...subject].join(' ');
    return { key: `${scope} ${key}`, digest: digestOf([route, ...target].join(' '), request.body) };
  }
  return refuseProblems([problemAt('Idempotency-Key', `must have 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} characters`)]);
}

/** A digest in place of a secret, which has to differ from others and must not be kept. */
export function nameless(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url').slice(0, 16);
}

/** Marks an answer as the answer to an earlier request. */
export function markReplayed(reply: FastifyReply, { replayed }: { readonly replayed?: boolean }): void {
  if (replayed === true) reply.header('idempotent-replayed', 'true');
}

/** SHA-256 over the route and the body's canonical JSON, in base64url. */
export function digestOf(route: string, body: unknown): string {
  return createHash('sha256').update(route).update('\n').update(canonicalJson(body)).digest('base64url');
}

/**
 * JSON with the fields of every object sorted by name. Uses a stack of its own: fields that are not read may be
 * nested deeper than calls can go.
 */
export function canonicalJson(value: unknown): string {
  const text: string[] = [];
  const ahead: (() => void)[] = [];
  const write = (piece: string) => ahead.push(() => text.push(piece));
  const visit = (each: unknown) => ahead.push(() => open(each));
  const open = (each: unknown): void => {
    if (typeof each !== 'object' || each === null) text.push(JSON.stringify(each) ?? 'null');
    else if (Array.isArray(each)) openList(each);
    else openObject(each as Record<string, unknown>);
  };
  // What comes last is pushed first: the stack gives it back in reading order.
  const openList = (items: readonly unknown[]): void => {
    write(']');
    for (let index = items.length - 1; index >= 0; index -= 1) {
      visit(items[index]);
      if (index > 0) write(',');
    }
    write('[');
  };
  const openObject = (fields: Record<string, unknown>): void => {
    write('}');
    const names = Object.keys(fields).sort();
    for (let index = names.length - 1; index >= 0; index -= 1) {
      visit(fields[names[index]!]);
      write(`${index > 0 ? ',' : ''}${JSON.stringify(names[index])}:`);
    }
    write('{');
  };
  open(value);
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) next();
  return text.join('');
}

// ── session keys ─────────────────────────────────────────────────────────────────────────────────────────────────────

interface KeyedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query: { readonly session_key?: string };
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The key, or VALIDATION_ERROR when it is missing or its length is wrong; the schema has checked the length in the
 * query.
 */
export function requiredSessionKey(request: KeyedRequest): string | Refusal {
  return optionalSessionKey(request) ?? refuseKey('is required');
}

function refuseKey(message: string): Refusal {
  return { ...refuseProblems([problemAt('session_key', message)]), reason: 'SESSION_KEY' };
}

/** The key or null when there is none; VALIDATION_ERROR when its length is wrong. */
export function optionalSessionKey(request: KeyedRequest): string | Refusal | null {
  const header = request.headers['x-session-key'];
  if (header === undefined) return request.query.session_key ?? null;
  const key = headerText(String(header));
  const length = [...key].length;
  if (length >= SESSION_KEY_LENGTH_MIN && length <= SESSION_KEY_LENGTH_MAX) return key;
  return refuseKey(`must have ${SESSION_KEY_LENGTH_MIN} to ${SESSION_KEY_LENGTH_MAX} characters`);
}

/** The text of a header: Node reads bytes as Latin-1, while many clients send UTF-8. */
function headerText(header: string): string {
  if (/^[\x20-\x7e]*$/.test(header)) return header;
  try {
    return strictUtf8.decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}

// ── operators ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Who sent a request, with the note that came in its body or address. */
export function readOperator(
  { headers }: Pick<FastifyRequest, 'headers'>,
  note: string | null | undefined,
): OperatorNote {
  const given = headers['x-operator'];
  // Node reads header bytes as Latin-1; clients send names in UTF-8.
  const operator = typeof given === 'string' ? Buffer.from(given, 'latin1').toString('utf8').trim() : '';
  return { operator: operator === '' ? null : operator, note: note ?? null };
}

// ── cursors ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const MARK = 'after:';

export function toCursor(after: string | null): string | null {
  return after === null ? null : Buffer.from(MARK + after).toString('base64url');
}

/** Where a page starts: null at the beginning; VALIDATION_ERROR for what is no cursor. */
export function readCursor(cursor: string | undefined): { readonly after: string | null } | Refusal {
  if (cursor === undefined) return { after: null };
  const text = Buffer.from(cursor, 'base64url').toString();
  if (text.startsWith(MARK) && toCursor(text.slice(MARK.length)) === cursor) {
    return { after: text.slice(MARK.length) };
  }
  return refuseProblems([problemAt('cursor', 'is not a cursor of this list')]);
}
