/** What buyers change of a paid order, in German. */
import type { changes as english } from '../en/changes.ts';
import { wordingOf } from '../locale/wording.ts';

const { count, number, listing, plural } = wordingOf('de');
const TICKETS = { one: 'Ticket', other: 'Tickets' };

export const changes: typeof english = {
  offers: 'Bestellung ändern',
  more: (n) => `und ${count(n, { one: 'weiteres Ticket', other: 'weitere Tickets' })}, die nur der Veranstalter ändert`,
  withdraw: 'Vertrag widerrufen',
  cancel: 'Tickets zurückgeben',
  until: (when) => `bis ${when} Uhr`,
  dateUntil: (date, when) => `${date}: bis ${when} Uhr`,
  withoutFee: 'ohne Gebühr',
  freeUntil: (when) => `ohne Gebühr bis ${when} Uhr`,
  feeEach: (amount) => `${amount} je Ticket`,
  feePercent: (percent) => `${number(percent)} % des Preises`,
  fees: (fees) => `Gebühr: ${listing(fees)}`,

  leave: 'So lassen, wie es ist',
  goOn: 'Weiter',
  nothingYet: 'Damit ist noch nichts geändert: Als Nächstes sehen Sie, was es bedeutet.',
  chooseSome: 'Bitte wählen Sie mindestens ein Ticket.',
  cancelWhich: 'Welche Tickets geben Sie zurück?',
  group: (n) => `${count(n, TICKETS)}, die zusammengehören`,

  withdrawTitle: 'Vertrag widerrufen',
  withdrawLead: 'Ich widerrufe den Vertrag über diese Tickets:',
  withdrawFrom: (number, when) => `Bestellung ${number} vom ${when} Uhr`,
  withdrawName: (name, email) => `Name: ${name}. E-Mail-Adresse für die Bestätigung: ${email}.`,
  confirmWithdrawal: 'Widerruf bestätigen',
  withdrawSome: 'Nur für einen Teil der Tickets',
  withdrawOver: 'Die Zeit für den Widerruf ist abgelaufen.',

  quoteTitle: 'Stimmt das so?',
  given: 'wird zurückgegeben',
  credit: 'Gutschrift',
  perksCredit: 'davon für Extras',
  fee: 'Gebühr',
  toRefund: 'Sie bekommen zurück',
  nothingBack: 'Sie bekommen kein Geld zurück.',
  wayBack: 'Das Geld geht den Weg zurück, auf dem es kam.',
  quoteHolds: (hour) => `Das gilt bis ${hour} Uhr.`,
  giveBack: (n) => `${count(n, TICKETS)} zurückgeben`,

  history: 'Änderungen dieser Bestellung',
  receipt: (when) => `Ihr Widerruf ist am ${when} Uhr bei uns eingegangen.`,
  done: (when) => `Erledigt am ${when} Uhr.`,
  cancelled: (n) => `${count(n, TICKETS)} zurückgegeben`,
  changed: (n) => `${count(n, TICKETS)} geändert`,
  reissued: (n) => count(n, { one: 'neuer Code', other: 'neue Codes' }),
  renamed: (n) => `${number(n)} ${plural(n, { one: 'Name', other: 'Namen' })} geändert`,
  withdrawn: (when, what) => `Widerruf, eingegangen am ${when} Uhr: ${what}.`,
  was: (when, what) => `${when} Uhr: ${what}.`,
  byOrganizer: 'Durch den Veranstalter.',
  byDate: 'Weil der Termin abgesagt wurde.',
  back: (amount) => `${amount} werden zurückgezahlt.`,
  costs: (amount) => `Gebühr: ${amount}.`,

  refunds: 'Rückzahlungen',
  refundPending: (amount, when) => `${amount} sind seit ${when} Uhr auf dem Weg zu Ihnen zurück.`,
  refundSucceeded: (amount, when) => `${amount} wurden am ${when} Uhr an Sie zurückgezahlt.`,
  refundFailed: (amount, when) =>
    `${amount} ließen sich am ${when} Uhr nicht zurückzahlen. Sie stehen Ihnen weiter zu: Wir versuchen es auf einem anderen Weg.`,
  refundOpen: (amount) => `${amount} sind an Sie zurückzuzahlen; der Veranstalter kümmert sich darum.`,

  voidTickets: (n) => count(n, { one: 'ungültiges Ticket', other: 'ungültige Tickets' }),
  givenBack: 'zurückgegeben',
  replaced: 'durch ein neues ersetzt',
  ofCancelledDate: 'der Termin wurde abgesagt',
  ofCancelledOrder: 'die Bestellung wurde storniert',
  inPlaceOf: (number) => `Neu; ersetzt ${number}`,
};
