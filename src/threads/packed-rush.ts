/**
 * The calls and answers that a rush is made of, holds and polls of the waiting room, by position in place of names:
 * read and written in a third of the time, at both ends. A call of either kind begins with its letter. What a turn
 * answers is put together from texts that most answers share.
 *
 * Whoever reads makes whole commands and replies, so that the compiler finds a field that is missing here.
 */
import type { RushCommand } from '#actors/event-port.ts';
import type { CommandOf, Command, ItemRequest, ReplyTo } from '#domain/command.ts';
import type { HoldItemView, HoldView, QueueEntryView } from '#domain/view.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { keepingLast } from '#domain/collections/last-answer.ts';
import { packValue } from '#engine/packed-answers.ts';

export type RushReply = ReplyTo<'PlaceHold'> | ReplyTo<'PollQueue'>;

/** The values of some fields of a shape, in their order. */
type Values<Shape, Names extends readonly (keyof Shape)[]> = { [Place in keyof Names]: Shape[Names[Place]] };

type PackedItem = Values<ItemRequest, ['ticketTypeId', 'sellingStageId', 'quantity', 'performanceId', 'seatIds']>;
type PackedHold = [
  eventId: string,
  ...rest: Values<CommandOf<'PlaceHold'>, ['sessionKey', 'queuePass', 'idempotency']>,
];

/** The letters of calls; those with names begin with a bracket. */
const HOLD_CALL = 'h';
const POLL_CALL = 'p';
/** Between the texts of a poll, and before the items of a hold. */
const SEPARATOR = '\n';

/** The kinds of packed replies, beside those of `engine/packed-answers.ts`. */
const HOLD = 4;
const ENTRY = 5;

type PackedLine = Values<
  HoldItemView,
  ['ticketTypeId', 'sellingStageId', 'performanceId', 'quantity', 'ticketCount', 'seatIds', 'seatLabels']
>;
/** What most answers of a pass share stands before what is their own. */
type SharedOfHold<Line> = [
  items: readonly Line[],
  replayed: boolean,
  ...rest: Values<HoldView, ['eventId', 'status', 'expiresAt', 'orderId']>,
];
type PackedHoldReply = [shared: SharedOfHold<PackedLine>, id: string];
type SharedOfEntry = Values<
  QueueEntryView,
  ['status', 'admittedAt', 'passExpiresAt', 'eventId', 'open', 'opensAt', 'rate', 'drawCommitment', 'soldOut']
>;
type PackedEntry = [
  shared: SharedOfEntry,
  ...own: Values<QueueEntryView, ['id', 'position', 'waitingAhead', 'estimatedMinutes']>,
];

/** The text of a command; null of one that is no part of a rush. */
export function packCommand(eventId: string, command: Command): string | null {
  if (command.type === 'PollQueue') {
    const { entryId, sessionKey } = command;
    const isSeparable = !eventId.includes(SEPARATOR) && !entryId.includes(SEPARATOR);
    return isSeparable ? `${POLL_CALL}${eventId}${SEPARATOR}${entryId}${SEPARATOR}${sessionKey}` : null;
  }
  if (command.type !== 'PlaceHold') return null;
  const { sessionKey, items, queuePass, idempotency } = command;
  const packed: PackedHold = [eventId, sessionKey, queuePass, idempotency];
  return `${HOLD_CALL}${JSON.stringify(packed)}${SEPARATOR}${JSON.stringify(items.map(packItem))}`;
}

/** The command of a text, and its event; null where it is no part of a rush. */
export function unpackCommand(text: string): { readonly eventId: string; readonly command: RushCommand } | null {
  if (text.startsWith(POLL_CALL)) {
    const entryAt = text.indexOf(SEPARATOR) + 1;
    const sessionAt = text.indexOf(SEPARATOR, entryAt) + 1;
    const command = {
      type: 'PollQueue',
      entryId: text.slice(entryAt, sessionAt - 1),
      sessionKey: text.slice(sessionAt),
    } as const;
    return { eventId: text.slice(1, entryAt - 1), command };
  }
  if (!text.startsWith(HOLD_CALL)) return null;
  const itemsAt = text.indexOf(SEPARATOR);
  const [eventId, sessionKey, queuePass, idempotency] = JSON.parse(text.slice(1, itemsAt)) as PackedHold;
  const items = unpackItems(text.slice(itemsAt + 1));
  return { eventId, command: { type: 'PlaceHold', sessionKey, items, queuePass, idempotency } };
}

/** What was asked for lately, by its text, without what names seats. */
const knownItems = new Map<string, readonly ItemRequest[]>();
const KNOWN_ITEMS_MAX = 256;
const KNOWN_LENGTH_MAX = 1_000;

function unpackItems(text: string): readonly ItemRequest[] {
  const known = knownItems.get(text);
  if (known !== undefined) return known;
  const packed = JSON.parse(text) as PackedItem[];
  const items = packed.map(unpackItem);
  if (text.length > KNOWN_LENGTH_MAX || items.some(({ seatIds }) => seatIds !== null)) return items;
  if (knownItems.size >= KNOWN_ITEMS_MAX) knownItems.clear();
  // Written anew, because the text is a part of a longer one.
  knownItems.set(JSON.stringify(packed), items);
  return items;
}

function packItem(item: ItemRequest): PackedItem {
  return [item.ticketTypeId, item.sellingStageId, item.quantity, item.performanceId, item.seatIds];
}

function unpackItem([ticketTypeId, sellingStageId, quantity, performanceId, seatIds]: PackedItem): ItemRequest {
  return { ticketTypeId, sellingStageId, quantity, performanceId, seatIds };
}

/** The answer to a packed command, in the form of `packValue`. */
export function packReply(reply: RushReply | Refusal): string {
  // The steering of a sale is seldom set, so an entry that has it gets no form of its own.
  if (isRefusal(reply) || ('entry' in reply && reply.entry.steering !== undefined)) return packValue(reply);
  return 'entry' in reply ? textOfEntry(reply.entry) : textOfHold(reply);
}

const beforeHold = keepingLast(
  (...[items, ...shared]: SharedOfHold<HoldItemView>) =>
    `${HOLD},[${JSON.stringify([items.map(packLine), ...shared])},"`,
);
const beforeEntry = keepingLast((...shared: SharedOfEntry) => `${ENTRY},[${JSON.stringify(shared)},"`);

/** Ids of holds and entries are made by the service: nothing in them has to be escaped. */
function textOfHold({ replayed, hold }: ReplyTo<'PlaceHold'>): string {
  const { id, eventId, status, expiresAt, orderId, items } = hold;
  return `${beforeHold(items, replayed, eventId, status, expiresAt, orderId)}${id}"]]`;
}

function textOfEntry(entry: QueueEntryView): string {
  const { status, admittedAt, passExpiresAt, eventId, open, opensAt, rate, drawCommitment, soldOut } = entry;
  const { id, position, waitingAhead, estimatedMinutes } = entry;
  const before = beforeEntry(status, admittedAt, passExpiresAt, eventId, open, opensAt, rate, drawCommitment, soldOut);
  return `${before}${id}",${position},${waitingAhead},${estimatedMinutes}]]`;
}

/** The reply of an answer of this kind; null of another kind. */
export function unpackReply(kind: number, content: unknown): RushReply | null {
  if (kind === ENTRY) return { outcome: 'DONE', entry: unpackEntry(content as PackedEntry) };
  if (kind !== HOLD) return null;
  const [[items, replayed, eventId, status, expiresAt, orderId], id] = content as PackedHoldReply;
  const hold: HoldView = { id, eventId, status, expiresAt, orderId, items: items.map(unpackLine) };
  return { outcome: 'DONE', hold, replayed };
}

function packLine(line: HoldItemView): PackedLine {
  const { ticketTypeId, sellingStageId, performanceId, quantity, ticketCount, seatIds, seatLabels } = line;
  return [ticketTypeId, sellingStageId, performanceId, quantity, ticketCount, seatIds, seatLabels];
}

function unpackLine(line: PackedLine): HoldItemView {
  const [ticketTypeId, sellingStageId, performanceId, quantity, ticketCount, seatIds, seatLabels] = line;
  return { ticketTypeId, sellingStageId, performanceId, quantity, ticketCount, seatIds, seatLabels };
}

function unpackEntry([shared, id, position, waitingAhead, estimatedMinutes]: PackedEntry): QueueEntryView {
  const [status, admittedAt, passExpiresAt, eventId, open, opensAt, rate, drawCommitment, soldOut] = shared;
  return {
    id,
    eventId,
    status,
    position,
    waitingAhead,
    estimatedMinutes,
    open,
    opensAt,
    admittedAt,
    passExpiresAt,
    rate,
    drawCommitment,
    soldOut,
  };
}
