/** What went wrong and what to do next, in German. */
import type { Texts } from '../en/pages.ts';
import { wordingOf } from '../locale/wording.ts';

const { count, number } = wordingOf('de');
const TICKETS = { one: 'Ticket', other: 'Tickets' };

export const refusals: Texts['refusals'] = {
  UNREACHABLE:
    'Wir erreichen den Shop gerade nicht. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal; es ist nichts verloren.',
  OVERLOADED: 'Hier ist gerade sehr viel los. Bitte versuchen Sie es gleich noch einmal.',
  RATE_LIMITED: 'Das waren viele Anfragen auf einmal. Bitte warten Sie einen Moment und versuchen Sie es noch einmal.',
  INTERNAL: 'Bei uns ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal.',
  REQUEST_TIMEOUT: 'Das hat zu lange gedauert. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  SEAT_NOT_SELLABLE: 'Einer dieser Plätze ist nicht im Verkauf. Bitte wählen Sie einen anderen.',
  SEAT_NOT_IN_TICKET_TYPE: 'Einer dieser Plätze gehört nicht zu dieser Ticketart. Bitte wählen Sie einen anderen.',
  SEAT_COUNT_MISMATCH: 'Die Zahl der Plätze passt nicht zu den Tickets. Bitte wählen Sie neu.',
  SEATING_NOT_ENABLED: 'Diese Tickets haben keine nummerierten Plätze. Bitte wählen Sie neu.',
  TICKET_NOT_ON_SALE: 'Diese Tickets sind zurzeit nicht im Verkauf.',
  TICKET_TYPE_NOT_FOUND: 'Diese Ticketart gibt es nicht mehr. Bitte laden Sie die Seite neu.',
  SELLING_STAGE_NOT_FOUND: 'Dieses Angebot gibt es nicht mehr. Bitte laden Sie die Seite neu.',
  PERFORMANCE_REQUIRED: 'Bitte wählen Sie zuerst einen Termin.',
  PERFORMANCE_NOT_ON_SALE: 'Dieser Termin ist nicht mehr im Verkauf.',
  PERFORMANCE_NOT_FOUND: 'Diesen Termin gibt es nicht mehr.',
  EVENT_NOT_FOUND: 'Wir haben diese Veranstaltung nicht gefunden. Vielleicht ist sie nicht mehr im Verkauf.',
  HOLD_EXPIRED: 'Ihre Reservierung ist abgelaufen, die Tickets sind wieder im Verkauf. Bitte wählen Sie neu.',
  HOLD_NOT_ACTIVE: 'Diese Reservierung ist nicht mehr offen: Sie wurde bestellt oder zurückgegeben.',
  HOLD_NOT_FOUND: 'Diese Reservierung gibt es nicht mehr. Bitte wählen Sie neu.',
  HOLD_ITEMS_MISMATCH: 'Ihre Tickets wurden in einem anderen Fenster geändert. Bitte laden Sie die Seite neu.',
  IDEMPOTENCY_KEY_REUSED: 'Ihre Bestellung hat sich inzwischen geändert. Bitte laden Sie die Seite neu.',
  QUEUE_NOT_ENABLED: 'Diese Veranstaltung hat keinen Warteraum: Sie können sofort Tickets wählen.',
  QUEUE_PASS_REQUIRED: 'Diese Veranstaltung hat einen Warteraum. Bitte stellen Sie sich zuerst an.',
  QUEUE_PASS_INVALID: 'Ihre Zeit ist abgelaufen. Bitte stellen Sie sich noch einmal an.',
  QUEUE_ENTRY_NOT_FOUND: 'Ihr Platz in der Schlange ist weg. Bitte stellen Sie sich noch einmal an.',
  TERMS_NOT_ACCEPTED: 'Bitte akzeptieren Sie die AGB, um fortzufahren.',
  PROMO_CODE_INVALID: 'Dieser Code gilt nicht für diese Tickets.',
  PROMO_CODE_EXHAUSTED: 'Dieser Code ist aufgebraucht.',
  ATTENDEE_COUNT_MISMATCH: 'Bitte geben Sie für jedes Ticket einen Namen an.',
  BAR_PERK_NOT_FOUND: 'Dieses Extra gibt es nicht mehr.',
  BAR_PERK_LIMIT_EXCEEDED: 'So viele Extras sind mit Ihren Tickets nicht möglich.',
  INSTALLMENTS_NOT_ALLOWED: 'So viele Raten gibt es für diese Veranstaltung nicht.',
  PAYMENT_PROVIDER_UNAVAILABLE:
    'Der Zahlungsdienst ist nicht erreichbar. Ihre Tickets sind sicher: Bitte versuchen Sie es noch einmal.',
  ORDER_NOT_FOUND: 'Wir haben diese Bestellung nicht gefunden.',
  ORDER_NOT_PAYABLE: 'Bei dieser Bestellung ist nichts mehr offen.',
  ORDER_NOT_AMENDABLE: 'Diese Bestellung lässt sich nicht mehr ändern.',
  AMENDMENT_NOT_ALLOWED:
    'Diese Änderung wird nicht angeboten, oder es ist zu spät dafür. Bitte fragen Sie den Veranstalter.',
  AMENDMENT_PENDING:
    'Eine andere Änderung dieser Bestellung wartet auf ihre Zahlung. Bitte bezahlen oder verwerfen Sie sie zuerst.',
  AMENDMENT_NOT_PENDING: 'Diese Änderung ist vorbei: Sie wurde gemacht, verworfen oder ist abgelaufen.',
  QUOTE_STALE: 'Was wir Ihnen genannt haben, hat sich inzwischen geändert. Bitte sehen Sie es sich noch einmal an.',
  TICKET_NOT_FOUND: 'Eines dieser Tickets gehört nicht zu dieser Bestellung.',
  TICKET_VOID: 'Eines dieser Tickets ist nicht mehr gültig.',
  UNIT_INCOMPLETE: 'Die Tickets einer Gruppe lassen sich nur zusammen ändern.',
  TICKET_ADMITTED:
    'Eines dieser Tickets wurde am Einlass schon benutzt und lässt sich nicht mehr ändern. Bitte fragen Sie den Veranstalter.',
  ORDER_ERASED: 'Die persönlichen Daten dieser Bestellung wurden gelöscht: Auf ihren Tickets steht kein Name mehr.',
};

export const refused: Texts['refused'] = {
  inPage: 'Auf dieser Seite ist etwas schiefgegangen. Bitte laden Sie sie neu.',
  other: 'Das hat nicht geklappt. Bitte laden Sie die Seite neu.',
  retryIn: (seconds) => `(in etwa ${number(seconds)} s)`,
  maxPerOrder: (limit) => `Von diesem Ticket können Sie höchstens ${number(limit)} je Bestellung kaufen.`,
  maxTickets: (limit) => `Sie können höchstens ${count(limit, TICKETS)} je Bestellung kaufen.`,
  perEmail: (limit) => `Für diese Veranstaltung gibt es höchstens ${count(limit, TICKETS)} je E-Mail-Adresse.`,
  perkSoldOut: 'Dieses Extra ist ausverkauft.',
  perksLeft: (n) => `Von diesem Extra gibt es nur noch ${number(n)}.`,
  noBlock: (longest) =>
    `So viele freie Plätze nebeneinander gibt es nicht, höchstens ${number(longest)}. Wählen Sie Plätze im Plan oder nehmen Sie weniger.`,
  onlyLeft: (tickets) => `Zurzeit gibt es nur noch ${count(tickets, TICKETS)}.`,
  nothingLeft: 'Zurzeit ist nichts mehr frei.',
  paused: (message) =>
    `Der Verkauf ist gerade angehalten. Was reserviert ist, kann gekauft werden.${message === null ? '' : ` ${message}`}`,
  soldOut: 'Diese Tickets sind ausverkauft.',
  inBaskets: 'Andere haben noch welche im Warenkorb; vielleicht werden Tickets wieder frei.',
  inBasketsUntil: (hour) =>
    `Andere haben noch welche im Warenkorb; vielleicht werden ab ${hour} Uhr Tickets wieder frei.`,
  seatsTaken: (seats, names) =>
    seats > 1
      ? `${number(seats)} dieser Plätze wurden gerade von jemand anderem genommen${inBrackets(names)}. Bitte wählen Sie andere.`
      : `Dieser Platz wurde gerade von jemand anderem genommen${inBrackets(names)}. Bitte wählen Sie einen anderen.`,
  notOffered: 'Diese Änderung wird hier nicht angeboten. Bitte fragen Sie den Veranstalter.',
  notThisType: 'Diese Ticketart lässt sich hier nicht ändern. Bitte fragen Sie den Veranstalter.',
  tooLate: (when) => `Das war bis ${when} Uhr möglich. Bitte fragen Sie den Veranstalter.`,
  changesNothing:
    'Damit ändert sich nichts: Bitte wählen Sie einen anderen Termin, eine andere Ticketart oder einen anderen Platz.',
  checkEmail: 'Bitte prüfen Sie die E-Mail-Adresse.',
  checkName: 'Bitte prüfen Sie den Namen.',
  checkEntries: 'Bitte prüfen Sie Ihre Angaben.',
};

function inBrackets(text: string): string {
  return text === '' ? '' : ` (${text})`;
}
