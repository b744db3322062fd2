/**
 * What a scanner read, as a ticket's code: `base64url(payload).base64url(signature)`, the payload JSON with
 * `ticket_id`, the Ed25519 signature of 86 characters. Anything else is no code. Whether it is genuine is checked by
 * whoever has the keys.
 */

interface ScannedCode {
  /** Both parts as they were read, base64url; the bytes of the first are signed. */
  readonly payload: string;
  readonly signature: string;
  readonly ticketId: string;
  /** Of codes that this service signed; null where the payload says nothing of it. */
  readonly eventId: string | null;
  readonly performanceId: string | null;
  readonly seatId: string | null;
  /** Older codes do not name it. */
  readonly ticketTypeId: string | null;
  /** The key that signed it; codes of the first versions name none. */
  readonly keyId: string | null;
}

const FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$/;
const SIGNATURE_LENGTH = 86;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The parts of a code; null where the text is none. */
export function readCode(text: string): ScannedCode | null {
  if (!FORM.test(text)) return null;
  const payload = text.slice(0, -SIGNATURE_LENGTH - 1);
  const signature = text.slice(-SIGNATURE_LENGTH);
  try {
    const characters = charactersOf(payload);
    const claims = JSON.parse(isAscii(characters) ? characters : utf8.decode(bytesOf(characters))) as unknown;
    const textOf = (name: string): string | null => {
      const value = (claims as Readonly<Record<string, unknown>> | null)?.[name];
      return typeof value === 'string' ? value : null;
    };
    const ticketId = textOf('ticket_id');
    if (ticketId === null) return null;
    return {
      payload,
      signature,
      ticketId,
      eventId: textOf('event_id'),
      performanceId: textOf('performance_id'),
      seatId: textOf('seat_id'),
      ticketTypeId: textOf('ticket_type_id'),
      keyId: textOf('kid'),
    };
  } catch {
    return null;
  }
}

/** Throws where the text is no base64url. */
export function bytesOfBase64url(text: string): Uint8Array<ArrayBuffer> {
  return bytesOf(charactersOf(text));
}

/** A character for each byte. */
function charactersOf(base64url: string): string {
  // The base64url of JSON in ASCII has neither, except for ?, > and ~; a search costs less than a replacement that
  // finds nothing.
  const isPlain = !base64url.includes('-') && !base64url.includes('_');
  return atob(isPlain ? base64url : base64url.replaceAll('-', '+').replaceAll('_', '/'));
}

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text);
}

function bytesOf(characters: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(characters.length);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = characters.charCodeAt(index);
  return bytes;
}
