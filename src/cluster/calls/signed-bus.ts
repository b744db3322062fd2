/**
 * A bus whose messages are signed: only what a node of this cluster sent is received, once, and everything else that
 * comes over the NATS servers is ignored and counted.
 *
 * 1. The key is made from TICKET_KEY. It never leaves the nodes, while operators hand out ADMIN_TOKEN and payment
 *    providers know the webhook secrets; and it may be a list, of which the first signs and all verify, so that it can
 *    be changed node by node.
 * 2. A signature covers the subject, the subject for answers, the sender and the message's number: a message cannot be
 *    sent to another owner, an answer cannot be led elsewhere, and it cannot be taken for the answer to another node.
 * 3. A subscription takes a number of a sender once. Messages may overtake each other, as they do after a sender has
 *    changed its server; one that comes too late is lost, as any message may be.
 * 4. The servers say, without a signature, that nobody listens to a subject: it is a hint.
 * 5. A reason is reported once, and again after a while: whoever can send messages fills no log.
 */
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { reportTrouble } from '#actors/trouble.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import type { Bus, BusMessage } from './bus.ts';

interface MessageKey {
  /** Four bytes in hex, which stand in each message and say nothing about the key. */
  readonly id: string;
  readonly secret: KeyObject;
}

/** The first one signs, all of them verify. */
export type MessageKeys = readonly [MessageKey, ...MessageKey[]];

/** The keys of a cluster's messages, from the private ticket keys in base64url (rule 1). */
export function messageKeysOf(clusterName: string, [first, ...others]: readonly [string, ...string[]]): MessageKeys {
  const keyOf = (ticketKey: string): MessageKey => {
    const seed = Buffer.from(ticketKey, 'base64url');
    const made = Buffer.from(hkdfSync('sha256', seed, clusterName, 'holdfast messages between nodes', 36));
    return { id: made.toString('hex', 32), secret: createSecretKey(made.subarray(0, 32)) };
  };
  return [keyOf(first), ...others.map(keyOf)];
}

interface SignedBusPorts {
  readonly bus: Bus;
  readonly time: Pick<Timing, 'stopwatchMs'>;
  readonly keys: MessageKeys;
  /** Unique to this process; at most 255 characters of ASCII. */
  readonly instance: string;
}

/** A message that was ignored is published here. */
const foreignChannel = channel('holdfast:cluster-foreign');

type Reason = 'OTHER_KEY' | 'NOT_SIGNED' | 'REPEATED';

const REPORT_EVERY_MS = 600_000;

export function signedBus({ bus, time, keys, instance }: SignedBusPorts): Bus {
  const byId = new Map(keys.map((key) => [key.id, key]));
  const reportedAt = new Map<Reason, number>();
  let sent = 0;
  const ignore = (reason: Reason, subject: string, sender: string): void => {
    if (foreignChannel.hasSubscribers) foreignChannel.publish({ reason });
    const now = time.stopwatchMs();
    if (now - (reportedAt.get(reason) ?? Number.NEGATIVE_INFINITY) < REPORT_EVERY_MS) return;
    reportedAt.set(reason, now);
    reportTrouble('cluster', textOf(reason, subject, sender));
  };
  return {
    get isConnected() {
      return bus.isConnected;
    },
    publish(subject, data, replyTo) {
      sent += 1;
      bus.publish(subject, sealed(keys[0], { subject, replyTo, sender: instance, number: sent }, data), replyTo);
    },
    subscribe(subject, receive) {
      const seen = new SeenNumbers();
      return bus.subscribe(subject, (message) => {
        // Rule 4.
        if (message.isNobodyThere) return receive(message);
        const opened = open(message);
        if (opened === null) return ignore('NOT_SIGNED', message.subject, '');
        const { keyId, mac, sender, number, data } = opened;
        const key = byId.get(keyId);
        if (key === undefined) return ignore('OTHER_KEY', message.subject, sender);
        const replyTo = message.replyTo ?? undefined;
        const expected = macOf(key, { subject: message.subject, replyTo, sender, number }, data);
        if (!timingSafeEqual(mac, expected)) return ignore('NOT_SIGNED', message.subject, sender);
        if (!seen.take(sender, number)) return ignore('REPEATED', message.subject, sender);
        receive({ ...message, data });
      });
    },
    onConnection: (listener) => bus.onConnection(listener),
  };
}

/** The same for whoever only listens and does not know the key: everything that has the form of a message is taken. */
export function unverifiedBus(bus: Pick<Bus, 'subscribe'>): Pick<Bus, 'subscribe'> {
  return {
    subscribe: (subject, receive) =>
      bus.subscribe(subject, (message) => {
        const opened = open(message);
        if (opened !== null) receive({ ...message, data: opened.data });
      }),
  };
}

function textOf(reason: Reason, subject: string, sender: string): string {
  const from = /^[A-Za-z0-9._-]+$/.test(sender) ? `of ${sender}` : `to ${subject}`;
  const ignored = `messages ${from} are ignored, because`;
  if (reason === 'OTHER_KEY') {
    return `${ignored} they are signed with another key: give all nodes of the cluster the same TICKET_KEY`;
  }
  const why = reason === 'REPEATED' ? 'they came before' : 'no node of this cluster signed them';
  return `${ignored} ${why}: somebody else reaches the NATS servers; holdfast cluster check says whether these ask for credentials`;
}

// ── the form ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The first byte of a signed message, which is the version of its form; JSON never begins with it. */
const FORM = 0x01;
const KEY_ID_BYTES = 4;
/** Half of HMAC-SHA-256: nobody can try all values. */
const MAC_BYTES = 16;
const NUMBER_BYTES = 6;
const MAC_AT = 1 + KEY_ID_BYTES;
const NUMBER_AT = MAC_AT + MAC_BYTES;
const SENDER_AT = NUMBER_AT + NUMBER_BYTES + 1;

interface Envelope {
  readonly subject: string;
  readonly replyTo: string | undefined;
  readonly sender: string;
  readonly number: number;
}

/** The form, the id of the key, the signature, the number, the sender's length and name, and the message. */
function sealed(key: MessageKey, envelope: Envelope, data: Uint8Array): Buffer {
  const { sender, number } = envelope;
  const message = Buffer.allocUnsafe(SENDER_AT + sender.length + data.length);
  message[0] = FORM;
  message.write(key.id, 1, 'hex');
  macOf(key, envelope, data).copy(message, MAC_AT);
  message.writeUIntBE(number, NUMBER_AT, NUMBER_BYTES);
  message[SENDER_AT - 1] = sender.length;
  message.write(sender, SENDER_AT, 'latin1');
  message.set(data, SENDER_AT + sender.length);
  return message;
}

/** The parts of a message, nothing of which is proved; null where it has another form. */
function open({ data }: BusMessage) {
  const length = data[SENDER_AT - 1];
  if (data[0] !== FORM || length === undefined || data.length < SENDER_AT + length) return null;
  const message = Buffer.from(data.buffer, data.byteOffset, data.length);
  return {
    keyId: message.toString('hex', 1, MAC_AT),
    mac: message.subarray(MAC_AT, NUMBER_AT),
    number: message.readUIntBE(NUMBER_AT, NUMBER_BYTES),
    sender: message.toString('latin1', SENDER_AT, SENDER_AT + length),
    data: message.subarray(SENDER_AT + length),
  };
}

function macOf({ secret }: MessageKey, { subject, replyTo, sender, number }: Envelope, data: Uint8Array): Buffer {
  // No part of the first line has a space.
  const line = `${subject} ${replyTo ?? ''} ${number} ${sender}\n`;
  return createHmac('sha256', secret).update(line, 'latin1').update(data).digest().subarray(0, MAC_BYTES);
}

// ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** How far a message may be overtaken: more than a node sends in the moment that it takes to change its server. */
const OVERTAKEN_MAX = 2_048;
const WORD_BITS = 32;
/** One more word, because the word that is being cleared does not count. */
const WORDS = OVERTAKEN_MAX / WORD_BITS + 1;

/** Processes that are remembered: more than start in the time of one. The one heard longest ago is forgotten (I10). */
const SENDERS_MAX = 1_000;

interface Sender {
  newest: number;
  /** A bit for each of the newest numbers, in a ring. */
  readonly bits: Uint32Array;
}

/** Which numbers of which senders have been taken (rule 3). */
class SeenNumbers {
  readonly #senders = new Map<string, Sender>();

  /** Whether a number is taken for the first time. */
  take(name: string, number: number): boolean {
    const sender = this.#senders.get(name) ?? { newest: 0, bits: new Uint32Array(WORDS) };
    const word = Math.floor(number / WORD_BITS);
    const newestWord = Math.floor(sender.newest / WORD_BITS);
    if (number > sender.newest) {
      const cleared = Math.min(word - newestWord, WORDS);
      for (let n = 0; n < cleared; n += 1) sender.bits[(word - n) % WORDS] = 0;
      sender.newest = number;
    } else if (newestWord - word >= WORDS - 1) return false;
    const bit = 1 << (number % WORD_BITS);
    const bits = sender.bits[word % WORDS]!;
    if ((bits & bit) !== 0) return false;
    sender.bits[word % WORDS] = bits | bit;
    this.#remember(name, sender);
    return true;
  }

  #remember(name: string, sender: Sender): void {
    this.#senders.delete(name);
    this.#senders.set(name, sender);
    if (this.#senders.size > SENDERS_MAX) this.#senders.delete(this.#senders.keys().next().value!);
  }
}
