/**
 * Packs records that are kept long and read seldom into short texts, and unpacks them.
 *
 * A packed record is a third of its JSON and a seventh of its objects. Packed texts live in one process only: snapshots
 * and facts never have them. Any plain data can be packed, so that a field added later is kept as well.
 *
 * 1. `unpack(pack(value))` equals `value`, the order of its keys included; keys whose value is undefined are left out,
 *    as in JSON.
 * 2. An object is the number of its shape and its values. A shape is a list of keys, with those that are null or an
 *    empty list; keys that come from outside (`FREE_KEYS`) make no shapes, and there are at most SHAPES_MAX.
 * 3. A long string that the record has already is its position among the record's long strings. A string that many
 *    records have is its position in a list of words. The list is bounded, and a client cannot fill it with its own
 *    strings: a string becomes a word only when it comes twice among the last WORDS_WATCHED.
 * 4. A text has one byte a character: a text with characters outside Latin-1 is kept as its UTF-8 bytes, a character
 *    each.
 * 5. A string that ends in much base64url, as a sealed text does behind its last dot, is kept as its beginning and the
 *    decoded bytes. All such bytes stand behind the JSON, which would escape them.
 * 6. A moment is its distance from the moment before it in the record, as a number below 0: orders have several, mostly
 *    some minutes apart. Other numbers below 0 are kept as they are.
 * 7. From the third id of a record on, an id of the same event as the first is a list of its prefix. The bytes of all
 *    secrets stand before those of rule 5: one call for all of them takes as long as a call for one.
 */

import { oldestOf } from './maps.ts';

/** The keys whose values are strings that many records share. */
const WORD_KEYS: ReadonlySet<string> = new Set([
  'performanceId',
  'ticketTypeId',
  'sellingStageId',
  'barPerkId',
  'promoCode',
  'discountCode',
  'promoterCode',
  'referralCode',
  'successUrl',
  'cancelUrl',
]);

/** Under these keys stand objects whose keys a client chose. */
const FREE_KEYS: ReadonlySet<string> = new Set(['tracking']);

/** Far more than the code makes; objects of further shapes are kept as they are. */
const SHAPES_MAX = 2_000;

/**
 * These stand before a value that is kept as it is; the position of a string in the record; the position of a word; the
 * beginning of a string that ends in the string before it, as the address of a provider's session may; and the
 * beginning of a string that ends in base64url, with the number of its bytes.
 */
const AS_IT_IS = -1;
const AGAIN = -2;
const WORD = -3;
const TAIL = -4;
const BYTES = -5;

/** Shorter strings are not longer than their positions. */
const LONG_MIN = 12;
const WORD_CHARS_MAX = 256;
const WORDS_MAX = 4_096;
const WORDS_WATCHED = 256;

/** Shorter base64url is hardly longer than its packed form. */
const BASE64_MIN = 64;

/** An id ends in an underscore and this many characters of base64url, which stand for whole bytes. */
const SECRET_LENGTH = 24;
const UNDERSCORE = '_'.charCodeAt(0);

/** The secret of an id, whose bytes are packed. */
const SECRET = /^[\w-]{24}$/;

/** Moments are whole numbers from here, in 2001, to the year 5138: twice their distance is exact too. */
const MOMENT_MIN = 1e12;
const MOMENT_MAX = 1e14;

/** Stands before a packed text that was not Latin-1. */
const UTF_8 = '!';

/** Stands before bytes; JSON never has it. */
const BEFORE_BYTES = '\0';

/** Characters made in one call. */
const CHARACTERS_A_CALL = 4_096;

type Constant = 'NONE' | 'NULL' | 'EMPTY';

interface Shape {
  readonly keys: readonly string[];
  readonly constants: readonly Constant[];
}

/**
 * Shapes as a tree: shapes with the same first keys share a path. A look-up by a text of all keys took twice as long.
 */
interface ShapeNode {
  /** The number of the shape that ends here. */
  number: number | null;
  readonly next: Readonly<Record<Constant, Map<string, ShapeNode>>>;
}

const newNode = (): ShapeNode => ({ number: null, next: { NONE: new Map(), NULL: new Map(), EMPTY: new Map() } });

const shapes: Shape[] = [];
const shapeTree = newNode();
const words: string[] = [];
const wordByText = new Map<string, number>();
/** Strings that were packed lately and are no words yet, the oldest first. */
const watched = new Set<string>();
/** The buffer that all texts share: a buffer for each text made twice as much garbage as all the rest. */
let bytesUnderWay = Buffer.alloc(16 * 1024);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function pack(value: unknown): string {
  const seen: Seen = { positions: new Map(), last: '', bytes: '', moment: 0, event: '', eventIds: 0, secrets: '' };
  const json = JSON.stringify(packed(value, seen));
  const text = isLatin(json) ? json : UTF_8 + textOfBytes(encoder.encode(json));
  const secrets = latinOf(seen.secrets);
  // Joined, because a sum of texts keeps its parts.
  const count = secrets === '' ? '' : secrets.length.toString(36);
  return seen.bytes + secrets === '' ? text : [text, count, secrets + seen.bytes].join(BEFORE_BYTES);
}

export function unpack(packed: string): unknown {
  const end = packed.indexOf(BEFORE_BYTES);
  const text = end < 0 ? packed : packed.slice(0, end);
  const json = text.startsWith(UTF_8) ? decoder.decode(bytesOfText(text)) : text;
  const read: Read = { strings: [], bytes: '', bytesRead: 0, moment: 0, event: '', secrets: '', secretsRead: 0 };
  if (end >= 0) {
    const begin = packed.indexOf(BEFORE_BYTES, end + 1) + 1;
    const count = Number.parseInt(packed.slice(end + 1, begin - 1) || '0', 36);
    read.secrets = base64Of(packed.slice(begin, begin + count));
    read.bytes = packed.slice(begin + count);
  }
  return unpacked(JSON.parse(json), read);
}

/**
 * Of a record so far: the long strings, all bytes of rule 5, the last moment (0 before the first), the part between the
 * prefix and the secret of the first id, and all secrets of rule 7.
 */
interface Seen {
  readonly positions: Map<string, number>;
  last: string;
  bytes: string;
  moment: number;
  event: string;
  eventIds: number;
  secrets: string;
}

/** The same while it is unpacked, the strings in their positions. */
interface Read {
  readonly strings: string[];
  bytes: string;
  bytesRead: number;
  moment: number;
  event: string;
  secrets: string;
  secretsRead: number;
}

/** Lists stand in a list of one, so that a list which begins with a number or a text is something else. */
function packed(value: unknown, seen: Seen): unknown {
  if (typeof value === 'string') return value.length < LONG_MIN ? value : packedString(value, seen, false);
  if (typeof value === 'number') return packedNumber(value, seen);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return [value.map((each) => packed(each, seen))];
  return packedObject(value as Readonly<Record<string, unknown>>, seen);
}

/** Rule 6: -1 is the previous moment, -2 one millisecond earlier, -3 one later, and so on. */
function packedNumber(value: number, seen: Seen): unknown {
  if (value < 0) return [AS_IT_IS, value];
  if (!isMoment(value)) return value;
  const away = value - seen.moment;
  const isFirst = seen.moment === 0;
  seen.moment = value;
  return isFirst ? value : away < 0 ? 2 * away : -2 * away - 1;
}

function unpackedNumber(value: number, read: Read): number {
  if (value < 0) return (read.moment += value % 2 === 0 ? value / 2 : (-1 - value) / 2);
  if (isMoment(value)) read.moment = value;
  return value;
}

function isMoment(value: number): boolean {
  return value >= MOMENT_MIN && value < MOMENT_MAX && Number.isInteger(value);
}

function packedString(text: string, seen: Seen, isWord: boolean): unknown {
  const position = seen.positions.get(text);
  if (position !== undefined) return [AGAIN, position];
  const last = seen.last;
  if (last !== '' && text.length > last.length && text.endsWith(last)) {
    return [TAIL, packedWord(text.slice(0, -last.length))];
  }
  const word = isWord ? wordOf(text) : null;
  if (word !== null) return [WORD, word];
  seen.positions.set(text, seen.positions.size);
  seen.last = text;
  if (text.length >= BASE64_MIN) return packedBytes(text, seen);
  const event = eventOf(text);
  if (event === '' || seen.event === '') seen.event ||= event;
  else if (event === seen.event && (seen.eventIds += 1) > 1) {
    const secret = text.slice(-SECRET_LENGTH);
    if (!SECRET.test(secret)) return text;
    seen.secrets += secret;
    return [text.slice(0, text.indexOf('_'))];
  }
  return text;
}

/** What stands between the prefix and the secret of an id; empty for another text. */
function eventOf(text: string): string {
  const begin = text.length - SECRET_LENGTH;
  return text.charCodeAt(begin - 1) === UNDERSCORE ? text.slice(text.indexOf('_'), begin) : '';
}

/** Rule 5; a text stays as it is unless it is base64url in the one form that its bytes have. */
function packedBytes(text: string, seen: Seen): unknown {
  const begin = text.lastIndexOf('.') + 1;
  if (text.length - begin < BASE64_MIN) return text;
  const base64 = text.slice(begin);
  const bytes = latinOf(base64);
  if (base64Of(bytes) !== base64) return text;
  seen.bytes += bytes;
  return [BYTES, text.slice(0, begin), bytes.length];
}

/** The bytes of base64url, each as a character. */
function latinOf(base64: string): string {
  if (base64 === '') return '';
  const room = roomFor(base64.length);
  return room.toString('latin1', 0, room.write(base64, 'base64url'));
}

function base64Of(latin: string): string {
  const room = roomFor(latin.length);
  return room.toString('base64url', 0, room.write(latin, 'latin1'));
}

function roomFor(count: number): Buffer {
  if (bytesUnderWay.length < count) bytesUnderWay = Buffer.alloc(count);
  return bytesUnderWay;
}

function packedWord(text: string): unknown {
  const word = text.length < LONG_MIN ? null : wordOf(text);
  return word === null ? text : [WORD, word];
}

/** The position of a string among the words; null where it is none. It becomes a word when it is packed twice. */
function wordOf(text: string): number | null {
  const known = wordByText.get(text);
  if (known !== undefined || text.length > WORD_CHARS_MAX) return known ?? null;
  if (!watched.delete(text)) {
    watched.add(text);
    if (watched.size > WORDS_WATCHED) watched.delete(oldestOf(watched)!);
    return null;
  }
  if (words.length >= WORDS_MAX) return null;
  wordByText.set(text, words.length);
  return words.push(text) - 1;
}

function packedObject(value: Readonly<Record<string, unknown>>, seen: Seen): unknown {
  const number = shapeOf(value);
  if (number === null) return [AS_IT_IS, value];
  const { keys, constants } = shapes[number]!;
  const values: unknown[] = [number];
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index]!;
    if (constants[index] === 'NONE') values.push(packedField(key, value[key], seen));
  }
  return values;
}

/** The number of an object's shape; null where the shape is new and there is no room for another. */
function shapeOf(value: Readonly<Record<string, unknown>>): number | null {
  let node = shapeTree;
  for (const key of Object.keys(value)) {
    const each = value[key];
    if (each === undefined) continue;
    const following = node.next[constantOf(each)];
    let next = following.get(key);
    if (next === undefined) {
      if (shapes.length >= SHAPES_MAX) return null;
      next = newNode();
      following.set(key, next);
    }
    node = next;
  }
  return node.number ?? newShape(node, value);
}

function packedField(key: string, value: unknown, seen: Seen): unknown {
  if (FREE_KEYS.has(key)) return [AS_IT_IS, value];
  if (typeof value === 'string' && value.length >= LONG_MIN) return packedString(value, seen, WORD_KEYS.has(key));
  return packed(value, seen);
}

function constantOf(value: unknown): Constant {
  if (value === null) return 'NULL';
  return Array.isArray(value) && value.length === 0 ? 'EMPTY' : 'NONE';
}

function newShape(node: ShapeNode, value: Readonly<Record<string, unknown>>): number | null {
  if (shapes.length >= SHAPES_MAX) return null;
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  node.number = shapes.push({ keys, constants: keys.map((key) => constantOf(value[key])) }) - 1;
  return node.number;
}

function unpacked(value: unknown, read: Read): unknown {
  const { strings } = read;
  if (typeof value === 'string' && value.length >= LONG_MIN) {
    strings.push(value);
    if (value.length < BASE64_MIN) read.event ||= eventOf(value);
  }
  if (typeof value === 'number') return unpackedNumber(value, read);
  if (!Array.isArray(value)) return value;
  const list = value as readonly unknown[];
  const [first] = list;
  if (typeof first === 'string') return unpackedId(first, read);
  if (typeof first !== 'number') return (first as readonly unknown[]).map((each) => unpacked(each, read));
  if (first === AS_IT_IS) return list[1];
  if (first === AGAIN) return strings[list[1] as number];
  if (first === WORD) return words[list[1] as number];
  if (first === TAIL) return unpackedWord(list[1]) + strings.at(-1)!;
  if (first === BYTES) return unpackedBytes(list[1] as string, list[2] as number, read);
  const { keys, constants } = shapes[first]!;
  const object: Record<string, unknown> = {};
  let position = 1;
  for (let index = 0; index < keys.length; index += 1) {
    const constant = constants[index];
    object[keys[index]!] = constant === 'NONE' ? unpacked(list[position++], read) : constant === 'NULL' ? null : [];
  }
  return object;
}

function unpackedBytes(beginning: string, count: number, read: Read): string {
  const text = beginning + base64Of(read.bytes.slice(read.bytesRead, (read.bytesRead += count)));
  read.strings.push(text);
  return text;
}

function unpackedId(prefix: string, read: Read): string {
  const text = prefix + read.event + read.secrets.slice(read.secretsRead, (read.secretsRead += SECRET_LENGTH));
  read.strings.push(text);
  return text;
}

function unpackedWord(value: unknown): string {
  return typeof value === 'string' ? value : words[(value as readonly number[])[1]!]!;
}

function isLatin(text: string): boolean {
  return !/[^\u0000-\u00ff]/.test(text);
}

function textOfBytes(bytes: Uint8Array): string {
  let text = '';
  for (let begin = 0; begin < bytes.length; begin += CHARACTERS_A_CALL) {
    text += String.fromCharCode(...bytes.subarray(begin, begin + CHARACTERS_A_CALL));
  }
  return text;
}

function bytesOfText(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length - UTF_8.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = text.charCodeAt(index + UTF_8.length);
  return bytes;
}
