/** The language of whoever sends a request: what they chose in the shop, else what their browser asks for. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLanguage, LANGUAGE_COOKIE, languageOf, type Language } from '#texts/language.ts';
import { SERVED_TEXTS, type ServedTexts } from '#texts/served.ts';
import { varyBy } from './negotiation.ts';

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
