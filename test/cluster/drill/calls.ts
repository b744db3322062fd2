/**
 * The HTTP client of a drill's buyers: a request goes to a node by chance and is repeated with its Idempotency-Key
 * until it is answered.
 *
 * 1. A repeat has the same key and body, and goes to any node, because a load balancer knows no buyer.
 * 2. A request that avoids struck nodes is broken off when its node is struck, as by a load balancer that has noticed.
 * 3. A 5xx other than a 503 with Retry-After is wrong, at every node and at any moment.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { PlayerRequest } from '#rehearsal/player/connection.ts';
import type { Chance } from '../../simulation/chance.ts';
import type { AnswerTimes } from './answer-times.ts';

/** A request that changes an event. */
interface DrillRequest extends PlayerRequest {
  readonly eventId: string;
  /** Rule 2. */
  readonly avoidsStruck?: boolean;
}

export interface DrillAnswer {
  readonly status: number;
  readonly node: string;
  readonly body: Record<string, unknown>;
}

/** A node as buyers see it. */
interface DrillNode {
  readonly name: string;
  readonly publicUrl: string;
}

/** What buyers have in common. */
export interface DrillCalls {
  readonly nodes: readonly DrillNode[];
  readonly struck: StruckNodes;
  readonly chance: Chance;
  readonly answers: AnswerTimes;
  readonly tally: DrillTally;
}

/** An answer 503. */
export interface BusyAnswer {
  readonly node: string;
  /** Method and path. */
  readonly request: string;
  /** By `performance.now()`: a fault is not to blame for what was asked before it. */
  readonly askedAt: number;
  readonly tookMs: number;
}

interface DrillTally {
  requests: number;
  repeats: number;
  /** Answers 503, and connections that broke or were given up. */
  busy: number;
  lost: number;
  /** Answers 503 of nodes that were not struck. */
  readonly busyElsewhere: BusyAnswer[];
  serversStartedAgain: number;
  /** Descriptions of wrong answers; limited in number. */
  readonly wrong: string[];
}

/** Nodes that are killed or stopped now. Most buyers come to them all the same. */
export class StruckNodes {
  readonly #names = new Set<string>();
  readonly #breakers = new Map<string, AbortController>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.add(name);
    this.#breakers.get(name)?.abort();
    this.#breakers.delete(name);
  }

  delete(name: string): void {
    this.#names.delete(name);
  }

  /** Aborted when the node is struck the next time. */
  signalOf(name: string): AbortSignal {
    let breaker = this.#breakers.get(name);
    if (breaker === undefined) this.#breakers.set(name, (breaker = new AbortController()));
    return breaker.signal;
  }
}

const WRONG_MAX = 50;
const REPEAT_MS = 60;
const RETRY_MS_MAX = 500;
/** A request may take 12 seconds at a node; some buyers wait for that, others try another node before. */
const PATIENCE_MS = [2_500, 15_000] as const;
/** Far more than any fault lasts. */
const INSIST_MS_MAX = 120_000;

export function newTally(): DrillTally {
  return { requests: 0, repeats: 0, busy: 0, lost: 0, busyElsewhere: [], serversStartedAgain: 0, wrong: [] };
}

export function noteWrong({ tally }: Pick<DrillCalls, 'tally'>, what: string): void {
  if (tally.wrong.length < WRONG_MAX) tally.wrong.push(what);
}

/** Repeats a request until it has an answer that is not 503. */
export async function insist(calls: DrillCalls, request: DrillRequest): Promise<DrillAnswer> {
  const begin = performance.now();
  const patienceMs = calls.chance.pick(PATIENCE_MS);
  for (let tries = 0; ; tries += 1) {
    if (tries > 0) calls.tally.repeats += 1;
    const answer = await send(calls, nodeFor(calls, request), request, patienceMs);
    if (answer !== null && answer.status < 500) return answer;
    if (performance.now() - begin > INSIST_MS_MAX) {
      noteWrong(calls, `no answer to ${request.method} ${request.path} of ${request.eventId}`);
      return { status: 0, node: '', body: {} };
    }
    await pause(REPEAT_MS);
  }
}

function nodeFor({ nodes, struck, chance }: DrillCalls, { avoidsStruck = false }: DrillRequest): DrillNode {
  const standing = avoidsStruck ? nodes.filter(({ name }) => !struck.has(name)) : nodes;
  return chance.pick(standing.length > 0 ? standing : nodes);
}

/** Sends a request once; null when the connection failed or was given up and the outcome is unknown. */
async function send(
  calls: DrillCalls,
  node: DrillNode,
  { method, path, eventId, body, headers = {}, avoidsStruck = false }: DrillRequest,
  patienceMs: number,
): Promise<DrillAnswer | null> {
  const { tally, struck, answers } = calls;
  const wasStruck = struck.has(node.name);
  tally.requests += 1;
  const askedAt = performance.now();
  try {
    const response = await fetch(node.publicUrl + path, {
      method,
      signal: AbortSignal.any([AbortSignal.timeout(patienceMs), ...(avoidsStruck ? [struck.signalOf(node.name)] : [])]),
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const { status } = response;
    if (status === 503) {
      tally.busy += 1;
      if (!wasStruck && !struck.has(node.name))
        tally.busyElsewhere.push(busyAnswer(node, `${method} ${path}`, askedAt));
      const retrySeconds = Number(response.headers.get('retry-after'));
      if (!(retrySeconds >= 1)) noteWrong(calls, `503 without Retry-After at ${node.name}: ${text.slice(0, 200)}`);
      else await pause(Math.min(retrySeconds * 1_000, RETRY_MS_MAX));
    } else if (status >= 500) {
      noteWrong(calls, `${status} ${method} ${path} at ${node.name}: ${text.slice(0, 300)}`);
    } else if (method !== 'GET') {
      answers.note(eventId);
    }
    return { status, node: node.name, body: (text === '' ? {} : JSON.parse(text)) as DrillAnswer['body'] };
  } catch {
    tally.lost += 1;
    return null;
  }
}

function busyAnswer({ name }: DrillNode, request: string, askedAt: number): BusyAnswer {
  return { node: name, request, askedAt, tookMs: Math.round(performance.now() - askedAt) };
}
