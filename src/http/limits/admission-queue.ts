/**
 * The admission queue: how many changes run at once, how many wait, and which are shed with 503 OVERLOADED, their
 * bodies unread.
 *
 * More holds at once than a few commits can carry are no faster: they only make each pass of the event loop longer for
 * everybody. So requests over a limit wait before their bodies are read, and one that has waited too long is shed.
 *
 * 1. A change is counted while its handler runs. A client that sends its body slowly is not counted yet (the receive
 *    timeout limits it), and reads are answered in the tick in which they come.
 * 2. Requests that place or change a hold wait, and so do searches for the best seats. What gives something back or
 *    reports money is admitted at once. So is what calls a payment provider, such as a checkout without a hold: it
 *    would keep a request of the queue from running for seconds.
 *    Scans at doors are not shed for what others do: their stations are few, and each has a pace of its own.
 * 3. Shedding costs a good part of what an answer costs, so that a service under ten times its load could do nothing
 *    else. While requests can be admitted, no more are shed than admitted; the others wait a little longer.
 * 4. A client that has hung up leaves the queue at once and its request is not read.
 * 5. The seconds in Retry-After differ, so that clients shed together do not come back together.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify';
import { stopwatchMs } from '#actors/clock.ts';
import { isOfDoor, Overloaded, waitsForAdmission } from '#actors/admission.ts';
import { whenGone } from './connections.ts';
import type { DeploymentPort, RequestMetrics, UseCount } from '../ports.ts';
import { fail } from '../protocol/errors.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

const RETRY_AFTER_SECONDS = 1;
const RETRY_AFTER_SECONDS_MAX = 3;

/** Requests shed in one pass even when none can be admitted, so that clients soon learn of a disk that stands still. */
const SHED_A_PASS_MIN = 64;

/** The time between two passes over the queue while no admitted request ends. */
const PASS_EVERY_MS = 20;

interface AdmissionLimits {
  /** Changes that run or wait in the whole process; over it the answer is 503 at once. */
  readonly inFlightRequestsMax: number;
  /** Requests of the queue that run; others wait. */
  readonly runningRequestsMax: number;
  /** How long a request waits before it may be shed. */
  readonly admissionWaitMsMax: number;
}

/** Whether a route of these methods only reads. */
export function isReading(method: string | readonly string[]): boolean {
  return [method].flat().every((each) => READING.has(each));
}

interface Admission {
  /** Changes whose handlers run. */
  readonly changesUnderWay: number;
}

/**
 * Limits the changes of the routes that are added to the app from here on; those of operators do not wait in the queue.
 */
export function installAdmission(
  app: FastifyInstance,
  limits: AdmissionLimits,
  {
    deployment,
    metrics,
  }: { readonly deployment: DeploymentPort; readonly metrics: Pick<RequestMetrics, 'countInUse'> },
  isBuyers: boolean,
): Admission {
  const underWay = metrics.countInUse('changes_under_way');
  const inLine = metrics.countInUse('claims_in_line');
  const shed = createShedding();
  const queue = new AdmissionQueue(limits, shed, metrics.countInUse('claims_at_work'), inLine);
  app.addHook('onRoute', (route) => {
    if (isReading(route.method)) return;
    const isQueued = isBuyers && waitsInQueue(route);
    const isScan = route.config?.command !== undefined && isOfDoor(route.config.command);
    const handle = route.handler;
    const counted: RouteHandlerMethod = async function (request, reply) {
      if (deployment.isStopping) throw new Overloaded('the service is stopping', RETRY_AFTER_SECONDS);
      if (!isScan && underWay.total >= limits.inFlightRequestsMax) {
        throw new Overloaded('too many requests are under way', RETRY_AFTER_SECONDS);
      }
      underWay.set(underWay.own + 1);
      if (isQueued) queue.begin();
      try {
        return await handle.call(this, request, reply);
      } finally {
        underWay.set(underWay.own - 1);
        if (isQueued) queue.end();
      }
    };
    route.handler = counted;
    const admit = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      const isFull = !isScan && underWay.total + inLine.total >= limits.inFlightRequestsMax;
      if (deployment.isStopping || isFull) shed(reply);
      else if (isQueued) queue.join({ request, reply, admit: done, since: stopwatchMs(), hasLeft: false });
      else done();
    };
    route.onRequest = [...[route.onRequest ?? []].flat(), admit];
  });
  return {
    get changesUnderWay() {
      return underWay.own;
    },
  };
}

/** Whether the requests of a buyers' route wait for admission, by the table that the actors use too. */
function waitsInQueue({ config }: RouteOptions): boolean {
  return config?.command !== undefined && waitsForAdmission(config.command);
}

/** Makes the function that answers 503, with one of a few values of Retry-After (rule 5). */
function createShedding(): (reply: FastifyReply) => void {
  let shed = 0;
  return (reply) => {
    shed += 1;
    reply.header('retry-after', 1 + (shed % RETRY_AFTER_SECONDS_MAX)).refuse(fail('OVERLOADED'));
  };
}

// ── the queue ────────────────────────────────────────────────────────────────────────────────────────────────────────

interface WaitingRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly since: number;
  /** Whether the client has hung up meanwhile. */
  hasLeft: boolean;
  admit(): void;
}

interface QueuedRequest {
  readonly waiting: WaitingRequest;
  /** Stops watching for the client to hang up. */
  readonly forget: () => void;
}

class AdmissionQueue {
  readonly #limits: AdmissionLimits;
  readonly #shed: (reply: FastifyReply) => void;
  readonly #requests = createFifo();
  /** Admitted requests whose handlers run. */
  readonly #running: UseCount;
  /** Requests that wait and whose clients are still there. */
  readonly #waiting: UseCount;
  /** Admitted since the last pass; the handlers of most of them begin before the next one. */
  #justAdmitted = 0;
  #isPassDue = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(limits: AdmissionLimits, shed: (reply: FastifyReply) => void, running: UseCount, waiting: UseCount) {
    this.#limits = limits;
    this.#shed = shed;
    this.#running = running;
    this.#waiting = waiting;
  }

  /** Admits a request at once, or makes it wait. */
  join(waiting: WaitingRequest): void {
    this.#passSoon();
    if (this.#waiting.own > 0 || !this.#hasPlace()) return this.#wait(waiting);
    this.#justAdmitted += 1;
    waiting.admit();
  }

  /** The handler of an admitted request begins. */
  begin(): void {
    this.#running.set(this.#running.own + 1);
  }

  /** The handler of an admitted request has ended. */
  end(): void {
    this.#running.set(this.#running.own - 1);
    if (this.#waiting.own > 0) this.#passSoon();
  }

  #hasPlace(): boolean {
    return this.#running.total + this.#justAdmitted < this.#limits.runningRequestsMax;
  }

  #wait(waiting: WaitingRequest): void {
    this.#noteWaiting(1);
    const forget = whenGone(waiting.request.raw.socket, () => {
      waiting.hasLeft = true;
      this.#noteWaiting(-1);
      waiting.reply.hijack();
    });
    this.#requests.push({ waiting, forget });
  }

  /** Admits and sheds from the front of the queue. */
  #pass(): void {
    this.#isPassDue = false;
    this.#justAdmitted = 0;
    let admitted = 0;
    let shed = 0;
    const now = stopwatchMs();
    for (let first = this.#requests.first; first !== undefined; first = this.#requests.first) {
      const { waiting, forget } = first;
      if (waiting.hasLeft) {
        this.#requests.shift();
        continue;
      }
      const hasPlace = this.#hasPlace();
      const isLate = now - waiting.since > this.#limits.admissionWaitMsMax;
      const isShed = isLate && shed < (hasPlace ? admitted : Math.max(admitted, SHED_A_PASS_MIN));
      if (!isShed && !hasPlace) break;
      this.#requests.shift();
      forget();
      this.#noteWaiting(-1);
      if (isShed) {
        shed += 1;
        this.#shed(waiting.reply);
      } else {
        admitted += 1;
        this.#justAdmitted += 1;
        waiting.admit();
      }
    }
    if (admitted > 0) this.#passSoon();
    else if (this.#waiting.own > 0) this.#passLater();
  }

  #noteWaiting(by: number): void {
    this.#waiting.set(this.#waiting.own + by);
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

/** A queue, first in, first out; taking the first does not move the others. */
function createFifo() {
  let queued: (QueuedRequest | undefined)[] = [];
  let head = 0;
  return {
    get length() {
      return queued.length - head;
    },
    get first() {
      return queued[head];
    },
    push(request: QueuedRequest): void {
      queued.push(request);
    },
    shift(): void {
      queued[head] = undefined;
      head += 1;
      if (head * 2 < queued.length) return;
      queued = queued.slice(head);
      head = 0;
    },
  };
}
