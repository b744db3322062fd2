/**
 * Quotes of amendments: what an amendment would do, with a signature; the amendment is applied exactly so or not at
 * all.
 *
 * 1. Quotes are not stored. A quote is signed with the key of addresses, over the order, the request and its own
 *    content. When it is used, the amendment is planned again, and the signature fits only the same plan.
 */
import { hashOf } from '../../collections/hash-tables.ts';
import { refuse, type Refusal } from '../../refusal.ts';
import type { CancellationCause } from '../../fact.ts';
import type { Sealing } from '../../personal.ts';
import type { AmendmentQuote, AmendmentRequest, QuotedAmendment } from '../../amendment-request.ts';

/** How long a quote lasts. */
const QUOTE_MS = 10 * 60 * 1000;

/** The content of a quote. */
interface Quoted {
  readonly orderId: string;
  readonly by: CancellationCause;
  readonly request: AmendmentRequest;
  readonly quoted: QuotedAmendment;
  /** When the content would change; null where that is not foreseen. */
  readonly endsAt: number | null;
}

/** What signs; where nothing can be sealed a quote is not signed, but compared all the same. */
export interface QuoteTurn {
  readonly now: number;
  readonly sealing: Partial<Pick<Sealing, 'requestDigest'>> | null;
}

export function quoteOf(about: Quoted, turn: QuoteTurn): AmendmentQuote {
  const expiresAt = Math.min(turn.now + QUOTE_MS, about.endsAt ?? Infinity);
  return { quote: sign(about, expiresAt, turn), expiresAt, ...about.quoted };
}

/** QUOTE_STALE, with the quote of now, for a quote that ran out or says something else. */
export function checkQuote(quote: string, about: Quoted, turn: QuoteTurn): Refusal | null {
  const expiresAt = Number.parseInt(quote, 36);
  const isGood = turn.now < expiresAt && expiresAt <= turn.now + QUOTE_MS && quote === sign(about, expiresAt, turn);
  return isGood ? null : refuse('QUOTE_STALE', { quote: quoteOf(about, turn) });
}

function sign({ orderId, by, request, quoted }: Quoted, expiresAt: number, { sealing }: QuoteTurn): string {
  const text = `quote ${expiresAt} ${JSON.stringify([orderId, by, request, quoted])}`;
  return `${expiresAt.toString(36)}.${sealing?.requestDigest?.(text) ?? hashOf(text, 0).toString(36)}`;
}
