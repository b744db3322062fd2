/**
 * Admission control: one table that says what each command asks of the service, for the HTTP layer and for the actors.
 *
 * 1. While the disk is nearly full the actor refuses CLAIM. Everything else goes on, so that a sale under way can end.
 * 2. The HTTP layer holds CLAIM and CHANGE of buyers in its admission queue while enough of them are at work. GIVE_BACK and MONEY
 *    never wait there, and neither does a command that is followed by a call to a payment provider: it would keep a place for seconds.
 * 3. A mailbox that is full and a journal that cannot be written refuse every command.
 */
import type { CommandType } from '#domain/command.ts';

/**
 * CLAIM takes stock or a place that others want. CHANGE alters what was claimed or defined before. GIVE_BACK frees stock or a place.
 * MONEY asks for a payment or reports one.
 */
export type CommandClass = 'CLAIM' | 'CHANGE' | 'GIVE_BACK' | 'MONEY';

export const COMMAND_CLASSES: Readonly<Record<CommandType, CommandClass>> = {
  PlaceHold: 'CLAIM',
  StartCheckout: 'CLAIM',
  JoinQueue: 'CLAIM',
  ChangeHold: 'CHANGE',
  PollQueue: 'CHANGE',
  RecordDraw: 'CHANGE',
  DefineEvent: 'CHANGE',
  BlockSeats: 'CHANGE',
  ReleaseHold: 'GIVE_BACK',
  LeaveQueue: 'GIVE_BACK',
  SettleDeadline: 'GIVE_BACK',
  CancelPerformance: 'GIVE_BACK',
  CancelNextOrders: 'GIVE_BACK',
  UnblockSeats: 'GIVE_BACK',
  CancelOrder: 'GIVE_BACK',
  OpenPayment: 'MONEY',
  RecordCheckoutSession: 'MONEY',
  RecordPayment: 'MONEY',
  RecordRefund: 'MONEY',
  EraseOrder: 'CHANGE',
  EraseDueOrders: 'CHANGE',
};

/** Commands whose request goes on to a payment provider before it is answered. */
const CALLS_PROVIDER: ReadonlySet<CommandType> = new Set<CommandType>(['StartCheckout', 'OpenPayment']);

/** Whether a command is refused while the disk is nearly full (1). */
export function isRefusedOnLowDisk(type: CommandType): boolean {
  return COMMAND_CLASSES[type] === 'CLAIM';
}

/** Whether a buyer's command waits in the admission queue of the HTTP layer (2). */
export function waitsForAdmission(type: CommandType): boolean {
  const commandClass = COMMAND_CLASSES[type];
  return (commandClass === 'CLAIM' || commandClass === 'CHANGE') && !CALLS_PROVIDER.has(type);
}

/** Seconds after which a request that met a passing trouble may be sent again. */
export const RETRY_AFTER_SECONDS = 1;

/** The request cannot be accepted now: too many are under way, the journal cannot be written, or the event cannot be activated. */
export class Overloaded extends Error {
  readonly retryAfterSeconds: number;
  /** The event that cannot be activated, where that is the reason; all others are served. */
  readonly brokenEventId: string | null;
  constructor(message: string, retryAfterSeconds: number, cause?: unknown, brokenEventId: string | null = null) {
    super(message, { cause });
    this.name = 'Overloaded';
    this.retryAfterSeconds = retryAfterSeconds;
    this.brokenEventId = brokenEventId;
  }
}

/** Whether an event cannot be activated. */
export function isEventBroken(error: unknown): error is Overloaded {
  return error instanceof Overloaded && error.brokenEventId !== null;
}
