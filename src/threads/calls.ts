/**
 * What threads that answer requests ask of the engine's thread, and how it is answered there. All of it is plain data
 * that survives JSON.
 *
 * 1. Nothing is lost between threads, so a call has a number and no more: no repeats, no time limit, no kept answers.
 * 2. A command whose request goes on to a payment provider says so: only the engine's thread knows how busy each is.
 *    The session of its payment is opened there at once, so that it belongs to the first of requests that come
 *    together.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { stepChannel, type StepMessage } from '#actors/channels.ts';
import type { EventPort, Found, RushCommand } from '#actors/event-port.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import type { Command, CommandOf, Reply, ReplyTo } from '#domain/command.ts';
import type { Query } from '#domain/event/query.ts';
import type { PaymentProviderName } from '#domain/catalogue/definition.ts';
import type { IdPrefix } from '#domain/ids.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { Deployment, DeploymentState } from '#engine/deployment.ts';
import { packError, packValue } from '#engine/packed-answers.ts';
import { ProviderUnavailable } from '#payments/provider.ts';
import type { PaymentService } from '#payments/service.ts';
import { packReply, unpackCommand, type RushReply } from './packed-rush.ts';

type Sessions = PaymentService['checkoutSessions'];
type Sandbox = NonNullable<PaymentService['sandbox']>;
type Lists = Deployment['events'];

interface Service<Args, Answer> {
  readonly args: Args;
  readonly answer: Answer;
}

/** The names of services, what each is given and what it answers. */
interface Services {
  /** The id of the event that an id, a slug or an id of another kind names; null where there is none. */
  find: Service<readonly [by: 'event' | 'slug' | IdPrefix, key: string], string | null>;
  list: Service<Parameters<Lists['list']>[0], Awaited<ReturnType<Lists['list']>>>;
  state: Service<null, DeploymentState>;
  /** Keys of personal data, in base64. */
  keys: Service<readonly string[], readonly (readonly [id: string, key: string])[]>;
  advanceClock: Service<number, number | null>;
  openSession: Service<Parameters<Sessions['openSession']>[0], Awaited<ReturnType<Sessions['openSession']>>>;
  receiveWebhook: Service<
    Parameters<PaymentService['webhooks']['receive']>,
    Awaited<ReturnType<PaymentService['webhooks']['receive']>>
  >;
  findSession: Service<string, Awaited<ReturnType<Sandbox['find']>>>;
  settleSession: Service<Parameters<Sandbox['settle']>[0], Awaited<ReturnType<Sandbox['settle']>>>;
  chooseRefunds: Service<Parameters<Sandbox['chooseRefunds']>, null>;
  listRefunds: Service<null, Awaited<ReturnType<Sandbox['listRefunds']>>>;
  settleRefund: Service<Parameters<Sandbox['settleRefund']>, Awaited<ReturnType<Sandbox['settleRefund']>>>;
  simulateOutage: Service<
    Parameters<Sandbox['simulateOutage']>,
    readonly (readonly [name: PaymentProviderName, endsAt: number])[]
  >;
}

export type ServiceName = keyof Services;
export type ArgsOf<Name extends ServiceName> = Services[Name]['args'];
export type AnswerOf<Name extends ServiceName> = Services[Name]['answer'];

export type ThreadCall =
  | {
      readonly kind: 'command';
      readonly eventId: string;
      readonly command: Command;
      /** Rule 2. */
      readonly callsProvider?: true;
    }
  | { readonly kind: 'query'; readonly eventId: string; readonly query: Query }
  | { readonly kind: 'service'; readonly name: ServiceName; readonly args: unknown };

/** How long turns and disk took, in milliseconds; it stands at the end of an answer where times are shown. */
export type StepTimes = Record<'turn' | 'disk', number>;

/** The answer to a command whose request goes on to a provider (rule 2). */
export interface ProviderAnswer {
  readonly reply: ReplyTo<'OpenPayment'> | ReplyTo<'StartCheckout'> | ReplyTo<'AmendOrder'> | Refusal;
  /** The packed answer to the opening of its session; null where there is none to be opened. */
  readonly session: string | null;
}

/** In place of an answer: the payment provider cannot be reached. */
export interface Unavailable {
  readonly outcome: 'PROVIDER_UNAVAILABLE';
  readonly message: string;
  readonly isRefusal: boolean;
}

interface AnsweringPorts {
  readonly deployment: Pick<Deployment, 'events' | 'personalData' | 'serving'>;
  readonly payments: PaymentService;
  readonly readState: () => DeploymentState;
  /** The clock was moved: whoever uses it learns of that before the answer. */
  readonly onClockMoved?: () => void;
  /** Whether answers say how long turns and disk took. */
  readonly isTiming: boolean;
}

/** The text of a call, and what is to be done with the text of its answer: at once, or later. */
export interface TakenCall {
  readonly text: string;
  readonly done: (answer: string) => void;
}

/** Answers calls that came together, in their order. */
export type Answers = (calls: readonly TakenCall[]) => void;

export function createAnswers(ports: AnsweringPorts): Answers {
  const services = servicesOf(ports);
  const { events } = ports.deployment;
  const { checkoutSessions } = ports.payments;

  /**
   * Finding an event throws while events cannot be found yet; here it rejects, as for an event that cannot be
   * activated.
   */
  const find = (eventId: string): Found => {
    try {
      return events.byEventId(eventId);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  };
  const answer = (call: ThreadCall): Promise<unknown> => {
    if (call.kind === 'service') return services[call.name](call.args as never);
    const found = find(call.eventId);
    if (call.kind === 'query') return atEvent(found, (event) => event.read(call.query));
    const { command } = call;
    if (call.callsProvider !== true) return atEvent(found, (event) => event.execute(command));
    return executeAndOpen(found, command as CommandOf<'OpenPayment'>);
  };
  const executeAndOpen = async (found: Found, command: CommandOf<'OpenPayment'>): Promise<ProviderAnswer> => {
    const reply = await checkoutSessions.inTime(found, (busy) =>
      atEvent(found, (event) => event.execute<'OpenPayment'>({ ...command, ...busy })),
    );
    const isToOpen = !isRefusal(reply) && reply.payment?.checkoutSessionId === null;
    return { reply, session: isToOpen ? await packed(() => checkoutSessions.openSession(reply)) : null };
  };
  const executeRush = (found: Found, command: RushCommand): Promise<string> =>
    packed(() => atEvent(found, (event) => event.execute(command)), packReply);
  const answerText = (text: string): Promise<string> => {
    const rush = unpackCommand(text);
    if (rush === null) return packed(() => answer(JSON.parse(text) as ThreadCall));
    return executeRush(find(rush.eventId), rush.command);
  };
  if (ports.isTiming) {
    const answerTimed = timed(answerText);
    return (calls) => calls.forEach(({ text, done }) => void answerTimed(text).then(done));
  }
  return (calls) => {
    const rushes = calls.map(({ text }) => unpackCommand(text));
    const polls = pollsByEvent(rushes);
    for (const [index, { text, done }] of calls.entries()) {
      const rush = rushes[index]!;
      if (rush === null) {
        void answerText(text).then(done);
        continue;
      }
      const found = find(rush.eventId);
      if (found === null || found instanceof Promise || found.executeThen === undefined) {
        void executeRush(found, rush.command).then(done);
        continue;
      }
      const polled = polls.get(rush.eventId);
      if (polled !== undefined && polls.delete(rush.eventId)) found.foreseePolls?.(polled);
      const answered = (reply: Reply | Refusal): void => done(packReplyOrError(reply as RushReply | Refusal));
      found.executeThen(rush.command, answered, (error) => done(packError(error)));
    }
  };
}

/** The entries that commands poll, by the id of their event. */
function pollsByEvent(rushes: readonly ReturnType<typeof unpackCommand>[]): Map<string, string[]> {
  const polls = new Map<string, string[]>();
  for (const rush of rushes) {
    if (rush?.command.type !== 'PollQueue') continue;
    const polled = polls.get(rush.eventId);
    if (polled === undefined) polls.set(rush.eventId, [rush.command.entryId]);
    else polled.push(rush.command.entryId);
  }
  return polls;
}

/** A defect of one answer is that answer's alone. */
function packReplyOrError(reply: RushReply | Refusal): string {
  try {
    return packReply(reply);
  } catch (error) {
    return packError(error);
  }
}

/** Adds to each answer how long the steps of its call took; steps find their call by its asynchronous context. */
function timed(answer: (text: string) => Promise<string>): (text: string) => Promise<string> {
  const current = new AsyncLocalStorage<StepTimes>();
  stepChannel.subscribe((message) => {
    const { step, ms } = message as StepMessage;
    const times = current.getStore();
    if (times !== undefined && step !== 'handover') times[step] += ms;
  });
  return async (text) => {
    const times: StepTimes = { turn: 0, disk: 0 };
    const packedAnswer = await current.run(times, () => answer(text));
    return `${packedAnswer.slice(0, -1)},${JSON.stringify(times)}]`;
  };
}

async function packed<Answer>(
  answer: () => Promise<Answer>,
  pack: (answer: Answer) => string = packValue,
): Promise<string> {
  try {
    return pack(await answer());
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) return packError(error);
    const { message, isRefusal } = error;
    return packValue({ outcome: 'PROVIDER_UNAVAILABLE', message, isRefusal } satisfies Unavailable);
  }
}

/** The caller has found the event before; it may have been forgotten since, where its first definition was refused. */
function atEvent<Answer>(found: Found, work: (event: EventPort) => Promise<Answer>): Promise<Answer> {
  if (found instanceof Promise) return found.then((event) => atEvent(event, work));
  if (found !== null) return work(found);
  return Promise.reject(new Overloaded('the event is not there any more', RETRY_AFTER_SECONDS));
}

type Handlers = { readonly [Name in ServiceName]: (args: ArgsOf<Name>) => Promise<AnswerOf<Name>> };

function servicesOf({ deployment, payments, readState, onClockMoved }: AnsweringPorts): Handlers {
  const { events, personalData } = deployment;
  const { checkoutSessions, webhooks, sandbox } = payments;
  return {
    async find([by, key]) {
      const found = by === 'event' ? events.byEventId(key) : by === 'slug' ? events.bySlug(key) : events.byId(by, key);
      return (await found)?.eventId ?? null;
    },
    list: (page) => events.list(page),
    state: async () => readState(),
    async keys(ids) {
      const keys = await personalData.readKeys(ids);
      return [...keys].map(([id, key]) => [id, key.toString('base64')]);
    },
    async advanceClock(seconds) {
      const now = await deployment.serving().advanceClock(seconds);
      onClockMoved?.();
      return now;
    },
    openSession: (payable) => checkoutSessions.openSession(payable),
    receiveWebhook: (delivery) => webhooks.receive(...delivery),
    findSession: (id) => sandbox!.find(id),
    settleSession: (settlement) => sandbox!.settle(settlement),
    async chooseRefunds(chosen) {
      await sandbox!.chooseRefunds(...chosen);
      return null;
    },
    listRefunds: () => sandbox!.listRefunds(),
    settleRefund: (settlement) => sandbox!.settleRefund(...settlement),
    simulateOutage: async (outage) => [...sandbox!.simulateOutage(...outage)],
  };
}
