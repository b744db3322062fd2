/**
 * Numbers of orders and tickets that people read out by phone: `HF-7K3M-9QX`.
 *
 * A number is derived from the id alone, so that orders and tickets from before there were numbers have one too.
 *
 * 1. Six characters are 30 bits of the id's hash, the seventh checks them. The alphabet lacks I, O, 0 and 1.
 * 2. Read as a polynomial over the field of 32 elements, a number has the root α. So a single wrong character and two
 *    swapped characters, adjacent or not, are always noticed, and 31 in 32 of all other errors.
 * 3. A number is not unique: among n ids of an event two share a number with a probability of at most n²/2³¹ (10,000: 1
 *    in 20). A search for a number finds all ids that have it. It grants no access: 114 of the id's 144 bits are not in
 *    it.
 */
import { hashesOf, idHash } from '../collections/hash-tables.ts';
import type { OrderState } from './state.ts';

const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

/** Characters that say something, of 5 bits each; one that checks them follows. */
const DATA_LENGTH = 6;

/** How many of the 32 bits of a hash a number leaves out. */
const LEFT_OUT_BITS = 2;

/** As people write it: in small letters, with spaces, without signs. */
const SHAPE = /^HF[\s-]*([A-Z0-9]{4})[\s-]*([A-Z0-9]{3})$/i;

/** The number of an order or a ticket. */
export function numberOf(id: string): string {
  const bits = idHash(id) >>> LEFT_OUT_BITS;
  const digits = Array.from({ length: DATA_LENGTH }, (_, at) => (bits >>> (5 * (DATA_LENGTH - 1 - at))) & 31);
  const text = [...digits, timesAlpha(valueOf(digits))].map((digit) => ALPHABET[digit]).join('');
  return `HF-${text.slice(0, 4)}-${text.slice(4)}`;
}

/**
 * The number in a text, as `numberOf` writes it; WRONG where a character of it is wrong, null where the text is no
 * number.
 */
export function readNumber(text: string): string | 'WRONG' | null {
  const [, four, three] = SHAPE.exec(text.trim().toUpperCase()) ?? [];
  if (four === undefined || three === undefined) return null;
  const digits = Array.from(four + three, (character) => ALPHABET.indexOf(character));
  return digits.includes(-1) || valueOf(digits) !== 0 ? 'WRONG' : `HF-${four}-${three}`;
}

/** The ids of the orders with the number, or with a ticket, void ones too, that has it. */
export function ordersNumbered({ orders }: OrderState, number: string): readonly string[] {
  const digits = Array.from(number.replaceAll('-', '').slice(2, 2 + DATA_LENGTH), (each) => ALPHABET.indexOf(each));
  const bits = digits.reduce((sum, digit) => (sum << 5) | digit, 0);
  const found = orders.inOrder.hashed(hashesOf(bits, LEFT_OUT_BITS), ({ id, ticketIds, changed }) => {
    const voided = changed?.voidedTickets ?? [];
    return [id, ...ticketIds, ...voided.map((ticket) => ticket.id)].some((each) => numberOf(each) === number);
  });
  return found.map(({ id }) => id);
}

/** The polynomial's value at α: 0 of a number whose characters are right (rule 2). */
function valueOf(digits: readonly number[]): number {
  return digits.reduce((value, digit) => timesAlpha(value) ^ digit, 0);
}

/** Multiplies by α in the field of 32 elements, in which α⁵ = α² + 1. */
function timesAlpha(element: number): number {
  return element < 16 ? element << 1 : (element << 1) ^ 0b100101;
}
