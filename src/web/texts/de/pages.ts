/** The texts of the pages in German. */
import type { Texts } from '../en/pages.ts';
import * as checkout from './checkout.ts';
import * as event from './event.ts';
import * as plan from './plan.ts';
import * as refusals from './refusals.ts';
import * as waiting from './waiting.ts';
import { wordingOf } from '../locale/wording.ts';

const { count } = wordingOf('de');
const TICKETS = { one: 'Ticket', other: 'Tickets' };
const DAYS = { one: 'Tag', other: 'Tage' };

export const de: Texts = {
  frame: {
    shop: 'Tickets',
    description: 'Wählen Sie eine Veranstaltung. Ihre Tickets bleiben reserviert, während Sie sich entscheiden.',
    skip: 'Zum Inhalt springen',
    language: 'Sprache',
    nextStep: 'Nächster Schritt',
    offline:
      'Kein Netz. Die Seite geht von selbst weiter, sobald es wieder da ist; was reserviert ist, bleibt es, bis die Zeit abläuft.',
    yourBasket: 'Ihr Warenkorb:',
    tickets: (n) => count(n, TICKETS),
    held: 'Reservierte Tickets gehören Ihnen, bis die Uhr abgelaufen ist.',
    forDevelopers: 'Für Entwickler',
    support: 'Fragen:',
    credit: 'Tickets mit Holdfast',
    terms: 'AGB',
    imprint: 'Impressum',
    privacy: 'Datenschutz',
    days: (n) => count(n, DAYS),
  },
  list: {
    title: 'Programm',
    lead: 'Wählen Sie eine Veranstaltung. Ihre Tickets bleiben reserviert, während Sie sich entscheiden.',
    loading: 'Veranstaltungen werden geladen …',
    empty: 'Zurzeit ist nichts im Verkauf.',
    more: 'Weitere Veranstaltungen',
    soldOut: 'Ausverkauft',
    over: 'Vorbei',
    saleFrom: (when) => `im Verkauf ab ${when}`,
    waitingRoom: 'Warteraum',
    noDates: 'Termine folgen',
    from: (price) => `ab ${price}`,
    search: 'Suche',
    searchHint: 'Name oder Ort',
    city: 'Stadt',
    anyCity: 'Alle Städte',
    month: 'Monat',
    anyMonth: 'Alle Monate',
    priceUpTo: (currency) => `Preis bis (${currency})`,
    found: (n) => count(n, { one: 'Veranstaltung', other: 'Veranstaltungen' }),
    noneFits: 'Keine Veranstaltung passt.',
    noneFitsHint: 'Versuchen Sie es mit einem anderen Wort, einer anderen Stadt oder einem höheren Preis.',
    showAll: 'Alle Veranstaltungen zeigen',
  },
  missing: {
    title: 'Nicht gefunden',
    page: 'Diese Seite gibt es nicht',
    event: 'Diese Veranstaltung gibt es nicht',
    now: 'Das können wir gerade nicht zeigen',
    oldLink: 'Der Link ist vielleicht veraltet oder falsch geschrieben.',
    seeAll: 'Alle Veranstaltungen',
  },
  ...event,
  ...checkout,
  ...waiting,
  ...refusals,
  ...plan,
};
