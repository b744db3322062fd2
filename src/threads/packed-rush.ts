/**
 * The calls and answers that a rush is made of, holds and polls of the waiting room, by position in place of names:
 * read and written in a third of the time, at both ends. A call of either kind begins with its letter.
 *
 * Whoever reads makes whole commands and replies, so that the compiler finds a field that is missing here.
 */
import type { RushCommand } from '#actors/event-port.ts';
import type { CommandOf, Command, ItemRequest, ReplyTo } from '#domain/command.ts';
import type { HoldItemView, HoldView, QueueEntryView } from '#domain/view.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { packValue } from '#engine/packed-answers.ts';

export type RushReply = ReplyTo<'PlaceHold'> | ReplyTo<'PollQueue'>;

/** The values of some fields of a shape, in their order. */
type Values<Shape, Names extends readonly (keyof Shape)[]> = { [Place in keyof Names]: Shape[Names[Place]] };

type PackedItem = Values<ItemRequest, ['ticketTypeId', 'sellingStageId', 'quantity', 'performanceId', 'seatIds']>;
type PackedHold = [
  eventId: string,
  sessionKey: string,
  items: PackedItem[],
  ...rest: Values<CommandOf<'PlaceHold'>, ['queuePass', 'idempotency']>,
];

/** The letters of calls; those with names begin with a bracket. */
const HOLD_CALL = 'h';
const POLL_CALL = 'p';
/** Between the texts of a poll. */
const SEPARATOR = '\n';

/** The kinds of packed replies, beside those of `engine/packed-answers.ts`. */
const HOLD = 4;
const ENTRY = 5;

type PackedLine = Values<
  HoldItemView,
  ['ticketTypeId', 'sellingStageId', 'performanceId', 'quantity', 'ticketCount', 'seatIds', 'seatLabels']
>;
type PackedHoldReply = [
  replayed: boolean,
  items: PackedLine[],
  ...rest: Values<HoldView, ['id', 'eventId', 'status', 'expiresAt', 'orderId']>,
];
type PackedEntry = Values<
  QueueEntryView,
  [
    'id',
    'eventId',
    'status',
    'position',
    'waitingAhead',
    'estimatedMinutes',
    'open',
    'opensAt',
    'admittedAt',
    'passExpiresAt',
    'rate',
    'drawCommitment',
    'soldOut',
  ]
>;

/** The text of a command; null of one that is no part of a rush. */
export function packCommand(eventId: string, command: Command): string | null {
  if (command.type === 'PollQueue') {
    const { entryId, sessionKey } = command;
    const isSeparable = !eventId.includes(SEPARATOR) && !entryId.includes(SEPARATOR);
    return isSeparable ? `${POLL_CALL}${eventId}${SEPARATOR}${entryId}${SEPARATOR}${sessionKey}` : null;
  }
  if (command.type !== 'PlaceHold') return null;
  const { sessionKey, items, queuePass, idempotency } = command;
  const packed: PackedHold = [eventId, sessionKey, items.map(packItem), queuePass, idempotency];
  return `${HOLD_CALL}${JSON.stringify(packed)}`;
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
  const [eventId, sessionKey, items, queuePass, idempotency] = JSON.parse(text.slice(1)) as PackedHold;
  return { eventId, command: { type: 'PlaceHold', sessionKey, items: items.map(unpackItem), queuePass, idempotency } };
}

function packItem(item: ItemRequest): PackedItem {
  return [item.ticketTypeId, item.sellingStageId, item.quantity, item.performanceId, item.seatIds];
}

function unpackItem([ticketTypeId, sellingStageId, quantity, performanceId, seatIds]: PackedItem): ItemRequest {
  return { ticketTypeId, sellingStageId, quantity, performanceId, seatIds };
}

/** The answer to a packed command, in the form of `packValue`. */
export function packReply(reply: RushReply | Refusal): string {
  // The steering of a sale is seldom set: an entry that has it is not worth a form of its own.
  if (isRefusal(reply) || ('entry' in reply && reply.entry.steering !== undefined)) return packValue(reply);
  if ('entry' in reply) return `${ENTRY},${JSON.stringify(packEntry(reply.entry))}]`;
  const { id, eventId, status, expiresAt, orderId, items } = reply.hold;
  const packed: PackedHoldReply = [reply.replayed, items.map(packLine), id, eventId, status, expiresAt, orderId];
  return `${HOLD},${JSON.stringify(packed)}]`;
}

/** The reply of an answer of this kind; null of another kind. */
export function unpackReply(kind: number, content: unknown): RushReply | null {
  if (kind === ENTRY) return { outcome: 'DONE', entry: unpackEntry(content as PackedEntry) };
  if (kind !== HOLD) return null;
  const [replayed, items, id, eventId, status, expiresAt, orderId] = content as PackedHoldReply;
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

function packEntry(entry: QueueEntryView): PackedEntry {
  return [
    entry.id,
    entry.eventId,
    entry.status,
    entry.position,
    entry.waitingAhead,
    entry.estimatedMinutes,
    entry.open,
    entry.opensAt,
    entry.admittedAt,
    entry.passExpiresAt,
    entry.rate,
    entry.drawCommitment,
    entry.soldOut,
  ];
}

function unpackEntry(packed: PackedEntry): QueueEntryView {
  return {
    id: packed[0],
    eventId: packed[1],
    status: packed[2],
    position: packed[3],
    waitingAhead: packed[4],
    estimatedMinutes: packed[5],
    open: packed[6],
    opensAt: packed[7],
    admittedAt: packed[8],
    passExpiresAt: packed[9],
    rate: packed[10],
    drawCommitment: packed[11],
    soldOut: packed[12],
  };
}
