/** The page of an event in German. */
import type { Texts } from '../en/pages.ts';
import { wordingOf } from '../locale/wording.ts';

const { count, plural, number } = wordingOf('de');
const TICKETS = { one: 'Ticket', other: 'Tickets' };
const MINUTES = { one: 'Minute', other: 'Minuten' };

export const event: Texts['event'] = {
  loading: 'Veranstaltung wird geladen …',
  loadingTickets: 'Ihre Tickets werden gesucht …',
  loadingPlan: 'Saalplan wird geladen …',
  ranOut: 'Ihre Zeit ist abgelaufen, die Tickets sind wieder im Verkauf.',
  stillMarked: 'Ihre Auswahl ist hier noch markiert: Reservieren Sie sie erneut, solange sie frei ist.',
  cancelled: 'Dieser Termin wurde abgesagt.',
  soldOut: 'Dieser Termin ist ausverkauft.',
  over: 'Dieser Termin ist vorbei.',
  chooseSeats: 'Plätze wählen',
  chooseDate: 'Termin wählen',
  saleFrom: (stage, when) => `${stage}: ab ${when}`,
  saleIn: 'Der Verkauf beginnt in',
  saleNote: 'Plätze und Preise können Sie schon ansehen. Der Verkauf öffnet auf dieser Seite von selbst.',
};

export const notes: Texts['notes'] = {
  cancelled: 'abgesagt',
  over: 'vorbei',
  soldOut: 'ausverkauft',
  inBaskets: 'alle in Warenkörben',
  onSale: 'im Verkauf',
  notOnSale: 'nicht im Verkauf',
  available: 'verfügbar',
  onlyLeft: (n) => `nur noch ${number(n)}`,
  group: (people) => `ein Ticket für ${people} Personen`,
  entryUntil: (time) => `Einlass bis ${time} Uhr`,
  lateFee: (price) => `danach ${price} am Einlass`,
  minConsumption: (price) => `Mindestverzehr ${price}`,
  atMost: (n) => `höchstens ${number(n)} je Bestellung`,
  onSaleFrom: (day) => `im Verkauf ab ${day}`,
  until: (day) => `bis ${day}`,
};

export const basket: Texts['basket'] = {
  title: 'Ihre Tickets',
  heldFor: 'Noch reserviert für',
  minutesLeft: (n) => `noch ${count(n, MINUTES)}`,
  empty: 'Noch nichts ausgewählt.',
  changeNotHeld: 'Ihre Änderung ist noch nicht reserviert. Bis dahin behalten Sie, was Sie hatten.',
  toCheckout: 'Zur Kasse',
  joinWaitingRoom: 'Zum Warteraum',
  keepOld: 'Auswahl zurücksetzen',
  giveBack: 'Tickets zurückgeben',
  giveAllBack: 'Alle Tickets zurückgeben',
  continueWith: (tickets) => `Weiter mit ${count(tickets, TICKETS)}`,
  holdForNow: (tickets) => `${count(tickets, TICKETS)} vorerst reservieren`,
  update: 'Reservierung ändern',
  notHeldYet: 'noch nicht reserviert',
  takeOut: (name) => `${name} entfernen`,
  fewer: (what) => `Weniger: ${what}`,
  more: (what) => `Mehr: ${what}`,
  vat: (percent, amount) => `inkl. ${number(percent)} % MwSt.: ${amount}`,
  givenBack: 'Ihre Tickets wurden zurückgegeben.',
  held: (tickets, minutes) =>
    `${count(tickets, TICKETS)} ${plural(tickets, { one: 'ist', other: 'sind' })} ${count(minutes, MINUTES)} lang für Sie reserviert.`,
  heldElsewhere:
    'Sie haben in einem anderen Fenster Tickets reserviert. Sie liegen jetzt mit Ihrer Auswahl von hier im Warenkorb: Bitte sehen Sie noch einmal nach.',
  ticketMissing: 'Dieses Ticket',
  groupIncomplete: (name, size, missing) =>
    `„${name}“ ist für ${size} Personen: Wählen Sie noch ${count(missing, { one: 'Platz', other: 'Plätze' })} oder eine andere Ticketart.`,
  atMost: (tickets) => `Sie können höchstens ${count(tickets, TICKETS)} je Bestellung kaufen.`,
  taken: (seats) => `${plural(seats, { one: 'wurde', other: 'wurden' })} gerade von jemand anderem genommen.`,
  takeInstead: (seats) => `Stattdessen ${seats}`,
  chooseOthers: 'Andere wählen',
  noThanks: 'Nein, danke',
};

export const ownOrder: Texts['ownOrder'] = {
  see: 'Zu Ihrer Bestellung',
  confirmed: 'Sie haben Tickets für diese Veranstaltung.',
  partlyPaid: (rest) => `Sie haben Tickets für diese Veranstaltung; ${rest} sind noch offen.`,
  pending: 'Sie haben für diese Veranstaltung eine Bestellung, die noch nicht bezahlt ist.',
  pendingUntil: (when) =>
    `Sie haben für diese Veranstaltung eine Bestellung, die noch nicht bezahlt ist. Die Tickets bleiben bis ${when} reserviert.`,
  pay: 'Jetzt bezahlen',
  expired: 'Ihre Bestellung wurde nicht rechtzeitig bezahlt, die Tickets sind wieder im Verkauf. Bitte wählen Sie neu.',
  cancelled: 'Ihre Bestellung wurde storniert.',
  payAmount: (amount) => `${amount} bezahlen`,
  keptFor: 'Noch reserviert für',
  payUntil: (when) => `Bitte bis ${when} bezahlen.`,
};

/** What an event says about itself. */
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

/** What is said where scripts are switched off. */
export const noScript: Texts['noScript'] = {
  title: 'Bitte schalten Sie JavaScript ein',
  why: 'Dieser Shop zeigt freie Plätze und reserviert sie, während Sie wählen. Dafür muss Ihr Browser das Skript des Shops ausführen; von anderswo lädt er keines.',
  how: 'Schalten Sie JavaScript für diese Seite ein und laden Sie sie neu. Ihre Bestellungen und Tickets funktionieren auch ohne.',
};
