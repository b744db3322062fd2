/**
 * Admission control: one table that says what each command asks of the service, for the HTTP layer and for the actors.
 *
 * 1. While the disk is nearly full the actor refuses CLAIM. Everything else goes on, so that a sale under way can end.
 * 2. The HTTP layer holds CLAIM and CHANGE of buyers in its admission queue while enough of them are at work.
 *    GIVE_BACK, MONEY and SCAN never wait there, and neither does a command that is followed by a call to a payment
 *    provider: it would keep a place for seconds.
 * 3. A mailbox that is full and a journal that cannot be written refuse every command. While the disk is full a poll of
 *    the waiting room is answered all the same, without a turn: else everybody who waits would be dropped as gone.
 */
import type { CommandType } from '#domain/command.ts';
import type { Journal } from '#persistence/journal.ts';

/**
 * CLAIM takes stock or a place that others want. CHANGE alters what was claimed or defined before. GIVE_BACK frees
 * stock or a place. MONEY asks for a payment or reports one. SCAN reports who stands at a door.
 */
type CommandClass = 'CLAIM' | 'CHANGE' | 'GIVE_BACK' | 'MONEY' | 'SCAN';

export const COMMAND_CLASSES: Readonly<Record<CommandType, CommandClass>> = {
  PlaceHold: 'CLAIM',
  StartCheckout: 'CLAIM',
  SellAtCounter: 'CLAIM',
  JoinQueue: 'CLAIM',
  ChangeHold: 'CHANGE',
  PollQueue: 'CHANGE',
  RecordDraw: 'CHANGE',
  AmendOrder: 'CHANGE',
  DefineEvent: 'CHANGE',
  SteerSale: 'GIVE_BACK',
  BlockSeats: 'CHANGE',
  ReleaseHold: 'GIVE_BACK',
  LeaveQueue: 'GIVE_BACK',
  SettleDeadline: 'GIVE_BACK',
  DropOldest: 'GIVE_BACK',
  CancelPerformance: 'GIVE_BACK',
  CancelNextOrders: 'GIVE_BACK',
  UnblockSeats: 'GIVE_BACK',
  CancelOrder: 'GIVE_BACK',
  AddStation: 'CHANGE',
  RevokeStation: 'GIVE_BACK',
  RecordScans: 'SCAN',
  ScanByHand: 'SCAN',
  CancelAmendment: 'GIVE_BACK',
  SyncStation: 'SCAN',
  TakeFeed: 'SCAN',
  OpenPayment: 'MONEY',
  RecordCheckoutSession: 'MONEY',
  RecordPayment: 'MONEY',
  RecordRefund: 'MONEY',
  ExecuteRefund: 'MONEY',
  ExecuteDueRefunds: 'MONEY',
  AskNextRefunds: 'MONEY',
  MatchRefunds: 'MONEY',
  AnswerRefund: 'MONEY',
  ResolveRefund: 'MONEY',
  RequestMail: 'CHANGE',
  EraseOrder: 'CHANGE',
  EraseDueOrders: 'CHANGE',
};

/** Commands whose request goes on to a payment provider before it is answered. */
const CALLS_PROVIDER: ReadonlySet<CommandType> = new Set<CommandType>(['StartCheckout', 'OpenPayment', 'AmendOrder']);

/** What decides whether an event actor accepts a command. */
export interface AdmissionPorts {
  readonly journal: Pick<Journal, 'status'>;
  /** The most answers that may wait for the disk at once; beyond it a command is refused without a decision (I10). */
  readonly waitingRepliesMax: number;
  /** Whether the disk has too little room for new claims; absent where it is not checked. */
  readonly isShortOfSpace?: () => boolean;
}

/** Refuses a command that an actor, in which so many answers wait, cannot accept now (rules 1 and 3). */
export function checkAdmission(type: CommandType, ports: AdmissionPorts, waitingReplies: number): void {
  if (ports.journal.status !== 'OPEN') throw journalClosed();
  if (waitingReplies >= ports.waitingRepliesMax) throw new Overloaded('too many requests wait', RETRY_AFTER_SECONDS);
  if (isRefusedOnLowDisk(type) && ports.isShortOfSpace?.() === true) {
    throw new Overloaded('the disk is nearly full', RETRY_AFTER_SPACE_SECONDS);
  }
}

export function journalClosed(): Overloaded {
  return new Overloaded('the journal cannot be written now', RETRY_AFTER_SECONDS);
}

/** Whether a command is refused while the disk is nearly full (rule 1). */
export function isRefusedOnLowDisk(type: CommandType): boolean {
  return COMMAND_CLASSES[type] === 'CLAIM';
}

/** Whether a command is answered while the disk is full (rule 3). */
export function isAnsweredUnwritten(type: CommandType): boolean {
  return type === 'PollQueue';
}

/** Whether a buyer's command waits in the admission queue of the HTTP layer (rule 2). */
export function waitsForAdmission(type: CommandType): boolean {
  const commandClass = COMMAND_CLASSES[type];
  return (commandClass === 'CLAIM' || commandClass === 'CHANGE') && !CALLS_PROVIDER.has(type);
}

/** Whether a command reports what happened at a door. */
export function isOfDoor(type: CommandType): boolean {
  return COMMAND_CLASSES[type] === 'SCAN';
}

/** Seconds after which a request that met a passing trouble may be sent again. */
export const RETRY_AFTER_SECONDS = 1;
/** Space on a disk takes longer to return. */
const RETRY_AFTER_SPACE_SECONDS = 10;

/**
 * The request cannot be accepted now: too many are under way, the journal cannot be written, or the event cannot be
 * activated.
 */
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
