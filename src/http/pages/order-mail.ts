/**
 * The mail with the address of an order's page, in plain text and in HTML: a link and the details of the event.
 *
 * 1. It has no code of a ticket and no name: mails are forwarded, and kept by others.
 * 2. It loads nothing: no pictures, no fonts, nothing that tells whether it was read.
 * 3. It is in the buyer's language where that is known, else in all.
 */
import { brandOf } from '#brand/brand.ts';
import type { BrandDefinition } from '#domain/catalogue/definition.ts';
import { numberOf } from '#domain/orders/told-numbers.ts';
import type { MailedOrder } from '#notifications/mail.ts';
import type { MailContent } from '#notifications/smtp.ts';
import { isLanguage } from '#texts/locale/language.ts';
import { SERVED_TEXTS, type ServedTexts } from '#texts/served.ts';
import { html, type Html } from './html.ts';
import { doorsAtOf, placeOf } from './place.ts';

interface WrittenOrder extends MailedOrder {
  /** By whose name the mail is signed, where the event has no brand of its own. */
  readonly brand: BrandDefinition | null;
  readonly baseUrl: string;
}

export function orderMail(written: WrittenOrder): MailContent {
  const { order, language } = written;
  const { name } = brandOf(written.brand, written.definition);
  const languages = isLanguage(language) ? [SERVED_TEXTS[language]] : Object.values(SERVED_TEXTS);
  const parts = languages.map((texts) => ({ texts, facts: factsOf(written, texts) }));
  const href = `${written.baseUrl}/orders/${order.id}`;
  return {
    subject: languages.map(({ mail }) => mail.subject(order.event.name)).join(' / '),
    text: [...parts.map((part) => textOf(part, href)), name].join('\n\n'),
    html: html`<!doctype html>
      <html lang="${languages[0]!.frame.language}">
        <head>
          <meta charset="utf-8" />
          <title>${order.event.name}</title>
        </head>
        <body style="font-family: sans-serif; max-width: 36em; margin: 2em auto; padding: 0 1em; line-height: 1.5">
          ${parts.map((part) => htmlOf(part, href))}
          <p>${name}</p>
        </body>
      </html>`.html,
  };
}

type Facts = readonly (readonly [name: string, value: string])[];

interface Part {
  readonly texts: ServedTexts;
  readonly facts: Facts;
}

function factsOf({ order, definition }: WrittenOrder, texts: ServedTexts): Facts {
  const { frame, mail: words } = texts;
  const { timezone } = definition;
  const place = placeOf(definition, texts);
  const dates = order.event.performances.flatMap(({ id, name, startsAt }): Facts => {
    const doorsAt = doorsAtOf(definition, id);
    const when = startsAt === null ? name : `${name}, ${frame.dayAndHour(startsAt, timezone)}`;
    return [
      [words.when, when],
      ...(doorsAt === null ? [] : ([[words.doors, frame.dayAndHour(doorsAt, timezone)]] as const)),
    ];
  });
  return [
    ...dates,
    ...(place === null ? [] : ([[words.where, place.inALine]] as const)),
    [words.tickets, String(order.ticketCount)],
    [texts.order.number, numberOf(order.id)],
  ];
}

function textOf({ texts: { mail: words }, facts }: Part, href: string): string {
  const lines = facts.map(([name, value]) => `${name}: ${oneLine(value)}`);
  return [words.page, href, '', ...lines, '', words.secret].join('\n');
}

function htmlOf({ texts: { mail: words, frame }, facts }: Part, href: string): Html {
  const rows = facts.map(
    ([name, value]) =>
      html`<tr>
        <td style="padding-right: 1em; vertical-align: top">${name}</td>
        <td>${value}</td>
      </tr>`,
  );
  return html`<div lang="${frame.language}" style="margin-bottom: 3em">
    <p>${words.page}</p>
    <p><a href="${href}">${words.open}</a></p>
    <table>
      ${rows}
    </table>
    <p><small>${words.secret}</small></p>
  </div>`;
}

/** A value of the catalogue cannot add lines to the mail. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
