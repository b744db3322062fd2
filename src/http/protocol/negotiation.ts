/**
 * Content negotiation: what a client accepts, which headers an answer depends on, and whether the client has the body
 * already.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLanguage, LANGUAGE_COOKIE, languageOf, type Language } from '#texts/locale/language.ts';
import { SERVED_TEXTS, type ServedTexts } from '#texts/served.ts';

export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const ranges = accept.split(',').map(readRange);
  return qualityOf(ranges, 'text/html') > qualityOf(ranges, 'application/json');
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

function readRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  const value = quality === undefined ? 1 : Number(quality.slice(2));
  return { type, quality: Number.isNaN(value) ? 0 : value };
}

/** The quality of the range that names the type most closely (RFC 9110, 12.5.1). */
function qualityOf(ranges: readonly MediaRange[], type: string): number {
  const [kind] = type.split('/');
  for (const name of [type, `${kind}/*`, '*/*']) {
    const range = ranges.find((each) => each.type === name);
    if (range !== undefined) return range.quality;
  }
  return 0;
}

/** Says that the answer differs by a header of the request, beside the headers that were named before. */
export function varyBy(reply: FastifyReply, name: string): FastifyReply {
  const named = reply.getHeader('vary');
  if (named === undefined) return reply.header('vary', name);
  const names = String(named).split(', ');
  return names.includes(name) ? reply : reply.header('vary', `${String(named)}, ${name}`);
}

/** A strong tag made of what determines the body. */
export function etagOf(...parts: readonly (string | number)[]): string {
  return `"${parts.map((part) => encodeURIComponent(part)).join('.')}"`;
}

/**
 * The tag by which an If-None-Match header names the body that has this one, in any of its codings; null when it does
 * not. Compared weakly as RFC 9110 asks; `*` names every tag.
 */
export function tagNamed(etag: string, ifNoneMatch: string | undefined): string | null {
  if (ifNoneMatch === undefined) return null;
  for (const given of ifNoneMatch.split(',')) {
    const tag = given.trim().replace(/^W\//, '');
    if (tag === '*') return etag;
    if (plainTag(tag) === etag) return tag;
  }
  return null;
}

/** The tag of the plain body, whatever the coding of the one that is given. */
function plainTag(etag: string): string {
  return etag.replace(/-(?:br|gzip)"$/, '"');
}

/** The language of whoever sends a request: what they chose in the shop, else what their browser asks for. */
export function languageOfRequest({ headers }: Pick<FastifyRequest, 'headers'>): Language {
  const [, chosen] = CHOICE.exec(headers.cookie ?? '') ?? [];
  return isLanguage(chosen) ? chosen : languageOf(headers['accept-language']);
}

const CHOICE = new RegExp(`(?:^|; )${LANGUAGE_COOKIE.replace('.', '\\.')}=(\\w+)`);

/** The texts of a page for whoever sent the request. */
export function textsFor(request: Pick<FastifyRequest, 'headers'>): ServedTexts {
  return SERVED_TEXTS[languageOfRequest(request)];
}

/** Says that the answer differs by the language of whoever asks. */
export function varyByLanguage(reply: FastifyReply): FastifyReply {
  return varyBy(varyBy(reply, 'Accept-Language'), 'Cookie');
}
