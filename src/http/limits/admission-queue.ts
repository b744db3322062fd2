/**
 * The admission queue: how many changes run at once, how many wait, and which are shed with 503 OVERLOADED, their bodies unread.
 *
 * More holds at once than a few commits can carry are no faster: they only make each pass of the event loop longer for everybody.
 * So new claims over a limit wait before their bodies are read, and a claim that has waited too long is shed.
 *
 * 1. A change is counted while its handler runs. A client that sends its body slowly is not counted yet (the receive timeout
 *    limits it), and reads are answered in the tick in which they come.
 * 2. Claims and changes of holds wait, and so do searches for the best seats; here all of them are called claims. What gives
 *    something back or reports money is admitted at once. So is what calls a payment provider, such as a checkout without a hold:
 *    it would keep the place of a claim for seconds.
 * 3. Shedding costs a good part of what an answer costs, so that a service under ten times its load could do nothing else. While
 *    claims can be admitted, no more are shed than admitted; the others wait a little longer.
 * 4. A client that has hung up leaves the queue at once and its request is not read.
 * 5. The seconds in Retry-After differ, so that clients shed together do not come back together.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify';
import { stopwatchMs } from '#actors/clock.ts';
import { Overloaded, waitsForAdmission } from '#actors/admission.ts';
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

/** Claims shed in one pass even when none can be admitted, so that clients soon learn of a disk that stands still. */
const SHED_A_PASS_MIN = 64;

/** Between two passes over the queue while no claim ends. */
const PASS_EVERY_MS = 20;

export interface AdmissionLimits {
  /** Changes that run or wait in the whole process; over it the answer is 503 at once. */
  readonly inFlightRequestsMax: number;
  /** Claims that run; others wait. */
  readonly claimsAtOnceMax: number;
  /** How long a claim waits before it may be shed. */
  readonly claimWaitMsMax: number;
}

/** Whether a route of these methods only reads. */
export function isReading(method: string | readonly string[]): boolean {
  return [method].flat().every((each) => READING.has(each));
}

export interface Admission {
  /** Changes whose handlers run. */
  readonly changesUnderWay: number;
}

/** Limits the changes of the routes that are added to the app from here on. */
export function installAdmission(
  app: FastifyInstance,
  limits: AdmissionLimits,
  { health, metrics }: { readonly health: HealthPort; readonly metrics: Pick<Metrics, 'watchInUse'> },
): Admission {
  let underWay = 0;
  const shed = createShedding();
  const queue = new ClaimQueue(limits, shed);
  metrics.watchInUse('changes_under_way', () => underWay);
  metrics.watchInUse('claims_at_work', () => queue.running);
  metrics.watchInUse('claims_in_line', () => queue.length);
  app.addHook('onRoute', (route) => {
    if (isReading(route.method)) return;
    const isClaim = isClaiming(route);
    const handle = route.handler;
    const counted: RouteHandlerMethod = async function (request, reply) {
      if (health.draining) throw new Overloaded('the service is stopping', RETRY_AFTER_SECONDS);
      if (underWay >= limits.inFlightRequestsMax) {
        throw new Overloaded('too many requests are under way', RETRY_AFTER_SECONDS);
      }
      underWay += 1;
      if (isClaim) queue.begin();
      try {
        return await handle.call(this, request, reply);
      } finally {
        underWay -= 1;
        if (isClaim) queue.end();
      }
    };
    route.handler = counted;
    const admit = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      if (health.draining || underWay + queue.length >= limits.inFlightRequestsMax) shed(reply);
      else if (isClaim) queue.join({ request, reply, admit: done, since: stopwatchMs(), hasLeft: false });
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

/** Makes the function that answers 503, with one of a few values of Retry-After (5). */
function createShedding(): (reply: FastifyReply) => void {
  let shed = 0;
  return (reply) => {
    shed += 1;
    reply.header('retry-after', 1 + (shed % RETRY_AFTER_SECONDS_MAX)).fail('OVERLOADED');
  };
}

// ── the queue ────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Claim {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly since: number;
  /** Whether the client has hung up meanwhile. */
  hasLeft: boolean;
  admit(): void;
}

interface WaitingClaim {
  readonly claim: Claim;
  /** Stops watching for the client to hang up. */
  readonly forget: () => void;
}

class ClaimQueue {
  readonly #limits: AdmissionLimits;
  readonly #shed: (reply: FastifyReply) => void;
  readonly #claims = createFifo();
  #running = 0;
  #waiting = 0;
  /** Admitted since the last pass; the handlers of most of them begin before the next one. */
  #justAdmitted = 0;
  #isPassDue = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(limits: AdmissionLimits, shed: (reply: FastifyReply) => void) {
    this.#limits = limits;
    this.#shed = shed;
  }

  /** Claims that wait and whose clients are still there. */
  get length(): number {
    return this.#waiting;
  }

  /** Claims whose handlers run. */
  get running(): number {
    return this.#running;
  }

  /** Admits a claim at once, or makes it wait. */
  join(claim: Claim): void {
    this.#passSoon();
    if (this.#waiting > 0 || !this.#hasPlace()) return this.#wait(claim);
    this.#justAdmitted += 1;
    claim.admit();
  }

  /** The handler of a claim begins. */
  begin(): void {
    this.#running += 1;
  }

  /** The handler of a claim has ended. */
  end(): void {
    this.#running -= 1;
    if (this.#waiting > 0) this.#passSoon();
  }

  #hasPlace(): boolean {
    return this.#running + this.#justAdmitted < this.#limits.claimsAtOnceMax;
  }

  #wait(claim: Claim): void {
    this.#waiting += 1;
    const forget = whenGone(claim.request.raw.socket, () => {
      claim.hasLeft = true;
      this.#waiting -= 1;
      claim.reply.hijack();
    });
    this.#claims.push({ claim, forget });
  }

  /** Admits and sheds from the front of the queue. */
  #pass(): void {
    this.#isPassDue = false;
    this.#justAdmitted = 0;
    let admitted = 0;
    let shed = 0;
    const now = stopwatchMs();
    for (let first = this.#claims.first; first !== undefined; first = this.#claims.first) {
      const { claim, forget } = first;
      if (claim.hasLeft) {
        this.#claims.shift();
        continue;
      }
      const hasPlace = this.#hasPlace();
      const isLate = now - claim.since > this.#limits.claimWaitMsMax;
      const isShed = isLate && shed < (hasPlace ? admitted : Math.max(admitted, SHED_A_PASS_MIN));
      if (!isShed && !hasPlace) break;
      this.#claims.shift();
      forget();
      this.#waiting -= 1;
      if (isShed) {
        shed += 1;
        this.#shed(claim.reply);
      } else {
        admitted += 1;
        this.#justAdmitted += 1;
        claim.admit();
      }
    }
    if (admitted > 0) this.#passSoon();
    else if (this.#waiting > 0) this.#passLater();
  }

  #passSoon(): void {
    if (this.#isPassDue) return;
    this.#isPassDue = true;
    // Immediates run when the loop has read all sockets that were ready.
    setImmediate(() => this.#pass());
  }

  #passLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#pass();
    }, PASS_EVERY_MS);
  }
}

/** First in, first out, without moving all the others at each step. */
function createFifo() {
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
