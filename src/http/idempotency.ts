/**
 * What makes a repeat of a request recognizable: its Idempotency-Key and a digest of route and body.
 *
 * The digest is of the body as JSON in a canonical order, so that a client may write its fields in any order when
 * it repeats itself. The book of keys belongs to the domain.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { IdempotencyMark } from '#domain/fact.ts';
import { refuseProblems, type Refusal } from '#domain/refusal.ts';
import { problemAt } from './validation.ts';

const KEY_LENGTH_MAX = 255;

interface MarkedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** What a request is about beside its route and body. */
interface About {
  /** A key counts on each of these by itself: the hold or the order, and for a hold its owner. */
  readonly subject?: readonly string[];
  /** What is part of the request: the same key with another one is a key that is used again. */
  readonly target?: readonly string[];
}

/**
 * The mark of a request, null when it carries no key; VALIDATION_ERROR when the key is empty or too long. A key counts
 * on its own route: a storefront may give a hold and its checkout the same one.
 */
export function idempotencyMark(
  route: string,
  request: MarkedRequest,
  { subject = [], target = [] }: About = {},
): IdempotencyMark | Refusal | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && key.length >= 1 && key.length <= KEY_LENGTH_MAX) {
    const place = [route, ...subject].join(' ');
    return { key: `${place} ${key}`, digest: digestOf([route, ...target].join(' '), request.body) };
  }
  return refuseProblems([problemAt('Idempotency-Key', `must have 1 to ${KEY_LENGTH_MAX} characters`)]);
}

/** A digest in place of a secret that is to be told from others and not kept. */
export function nameless(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url').slice(0, 16);
}

/** Says on an answer that it is the one of an earlier request. */
export function tellReplayed(reply: FastifyReply, { replayed }: { readonly replayed?: boolean }): void {
  if (replayed === true) reply.header('idempotent-replayed', 'true');
}

/** SHA-256 over the route and the body's canonical JSON, in base64url. */
export function digestOf(route: string, body: unknown): string {
  return createHash('sha256').update(route).update('\n').update(canonicalJson(body)).digest('base64url');
}

/**
 * JSON with the fields of every object sorted by name. Keeps its own stack: fields that nobody reads may be
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
