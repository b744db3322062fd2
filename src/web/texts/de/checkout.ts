/** The checkout in German. The words of the button that orders have to say that it costs money (§ 312j BGB). */
import type { Texts } from '../en/pages.ts';
import { wordingOf } from '../locale/wording.ts';

const { count } = wordingOf('de');

export const checkout: Texts['checkout'] = {
  title: 'Kasse',
  titleOf: (event) => `Kasse, ${event}`,
  loading: 'Ihre Tickets werden geladen …',
  yourDetails: 'Ihre Angaben',
  name: 'Name',
  email: 'E-Mail',
  phone: 'Telefon',
  optional: '(optional)',
  attendees: 'Wer kommt',
  attendeesNote: 'Jedes Ticket gilt für eine Person, die es am Einlass mit einem Ausweis vorzeigt.',
  ticket: 'Ticket',
  sameAsBuyer: (ticket) => `${ticket}: ich selbst`,
  extras: 'Extras',
  withTicket: (name) => `zu ${name}`,
  payment: 'Zahlung',
  howToPay: 'Wie möchten Sie bezahlen?',
  allAtOnce: 'Alles auf einmal',
  inParts: (parts) => `In ${parts} Raten`,
  now: (amount) => `jetzt ${amount}`,
  schedule: (first, later) => `jetzt ${first}, dann ${later.join(', dann ')} auf der Seite Ihrer Bestellung`,
  partsNote:
    'Es wird nichts abgebucht: Jede weitere Rate bezahlen Sie auf der Seite Ihrer Bestellung, deren Adresse Sie gleich bekommen. Ihre Tickets erhalten Sie mit der ersten Rate.',
  code: 'Gutscheincode',
  apply: 'Einlösen',
  remove: 'Entfernen',
  codeTakes: (code, amount) => `${code} ist eingelöst: ${amount} weniger.`,
  acceptTerms: 'Ich akzeptiere die [AGB] und die Hausordnung.',
  yourData: 'Was mit Ihren Daten geschieht: [Datenschutz]',
  oneMoment: 'Einen Moment …',
  getTickets: 'Tickets holen',
  // No other words: the amount stands above the button.
  order: () => 'Zahlungspflichtig bestellen',
  toPayNow: 'Jetzt zu zahlen',
  atOnce: 'Sie bekommen Ihre Tickets sofort.',
  leadingOn: (amount) => `Auf der nächsten Seite bezahlen Sie ${amount}. Ihre Tickets bleiben so lange reserviert.`,
  leadingOnParts: (amount, parts, total) =>
    `Auf der nächsten Seite bezahlen Sie ${amount}, die erste von ${parts} Raten; insgesamt ${total}. Ihre Tickets bleiben so lange reserviert.`,
  yourOrder: 'Ihre Bestellung',
  codeOf: (code) => `Code ${code}`,
  total: 'Gesamt',
};

export const problems: Texts['problems'] = {
  name: 'Bitte geben Sie Ihren Namen an.',
  email: 'Bitte geben Sie Ihre E-Mail-Adresse an.',
  noEmail: 'Das sieht nicht wie eine E-Mail-Adresse aus, zum Beispiel name@example.com.',
  attendee: 'Bitte geben Sie an, wer mit diesem Ticket kommt.',
};

export const nothingHeld: Texts['nothingHeld'] = {
  empty: 'Ihr Warenkorb ist leer',
  emptyLead: 'Wählen Sie zuerst Tickets. Sie bleiben reserviert, während Sie den Rest ausfüllen.',
  cancelled: 'Ihre Bestellung wurde storniert',
  cancelledLead: 'Die Tickets sind wieder im Verkauf. Wählen Sie neu, wenn Sie trotzdem kommen möchten.',
  dateCancelledLead: 'Ein Termin dieser Bestellung wurde abgesagt. Wenn es einen anderen gibt, können Sie ihn wählen.',
  orderRanOut: 'Ihre Bestellung ist abgelaufen',
  orderRanOutLead: 'Sie wurde nicht rechtzeitig bezahlt, die Tickets sind wieder im Verkauf. Bitte wählen Sie neu.',
  orderAgain:
    'Sie wurde nicht rechtzeitig bezahlt, die Tickets sind wieder im Verkauf. Reservieren Sie dieselben Tickets noch einmal.',
  timeRanOut: 'Ihre Zeit ist abgelaufen',
  timeAgain:
    'Die Tickets sind wieder im Verkauf. Ihre Auswahl und Ihre Angaben sind noch da: Reservieren Sie dieselben Tickets noch einmal.',
  choose: 'Tickets wählen',
  chooseAgain: 'Neu wählen',
  bought: 'Sie haben Ihre Tickets',
  boughtLead: 'Sie finden sie auf der Seite Ihrer Bestellung.',
  seeTickets: 'Zu meinen Tickets',
  buyMore: 'Weitere kaufen',
  waiting: 'Ihre Tickets warten auf die Zahlung',
  declined:
    'Die Zahlung wurde abgelehnt. Es ist nichts verloren: Versuchen Sie es noch einmal, gern mit einer anderen Karte.',
  unpaid: 'Es wurde nichts bezahlt und nichts ist verloren: Bezahlen Sie, sobald Sie so weit sind.',
  stayKept:
    'Wenn Sie neu wählen, bleiben diese Tickets bis dahin für Sie reserviert. Unbezahlt gehen sie danach zurück in den Verkauf.',
  holdAgain: (tickets) => `${count(tickets, { one: 'Ticket', other: 'Tickets' })} erneut reservieren`,
};
