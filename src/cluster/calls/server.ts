/**
 * Answers the calls of other nodes at the shards that this node owns.
 *
 * 1. Answers leave as each is ready, those that are ready together in one message.
 * 2. A call that comes again under its number, because a message was lost, is not started again while it is under way.
 * 3. A command that comes again under its id is answered with the answer it had: it is kept until its sender says that
 *    it came, or for a while. A command that was not accepted is not kept, and one that took effect is found in the
 *    shard's log as well.
 * 4. A shard that is given up still answers the calls that it has taken. Calls that come later are answered with Moved
 *    for a while.
 * 5. So many calls may be under way, and so many answers kept (I10).
 */
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { packValue } from '#engine/packed-answers.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import { Moved, type Call, type CallHandler } from './shard-calls.ts';
import { subjects, targetOf } from './forwarding.ts';
import {
  ITEM_CHARS_MAX,
  MessageBatch,
  partsOf,
  PartsInbox,
  readCalls,
  writeAnswer,
  writeAnswers,
  writeError,
  type NumberedCall,
} from './wire.ts';
import type { Bus, BusMessage } from './bus.ts';

/** Calls of all other nodes that may be under way here: each waits for its turn or for the shard's log. */
const SERVED_CALLS_MAX = 20_000;

/** Answers of commands that one shard keeps (rule 3); an ordinary one has 1 KB. */
const KEPT_ANSWERS_MAX = 10_000;

/** How long an answer is repeated: longer than most calls are tried, and several times RESEND_MS. */
const KEPT_MS = 15_000;

/** How long a shard that was given up answers with Moved (rule 4): until every node has heard of it. */
const MOVED_MS = 1_000;

interface CallServerPorts {
  readonly bus: Bus;
  readonly time: Timing;
  /** The prefix of all subjects. */
  readonly cluster: string;
  readonly handle: CallHandler;
  readonly callsMax?: number;
  readonly keptMax?: number;
}

/** A command that was started. */
interface Started {
  /** When it was started, then when it was answered. */
  since: number;
  /** Its sender's newest number for it. */
  number: number;
  /** Null while it is under way. */
  answer: string | null;
  /** Who else waits for it. */
  readonly waiting: { readonly sender: Sender; readonly number: number }[];
}

/** A node that calls. */
interface Sender {
  readonly underWay: Set<number>;
  readonly batch: MessageBatch;
  /** Its commands whose answers are kept, in the order of their numbers (rule 3). */
  readonly kept: { readonly number: number; readonly commandId: string }[];
  usedAt: number;
}

interface Served {
  readonly shard: number;
  readonly senders: Map<string, Sender>;
  readonly commands: Map<string, Started>;
  unsubscribe: () => void;
  cancelEnd: () => void;
  isGivenUp: boolean;
}

export class CallServer {
  readonly #ports: CallServerPorts;
  readonly #callsMax: number;
  readonly #served = new Map<string, Served>();
  readonly #parts: PartsInbox;
  #underWay = 0;
  #messages = 0;
  #cancelSweep: (() => void) | null = null;

  constructor(ports: CallServerPorts) {
    this.#ports = ports;
    this.#callsMax = ports.callsMax ?? SERVED_CALLS_MAX;
    this.#parts = new PartsInbox(ports.time);
  }

  /** Calls of other nodes that are not answered yet. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Answers of commands that are kept (rule 3). */
  get kept(): number {
    return [...this.#served.values()].reduce((sum, { commands }) => sum + commands.size, 0);
  }

  /** Answers calls to a shard under an epoch from now on. */
  serve(shard: number, epoch: number): void {
    const { bus, cluster } = this.#ports;
    const served: Served = {
      shard,
      senders: new Map(),
      commands: new Map(),
      unsubscribe: () => {},
      cancelEnd: () => {},
      isGivenUp: false,
    };
    const name = targetOf(shard, epoch);
    this.#served.set(name, served);
    served.unsubscribe = bus.subscribe(subjects.calls(cluster, name), (message) => this.#receive(served, message));
  }

  /** Takes no more calls to a shard under an epoch (rule 4). */
  giveUp(shard: number, epoch: number): void {
    const name = targetOf(shard, epoch);
    const served = this.#served.get(name);
    if (served === undefined || served.isGivenUp) return;
    served.isGivenUp = true;
    served.cancelEnd = this.#ports.time.after(MOVED_MS, () => {
      served.unsubscribe();
      this.#served.delete(name);
    });
  }

  /** Takes no more calls at all. What is under way is still answered. */
  close(): void {
    this.#cancelSweep?.();
    for (const served of this.#served.values()) {
      served.isGivenUp = true;
      served.cancelEnd();
      served.unsubscribe();
    }
    this.#served.clear();
  }

  // ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  #receive(served: Served, { data, replyTo }: BusMessage): void {
    if (replyTo === null) return;
    const whole = this.#parts.take(replyTo, data);
    const message = whole === null ? null : readCalls(whole);
    if (message === null) return;
    // It asks only whether somebody is here.
    if (message.calls.length === 0) this.#send(replyTo, []);
    const sender = this.#senderOf(served, replyTo);
    for (const call of message.calls) this.#take(served, sender, call);
    forget(served, sender, message.settledBelow);
  }

  #senderOf(served: Served, replyTo: string): Sender {
    const usedAt = this.#ports.time.stopwatchMs();
    const known = served.senders.get(replyTo);
    if (known !== undefined) {
      known.usedAt = usedAt;
      return known;
    }
    const batch = new MessageBatch(this.#ports.time, (texts) => this.#send(replyTo, texts));
    const sender: Sender = { underWay: new Set(), batch, kept: [], usedAt };
    served.senders.set(replyTo, sender);
    return sender;
  }

  #take(served: Served, sender: Sender, [number, call]: NumberedCall): void {
    if (sender.underWay.has(number)) return;
    const commandId = call.kind === 'command' ? call.commandId : null;
    const started = commandId === null ? undefined : served.commands.get(commandId);
    if (started !== undefined) return this.#takeAgain(sender, number, commandId!, started);
    const refusal = this.#refusalOf(served);
    if (refusal !== null) return sender.batch.add(writeAnswer(number, writeError(refusal)));
    sender.underWay.add(number);
    this.#underWay += 1;
    if (commandId !== null) this.#noteStarted(served, sender, number, commandId);
    const end = (answer: string, isKept: boolean): void => {
      this.#underWay -= 1;
      sender.underWay.delete(number);
      sender.batch.add(writeAnswer(number, answer));
      if (commandId !== null) this.#endCommand(served, commandId, answer, isKept);
    };
    this.#handle(served.shard, call).then(
      (value) => end(writeShortEnough(value), true),
      (error: unknown) => end(writeError(error), !(error instanceof Moved || error instanceof Overloaded)),
    );
  }

  #handle(shard: number, call: Call): Promise<unknown> {
    try {
      return this.#ports.handle(shard, call);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** A command that is known by its id (rule 3). */
  #takeAgain(sender: Sender, number: number, commandId: string, started: Started): void {
    if (started.answer !== null) sender.batch.add(writeAnswer(number, started.answer));
    else {
      sender.underWay.add(number);
      started.waiting.push({ sender, number });
    }
    started.number = number;
    sender.kept.push({ number, commandId });
  }

  #refusalOf({ shard, isGivenUp }: Served): Moved | Overloaded | null {
    if (isGivenUp) return new Moved(shard, 'this node does not own it any more');
    if (this.#underWay < this.#callsMax) return null;
    return new Overloaded('too many requests of other nodes wait', RETRY_AFTER_SECONDS);
  }

  #noteStarted(served: Served, sender: Sender, number: number, commandId: string): void {
    const { commands } = served;
    commands.set(commandId, { since: this.#ports.time.stopwatchMs(), number, answer: null, waiting: [] });
    sender.kept.push({ number, commandId });
    if (commands.size > (this.#ports.keptMax ?? KEPT_ANSWERS_MAX)) dropOldest(commands);
    this.#cancelSweep ??= this.#ports.time.after(KEPT_MS, () => this.#sweep());
  }

  #endCommand(served: Served, commandId: string, answer: string, isKept: boolean): void {
    const started = served.commands.get(commandId);
    if (started === undefined) return;
    started.answer = answer;
    started.since = this.#ports.time.stopwatchMs();
    for (const { sender, number } of started.waiting) {
      sender.underWay.delete(number);
      sender.batch.add(writeAnswer(number, answer));
    }
    if (!isKept) served.commands.delete(commandId);
  }

  #send(replyTo: string, texts: readonly string[]): void {
    this.#messages += 1;
    for (const part of partsOf(writeAnswers(texts), this.#messages)) this.#ports.bus.publish(replyTo, part);
  }

  /** Drops answers that were kept for long enough, and senders that are not heard of any more. */
  #sweep(): void {
    this.#cancelSweep = null;
    const before = this.#ports.time.stopwatchMs() - KEPT_MS;
    let isEmpty = true;
    for (const { commands, senders } of this.#served.values()) {
      for (const [commandId, { since, answer }] of commands) {
        if (answer !== null && since <= before) commands.delete(commandId);
      }
      for (const [replyTo, { usedAt, underWay }] of senders) {
        if (underWay.size === 0 && usedAt <= before) senders.delete(replyTo);
      }
      isEmpty &&= commands.size === 0 && senders.size === 0;
    }
    if (!isEmpty) this.#cancelSweep = this.#ports.time.after(KEPT_MS, () => this.#sweep());
  }
}

/** An answer that cannot be written or sent is a defect of the owner. */
function writeShortEnough(value: unknown): string {
  try {
    const answer = packValue(value);
    if (answer.length <= ITEM_CHARS_MAX) return answer;
    return writeError(new Error(`an answer of ${answer.length} characters is too long to send`));
  } catch (error) {
    return writeError(error);
  }
}

/**
 * Drops the answers that a sender has received (rule 3). What is under way stays: the sender may have given it up to
 * try again.
 */
function forget({ commands }: Served, { kept }: Sender, settledBelow: number): void {
  let settled = 0;
  while (settled < kept.length && kept[settled]!.number < settledBelow) settled += 1;
  if (settled === 0) return;
  for (const { commandId } of kept.splice(0, settled)) {
    const started = commands.get(commandId);
    if (started !== undefined && started.answer !== null && started.number < settledBelow) commands.delete(commandId);
  }
}

function dropOldest(commands: Map<string, Started>): void {
  for (const [commandId, { answer }] of commands) {
    if (answer === null) continue;
    commands.delete(commandId);
    return;
  }
}
