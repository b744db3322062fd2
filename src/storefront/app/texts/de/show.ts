/** What an event says about itself, and what is said where scripts are switched off, in German. */
import type { Texts } from '../en.ts';

export const show: Texts['show'] = {
  entrance: (hour) => `Einlass ab ${hour} Uhr`,
  lineup: 'Mit',
  dates: 'Termine',
  prices: 'Preise',
  cancelled: 'abgesagt',
  soldOut: 'ausverkauft',
  about: (when, where) => (where === null ? when : `${when}, ${where}`),
  ticketsFrom: (price) => `Tickets ab ${price}.`,
  freeTickets: 'Kostenlose Tickets.',
};

export const noScript: Texts['noScript'] = {
  title: 'Bitte schalten Sie JavaScript ein',
  why: 'Dieser Shop zeigt freie Plätze und reserviert sie, während Sie wählen. Dafür muss Ihr Browser das Skript des Shops ausführen; von anderswo lädt er keines.',
  how: 'Schalten Sie JavaScript für diese Seite ein und laden Sie sie neu. Ihre Bestellungen und Tickets funktionieren auch ohne.',
};
