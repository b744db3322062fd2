/**
 * The engine as a thread that answers requests sees it: every event, the keys of personal data and the payment service
 * are reached by calls to the engine's thread.
 *
 * 1. The id of an event, and the number in other ids, lead to it for ever, so that what was found once is not looked
 *    for again. A slug may move with a definition; what is known of slugs is forgotten with the next one.
 * 2. What is remembered is bounded (I10).
 * 3. The same read of several requests is one call until it is published: many buyers look at one event. A call that
 *    may have been answered is never shared, because a request must not see less than what happened before it.
 */
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { stepChannel, type StepMessage } from '#actors/channels.ts';
import { stopwatchMs } from '#actors/clock.ts';
import type { EventFinder, EventPort, Found } from '#actors/event-port.ts';
import type { Command } from '#domain/command.ts';
import type { PaymentProviderName } from '#domain/catalogue/definition.ts';
import { Slots } from '#domain/collections/slots.ts';
import type { Query } from '#domain/event/query.ts';
import { eventNumberOf } from '#domain/ids.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { PaymentView } from '#domain/view.ts';
import type { Deployment, DeploymentState } from '#engine/deployment.ts';
import { settleBy, type PackedAnswer } from '#engine/packed-answers.ts';
import { ProviderUnavailable } from '#payments/provider.ts';
import type { PaymentService } from '#payments/service.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { packCommand, unpackReply } from './packed-rush.ts';
import type { AnswerOf, ArgsOf, ProviderAnswer, ServiceName, StepTimes, ThreadCall, Unavailable } from './calls.ts';

/** Calls that wait for an answer: several times the changes that may be under way, and reads beside them. */
const CALLS_MAX = 50_000;

/** Rule 2. */
const FOUND_MAX = 10_000;

/** Stands for the busy providers of a command until the engine's thread puts them in. */
const BUSY_THERE: readonly PaymentProviderName[] = Object.freeze([]);

export interface EngineCallsPorts {
  /** Sends a call; one that is alone need not wait for others. */
  send(number: number, text: string, isAlone: boolean): void;
  /** How often calls were published: a call is not read by the other side before this has grown. */
  readonly publications: () => number;
  /** Grows with every definition; null where nobody says so, because other nodes define events too. */
  readonly definitions: () => number | null;
  /** Whether it is published how long the steps of each call took. */
  readonly isTiming: boolean;
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  /** How long its steps took, where the answer says so. */
  times: StepTimes | undefined;
}

export class EngineCalls {
  readonly #ports: EngineCallsPorts;
  readonly #waiting = new Slots<Waiting>();
  readonly #found = new Map<string, EventPort>();
  #slugs = new Map<string, EventPort>();
  /** The definitions that `#slugs` knows of. */
  #slugsAsOf: number | null = null;
  /** Rule 3: answers to reads that were not published when there were `#readsAsOf` publications, by their texts. */
  readonly #reads = new Map<string, Promise<unknown>>();
  #readsAsOf = 0;
  /** The sessions of payments that were opened with their commands, as packed answers. */
  readonly #opened = new WeakMap<PaymentView, string>();

  constructor(ports: EngineCallsPorts) {
    this.#ports = ports;
  }

  /** An answer that came. */
  take(number: number, text: string): void {
    const waiting = this.#waiting.take(number);
    if (waiting !== undefined) waiting.times = settleText(text, waiting.resolve, waiting.reject);
  }

  #call(call: ThreadCall): Promise<unknown> {
    return this.#send(JSON.stringify(call));
  }

  #send(text: string): Promise<unknown> {
    if (this.#waiting.size >= CALLS_MAX)
      return Promise.reject(new Overloaded('too many requests wait', RETRY_AFTER_SECONDS));
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const waiting: Waiting = { resolve, reject, times: undefined };
    this.#ports.send(this.#waiting.add(waiting), text, this.#waiting.size === 1);
    return this.#ports.isTiming ? publishTimes(promise, waiting) : promise;
  }

  /** Rule 3, except where each call has times of its own, and where the call is refused. */
  #read(call: Extract<ThreadCall, { readonly kind: 'query' }>): Promise<unknown> {
    const text = JSON.stringify(call);
    if (this.#ports.isTiming || this.#waiting.size >= CALLS_MAX) return this.#send(text);
    const publications = this.#ports.publications();
    if (publications !== this.#readsAsOf) this.#reads.clear();
    this.#readsAsOf = publications;
    let answering = this.#reads.get(text);
    if (answering === undefined) this.#reads.set(text, (answering = this.#send(text)));
    return answering;
  }

  ask<Name extends ServiceName>(name: Name, args: ArgsOf<Name>): Promise<AnswerOf<Name>> {
    return unlessUnavailable(this.#call({ kind: 'service', name, args })) as Promise<AnswerOf<Name>>;
  }

  // ── events ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  readonly events: EventFinder & Pick<Deployment['events'], 'list'> = {
    byEventId: (eventId) => this.#find(this.#found, `event ${eventId}`, ['event', eventId]),
    bySlug: (slug) => this.#find(this.#currentSlugs(), slug, ['slug', slug]),
    byId: (prefix, id) => {
      const eventNumber = eventNumberOf(prefix, id);
      return eventNumber === null ? null : this.#find(this.#found, `number ${eventNumber}`, [prefix, id]);
    },
    list: (page) => this.ask('list', page),
  };

  #find(known: Map<string, EventPort>, key: string, args: ArgsOf<'find'>): Found {
    return known.get(key) ?? this.#look(known, key, args);
  }

  async #look(known: Map<string, EventPort>, key: string, args: ArgsOf<'find'>): Promise<EventPort | null> {
    const eventId = await this.ask('find', args);
    if (eventId === null) return null;
    const event = this.#eventOf(eventId);
    if (known.size >= FOUND_MAX) known.clear();
    known.set(key, event);
    return event;
  }

  /** Rule 1. */
  #currentSlugs(): Map<string, EventPort> {
    const definitions = this.#ports.definitions();
    if (definitions === null || definitions !== this.#slugsAsOf) this.#slugs = new Map();
    this.#slugsAsOf = definitions;
    return this.#slugs;
  }

  #eventOf(eventId: string): EventPort {
    return {
      eventId,
      execute: (command) => {
        const packed = packCommand(eventId, command as Command);
        if (packed !== null) return this.#send(packed) as never;
        const callsProvider = 'busyProviders' in command && command.busyProviders === BUSY_THERE;
        const call = { kind: 'command', eventId, command: command as Command } as const;
        return (callsProvider ? this.#callProvider(call) : this.#call(call)) as never;
      },
      read: (query) => this.#read({ kind: 'query', eventId, query: query as Query }) as never,
    };
  }

  async #callProvider(call: Extract<ThreadCall, { readonly kind: 'command' }>): Promise<ProviderAnswer['reply']> {
    const { reply, session } = (await this.#call({ ...call, callsProvider: true })) as ProviderAnswer;
    if (session !== null && !isRefusal(reply)) this.#opened.set(reply.payment!, session);
    return reply;
  }

  // ── what is no event ───────────────────────────────────────────────────────────────────────────────────────────────

  readState(): Promise<DeploymentState> {
    return this.ask('state', null);
  }

  advanceClock(seconds: number): Promise<number | null> {
    return this.ask('advanceClock', seconds);
  }

  readonly personalData = new PersonalDataReader({
    read: async (ids) =>
      new Map((await this.ask('keys', ids)).map(([id, key]) => [id, Buffer.from(key, 'base64')] as const)),
  });

  readonly checkoutSessions: Pick<PaymentService['checkoutSessions'], 'inTime' | 'openSession'> = {
    inTime: (_found, execute) => execute({ busyProviders: BUSY_THERE }),
    openSession: (payable) => {
      const session = this.#opened.get(payable.payment);
      if (session === undefined) return this.ask('openSession', payable);
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      settleText(session, resolve, reject);
      return unlessUnavailable(promise) as Promise<AnswerOf<'openSession'>>;
    },
  };

  readonly webhooks: PaymentService['webhooks'] = {
    receive: (...delivery) => this.ask('receiveWebhook', delivery),
  };

  readonly sandbox = {
    find: (id: string): Promise<AnswerOf<'findSession'>> => this.ask('findSession', id),
    settle: (settlement: ArgsOf<'settleSession'>): Promise<AnswerOf<'settleSession'>> =>
      this.ask('settleSession', settlement),
    chooseRefunds: async (...chosen: ArgsOf<'chooseRefunds'>) => void (await this.ask('chooseRefunds', chosen)),
    listRefunds: () => this.ask('listRefunds', null),
    settleRefund: (...settlement: ArgsOf<'settleRefund'>) => this.ask('settleRefund', settlement),
    simulateOutage: async (...outage: ArgsOf<'simulateOutage'>) => new Map(await this.ask('simulateOutage', outage)),
  };
}

/** Settles a promise by a packed answer; returns how long its steps took, where the answer says so. */
function settleText(
  text: string,
  resolve: (answer: unknown) => void,
  reject: (error: Error) => void,
): StepTimes | undefined {
  const [kind, content, times] = JSON.parse(`[${text}`) as [...PackedAnswer, StepTimes?];
  const reply = unpackReply(kind, content);
  if (reply !== null) resolve(reply);
  else settleBy([kind, content] as PackedAnswer, "the engine's thread failed", resolve, reject);
  return times;
}

/** Publishes how long the steps of a call took, in the asynchronous context of who called. */
async function publishTimes(answering: Promise<unknown>, waiting: Waiting): Promise<unknown> {
  const begin = stopwatchMs();
  try {
    return await answering;
  } finally {
    const { turn, disk } = waiting.times ?? { turn: 0, disk: 0 };
    const steps = { turn, disk, handover: Math.max(0, stopwatchMs() - begin - turn - disk) };
    for (const [step, ms] of Object.entries(steps) as [StepMessage['step'], number][])
      if (ms > 0) stepChannel.publish({ step, ms } satisfies StepMessage);
  }
}

/** The answer, unless it says that the payment provider cannot be reached. */
async function unlessUnavailable(answering: Promise<unknown>): Promise<unknown> {
  const answer = await answering;
  const { outcome, message, isRefusal } = (answer ?? {}) as Partial<Unavailable>;
  if (outcome !== 'PROVIDER_UNAVAILABLE') return answer;
  throw new ProviderUnavailable(message ?? '', undefined, isRefusal);
}
