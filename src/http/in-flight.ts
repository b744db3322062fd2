/**
 * How many changes are under way at once: some at work, some in line, and the others answered 503 OVERLOADED, their bodies unread.
 *
 * More holds at work than a few commits can carry make nobody faster: they only make one pass of the event loop long, and
 * everybody waits for its end. So new claims beyond a number wait in line, cheaply, before their bodies are read; who has
 * waited too long is told to come back. Called by `server.ts`, before the routes are added.
 *
 *  1. Changes are counted around their handlers: a client that sends its body slowly is not under way yet (the receive timeout
 *     bounds it), and reads are answered in the turn of the loop in which they come.
 *  2. New claims alone wait in line. What gives something back, goes on to pay or tells of money goes past it; what waits for a
 *     payment provider takes nobody's place.
 *  3. A no costs a good part of a yes, so a house that is asked ten times too much could spend all its time on saying no.
 *     While there is work to do no more are turned away than are let in; the others wait a little longer.
 *  4. Who has hung up leaves the line at once and is not heard.
 *  5. The seconds after which to come back differ, so that not all who were turned away together come back together.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify';
import { stopwatchMs } from '#actors/clock.ts';
import { waitsForAdmission } from '#actors/admission.ts';
import { Overloaded } from '#actors/overloaded.ts';
import type { CommandType } from '#domain/command.ts';
import { whenGone } from './connections.ts';
import type { HealthPort, Metrics } from './ports.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What a buyer's route executes. A search for the best seats is a query, but costs as much as the hold that follows it. */
export const COMMAND_BY_ROUTE: Readonly<Record<string, CommandType>> = {
  'POST /api/events/public/:slug/seating/best-available': 'PlaceHold',
  'POST /api/checkout/holds': 'PlaceHold',
  'PATCH /api/checkout/holds/:id': 'ChangeHold',
  'DELETE /api/checkout/holds/:id': 'ReleaseHold',
  'POST /api/checkout/queue': 'JoinQueue',
  'DELETE /api/checkout/queue/:id': 'LeaveQueue',
  'POST /api/checkout/start': 'StartCheckout',
  'POST /api/checkout/orders/:order_id/payments': 'OpenPayment',
};

const RETRY_AFTER_SECONDS = 1;
const RETRY_AFTER_SECONDS_MAX = 3;

/** Turned away in one look at the line even when nobody can be let in: so a disk that stands still is told within moments. */
const TURNED_AWAY_MIN = 64;
/** Between two looks at the line while nobody leaves. */
const LOOK_EVERY_MS = 20;

export interface InFlightBounds {
  /** Changes at work or in line in the whole process; over it the answer is 503 at once. */
  readonly inFlightRequestsMax: number;
  /** Claims at work; those beyond wait in line. */
  readonly claimsAtOnceMax: number;
  /** How long a claim waits in line before it may be turned away. */
  readonly claimWaitMsMax: number;
}

/** Whether a route of these methods only reads. */
export function isReading(method: string | readonly string[]): boolean {
  return [method].flat().every((each) => READING.has(each));
}

export interface InFlight {
  /** Changes whose handlers are at work. */
  readonly changesUnderWay: number;
}

/** Bounds the routes that are added to the app from here on. */
export function boundInFlight(
  app: FastifyInstance,
  bounds: InFlightBounds,
  { health, metrics }: { readonly health: HealthPort; readonly metrics: Pick<Metrics, 'watchInUse'> },
): InFlight {
  let underWay = 0;
  const turnAway = makeRefuser();
  const line = formLine(bounds, turnAway);
  metrics.watchInUse('changes_under_way', () => underWay);
  metrics.watchInUse('claims_at_work', () => line.atWork);
  metrics.watchInUse('claims_in_line', () => line.length);
  app.addHook('onRoute', (route) => {
    if (isReading(route.method)) return;
    const isClaim = isClaiming(route);
    const handle = route.handler;
    const bounded: RouteHandlerMethod = async function (request, reply) {
      if (health.draining) throw new Overloaded('the service is stopping', RETRY_AFTER_SECONDS);
      if (underWay >= bounds.inFlightRequestsMax) {
        throw new Overloaded('too many requests are under way', RETRY_AFTER_SECONDS);
      }
      underWay += 1;
      if (isClaim) line.begin();
      try {
        return await handle.call(this, request, reply);
      } finally {
        underWay -= 1;
        if (isClaim) line.end();
      }
    };
    route.handler = bounded;
    const admit = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      if (health.draining || underWay + line.length >= bounds.inFlightRequestsMax) turnAway(reply);
      else if (isClaim) line.join({ request, reply, letIn: done, since: stopwatchMs(), hasLeft: false });
      else done();
    };
    route.onRequest = [...[route.onRequest ?? []].flat(), admit];
  });
  return {
    get changesUnderWay() {
      return underWay;
    },
  };
}

/** Whether the requests of a route wait for admission, by the table that the actors use too. */
function isClaiming({ method, url }: RouteOptions): boolean {
  const command = COMMAND_BY_ROUTE[`${[method].flat().join()} ${url}`];
  return command !== undefined && waitsForAdmission(command);
}

/** Answers 503 with one of a few times to come back (5). */
function makeRefuser(): (reply: FastifyReply) => void {
  let turnedAway = 0;
  return (reply) => {
    turnedAway += 1;
    reply.header('retry-after', 1 + (turnedAway % RETRY_AFTER_SECONDS_MAX)).fail('OVERLOADED');
  };
}

// ── the line ─────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Claim {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly since: number;
  /** Whether its client has hung up while it stood in line. */
  hasLeft: boolean;
  letIn(): void;
}

interface WaitingClaim {
  readonly claim: Claim;
  /** The claim leaves the line for another reason than its client's leaving. */
  readonly forget: () => void;
}

interface Line {
  /** Claims in line whose clients are still there. */
  readonly length: number;
  readonly atWork: number;
  /** Lets a claim in at once, or makes it wait. */
  join(claim: Claim): void;
  /** A claim is at work. */
  begin(): void;
  /** A claim is done. */
  end(): void;
}

function formLine({ claimsAtOnceMax, claimWaitMsMax }: InFlightBounds, turnAway: (reply: FastifyReply) => void): Line {
  const queue = newQueue();
  let atWork = 0;
  let waiting = 0;
  /** Let in since the last look; most of them are at work by the next one. */
  let onTheWay = 0;
  let isLookDue = false;
  let timer: NodeJS.Timeout | null = null;

  const hasRoom = (): boolean => atWork + onTheWay < claimsAtOnceMax;
  const look = (): void => {
    isLookDue = false;
    onTheWay = 0;
    let letIn = 0;
    let sentAway = 0;
    const now = stopwatchMs();
    for (let first = queue.first; first !== undefined; first = queue.first) {
      const { claim, forget } = first;
      if (claim.hasLeft) {
        queue.shift();
        continue;
      }
      const mayBeSentAway =
        now - claim.since > claimWaitMsMax && sentAway < (hasRoom() ? letIn : Math.max(letIn, TURNED_AWAY_MIN));
      if (!mayBeSentAway && !hasRoom()) break;
      queue.shift();
      forget();
      waiting -= 1;
      if (mayBeSentAway) {
        sentAway += 1;
        turnAway(claim.reply);
      } else {
        letIn += 1;
        onTheWay += 1;
        claim.letIn();
      }
    }
    if (letIn > 0) lookSoon();
    else if (waiting > 0) lookLater();
  };
  const lookSoon = (): void => {
    if (isLookDue) return;
    isLookDue = true;
    // Immediates run when the loop has read all sockets that were ready.
    setImmediate(look);
  };
  const lookLater = (): void => {
    timer ??= setTimeout(() => {
      timer = null;
      look();
    }, LOOK_EVERY_MS);
  };

  const wait = (claim: Claim): void => {
    waiting += 1;
    const forget = whenGone(claim.request.raw.socket, () => {
      claim.hasLeft = true;
      waiting -= 1;
      claim.reply.hijack();
    });
    queue.push({ claim, forget });
  };

  return {
    get length() {
      return waiting;
    },
    get atWork() {
      return atWork;
    },
    join(claim) {
      lookSoon();
      if (waiting > 0 || !hasRoom()) return wait(claim);
      onTheWay += 1;
      claim.letIn();
    },
    begin() {
      atWork += 1;
    },
    end() {
      atWork -= 1;
      if (waiting > 0) lookSoon();
    },
  };
}

/** First in, first out, without moving all the others at each step. */
function newQueue() {
  let claims: (WaitingClaim | undefined)[] = [];
  let head = 0;
  return {
    get length() {
      return claims.length - head;
    },
    get first() {
      return claims[head];
    },
    push(claim: WaitingClaim): void {
      claims.push(claim);
    },
    shift(): void {
      claims[head] = undefined;
      head += 1;
      if (head * 2 < claims.length) return;
      claims = claims.slice(head);
      head = 0;
    },
  };
}
