/**
 * Personal data of an order: who buys, who comes, and what a storefront told of the buyer.
 *
 * Facts keep it as one sealed text. The text is opened only where it is shown, outside of the domain; the domain needs
 * only a keyed hash of the buyer's address.
 *
 * 1. A sealed text is `<keyId>.<base64url of nonce, ciphertext and tag>`. Each has a key of its own, and it is bound to
 *    the id of its order and the type of its fact.
 * 2. To erase an order is to destroy the keys of its texts and to keep a fact that says so. The hash of the address
 *    stays in the facts and the state, because the tickets of a live order count for it; the order is not found by it
 *    any more.
 * 3. Facts of older versions have open fields. They stay readable, and nothing of them can be erased.
 */

/** A person on a ticket. */
export interface Attendee {
  readonly name: string;
  readonly email: string | null;
  readonly documentNumber: string | null;
  readonly phone: string | null;
}

/** Who buys; the address as typed. */
export interface Customer {
  readonly email: string;
  readonly name: string;
  readonly documentNumber: string | null;
  readonly phone: string | null;
}

/** What the sealed text of an OrderPlaced says. */
export interface PersonalData {
  readonly customer: Customer;
  /** One entry for each item: the people on its tickets, in their order, or null where nobody was named. */
  readonly attendees: readonly (readonly Attendee[] | null)[];
  /** Attribution data; bounded by `tracking.ts`, older facts may have values that are no texts. */
  readonly tracking: Readonly<Record<string, unknown>> | null;
}

/** Personal data as facts and orders keep them. */
export interface SealedPersonal {
  /** Null once it was erased. */
  readonly sealed: string | null;
  /** Equal for addresses that are one buyer's at this event. */
  readonly addressHash: string;
}

/** What the sealed texts of facts say: personal data, or a note. */
interface SealedValues {
  OrderPlaced: PersonalData;
  SoldAtCounter: string;
  OrderAmended: string | readonly Attendee[];
  OrderCancelled: string;
  RefundRecorded: string;
  TicketScannedByHand: string;
}

export type SealingFactType = keyof SealedValues;

/**
 * The fact type that the text of a stored fact is sealed for: all facts of a refund share one, and so do those of an
 * amendment. Null: the fact has no sealed text.
 */
export function sealingTypeOf(factType: string): SealingFactType | null {
  switch (factType) {
    case 'RefundRequested':
    case 'RefundAnswered':
      return 'RefundRecorded';
    case 'AmendmentRequested':
      return 'OrderAmended';
    case 'OrderPlaced':
    case 'SoldAtCounter':
    case 'OrderAmended':
    case 'OrderCancelled':
    case 'RefundRecorded':
    case 'TicketScannedByHand':
      return factType;
    default:
      return null;
  }
}

/** What a turn seals with. */
export interface Sealing {
  /** Seals a value as JSON, with a key of its own (rule 1). Throws where no key is at hand. */
  seal<Type extends SealingFactType>(orderId: string, factType: Type, value: SealedValues[Type]): string;
  /**
   * The keyed hash of an address at the turn's event; equal for addresses that purchase limits take for one buyer's.
   */
  addressHash(email: string): string;
  /** Replaces the digest of a request with personal data, so that nobody can test a guess of the body. */
  requestDigest(digest: string): string;
}

/** A request of a person or an operator, or the retention of the event. */
export type ErasureCause = 'REQUEST' | 'RETENTION';

/** When and by whom an order was erased. */
export interface Erasure {
  readonly at: number;
  /** Null for the retention, and where nobody said. */
  readonly operator: string | null;
  readonly cause: ErasureCause;
}

/** The personal data of an order as its views carry them: sealed, open from an older fact, or erased. */
export interface SealedOrder {
  readonly orderId: string;
  /** A text of an OrderPlaced; null once it was erased, and where the data are open. */
  readonly sealed: string | null;
  /** Of a fact from before there was sealing (rule 3). */
  readonly open: PersonalData | null;
  readonly erasure: Erasure | null;
  /** The people that amendments named: they stand behind the items in `attendees`. Absent where there are none. */
  readonly amended?: readonly SealedPeople[];
}

/** The people that an amendment named. */
export interface SealedPeople {
  /** Null once it was erased, and where they are open. */
  readonly sealed: string | null;
  readonly open: readonly Attendee[] | null;
}

/** The id of the key that opens a sealed text. */
export function keyIdOf(sealedText: string): string {
  // A key id has a dot itself, before its number; base64url has none.
  return sealedText.slice(0, sealedText.lastIndexOf('.'));
}

// ── the text that is sealed ──────────────────────────────────────────────────────────────────────────────────────────

/**
 * Data as they are sealed: without the names of their fields, because every order keeps its text in memory. 0 stands
 * for null.
 */
type Compact = readonly [...person: CompactPerson, attendees: number | readonly unknown[], tracking: unknown];
type CompactPerson = readonly [email: string | 0, name: string, documentNumber: string | 0, phone: string | 0];

/** The short form of an order's data; where nobody is named, a count of items stands for their attendees. */
export function compactData({ customer, attendees, tracking }: PersonalData): unknown {
  const isNamed = attendees.some((people) => people !== null);
  const people = isNamed ? attendees.map((each) => each?.map(compactPerson) ?? 0) : attendees.length;
  return [...compactPerson(customer), people, tracking ?? 0] satisfies Compact;
}

/** The data of a short form. */
export function expandData(compact: unknown): PersonalData {
  const [email, name, documentNumber, phone, people, tracking] = compact as Compact;
  const attendees =
    typeof people === 'number'
      ? new Array<null>(people).fill(null)
      : people.map((each) => (each === 0 ? null : (each as readonly CompactPerson[]).map(expandPerson)));
  const customer = { name, email: email as string, documentNumber: orNull(documentNumber), phone: orNull(phone) };
  return { customer, attendees, tracking: tracking === 0 ? null : (tracking as PersonalData['tracking']) };
}

function compactPerson({ email, name, documentNumber, phone }: Attendee): CompactPerson {
  return [email ?? 0, name, documentNumber ?? 0, phone ?? 0];
}

function expandPerson([email, name, documentNumber, phone]: CompactPerson): Attendee {
  return { name, email: orNull(email), documentNumber: orNull(documentNumber), phone: orNull(phone) };
}

/** An empty text is a value. */
function orNull(value: string | 0): string | null {
  return value === 0 ? null : value;
}

/** Who requests that an order is mailed again. */
export interface MailRequest {
  readonly by: 'BUYER' | 'OPERATOR';
  readonly operator: string | null;
  /** Of the buyer's page; null: not known, so in all. */
  readonly language: string | null;
}

export interface RequestedMails {
  /** When mails of an order were requested, the newest `MAILS_A_DAY_MAX`; absent before the first. */
  mailsRequestedAt?: readonly number[];
}
