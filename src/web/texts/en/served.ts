/**
 * The pages that the service writes itself: an order, its payment in the sandbox, the proof of a draw, what is not
 * there.
 */
import { wordingOf } from '../locale/wording.ts';
import { changes } from './changes.ts';
import { refusals, refused } from './refusals.ts';

const { count, number, dayAndHour, hour, money } = wordingOf('en');

const frame = {
  language: 'en',
  /** What a shop without a name is called. */
  shop: 'Tickets',
  credit: 'Tickets by Holdfast',
  questions: 'Questions about an order? Have its order number at hand.',
  seeAll: 'See all events',
  dayAndHour,
  hour,
  money,
  free: 'Free',
};

const order = {
  title: (event: string) => `${event}: your order`,
  going: (firstName: string) => (firstName === '' ? 'You are going' : `You are going, ${firstName}`),
  waiting: 'Your tickets wait for the payment',
  ranOut: 'Your order ran out',
  wasCancelled: 'This order was cancelled',
  confirmed: 'Confirmed',
  partlyPaid: 'Partly paid',
  declined: 'Payment declined',
  awaiting: 'Awaiting payment',
  expired: 'Expired',
  cancelled: 'Cancelled',
  paidInFull: 'Paid in full.',
  below: 'Your tickets are below.',
  installments: (paid: number, all: number, rest: string) =>
    `${paid} of ${all} installments are paid, ${rest} is still to come.`,
  keptUntil: (when: string) => `Your tickets are kept for you until ${when}.`,
  tryAgain: 'The payment was declined; you can try again.',
  notArrived: 'The payment has not arrived yet.',
  timeRanOut: 'The time to pay ran out and the tickets are back on sale.',
  dateCancelled: 'A date of this order was cancelled.',
  orderCancelled: 'This order was cancelled.',
  givenBack: (amount: string) => `${amount} will be given back to you.`,
  ofDateCancelled: '(cancelled)',
  calendar: 'Add to my calendar',
  showOrPrint: 'Show the codes on your phone, or print this page or save it as a PDF: each ticket has a page.',
  chooseAgain: 'Choose again',
  pay: (amount: string) => `Pay ${amount}`,
  payBy: (when: string) => `Pay by ${when}`,
  lookAgain: 'Look again',
  bought: 'What you bought',
  code: (code: string) => `Code ${code}`,
  total: 'Total',
  paid: 'Paid',
  fees: 'Fees for changes',
  goodwill: 'Not charged',
  refunded: 'Given back',
  refundDue: 'Due back to you',
  vat: (percent: number, amount: string) => `including ${number(percent)} % VAT: ${amount}`,
  number: 'Order number',
  secret:
    'Whoever has the address of this page sees your tickets: keep it to yourself. For questions, the order number is enough.',
  unreadable: 'The personal data of this order cannot be read.',
  erased: (when: string | null) =>
    `Personal data was erased${when === null ? '' : ` on ${when}`}: nobody can read any more who bought these tickets. They stay as they were.`,
  map: 'Map',
  sendLink: 'Mail me the link to this page',
  linkSent: (address: string) => `The link to this page is on its way to ${address}.`,
  terms: 'Terms',
  imprint: 'Imprint',
  privacy: 'Privacy',
};

/** The mail with the address of an order's page. */
const mail = {
  subject: (event: string) => `Your tickets: ${event}`,
  page: 'Your order is confirmed. This page has your tickets, to show or to print:',
  open: 'Open my order',
  when: 'When',
  doors: 'Doors',
  where: 'Where',
  tickets: 'Tickets',
  secret: 'Whoever has this link sees your tickets: keep this mail to yourself.',
};

const ticket = {
  qrCode: 'QR code',
  all: 'Tickets',
  allVoid: 'Tickets (void)',
  void: 'Void',
  voidNote: 'These tickets are void: no door lets anybody in with them.',
  more: (n: number) => `and ${count(n, { one: 'more ticket', other: 'more tickets' })}`,
  place: (n: number, all: number) => `${n} of ${all}`,
  row: (label: string) => `row ${label}`,
  seat: (label: string) => `seat ${label}`,
  doorsAt: (time: string) => `Doors open at ${time}`,
  price: (price: string, places: number) =>
    places === 1 ? `Price: ${price}` : `Price: ${price} for ${places} tickets`,
  doors: (names: string, n: number) => `${n === 1 ? 'Door' : 'Doors'}: ${names}`,
  entryUntil: (time: string) => `Entry until ${time}`,
  entryLate: (time: string, fee: string) => `Entry until ${time}, ${fee} at the entrance after that`,
  prepaid: (perks: string) => `Prepaid: ${perks}`,
};

const sandbox = {
  title: (event: string) => `Pay for ${event}`,
  yourOrder: 'Your order',
  sandbox: 'Sandbox.',
  note: 'A stand-in for a payment provider: no money moves.',
  pay: 'Pay',
  decline: 'Decline',
  cancel: 'Cancel',
  cancelNote: 'Cancel leads back to the shop. The order stays as it is and can be paid until its time is over.',
  installment: (n: number, all: number, total: string) => `Installment ${n} of ${all}; the order comes to ${total}.`,
  payUntil: (when: string) => `To be paid until ${when}.`,
  wasPaid: 'This session was paid already; paying again counts once.',
  wasDeclined: 'This session was declined; paying it now is late money.',
  wasCancelled: 'This session was cancelled; paying it now is late money.',
  wasExpired: 'The time for this session ran out; paying it now is late money.',
};

const draw = {
  title: (event: string) => `The draw for ${event}`,
  pending: 'Not drawn yet',
  drawn: 'Drawn',
  promise: (when: string | null) =>
    `The line is drawn when the doors open${when === null ? '' : ` on ${when}`}. Keep the commitment below to compare it then.`,
  outcome: (people: number, when: string) =>
    `The line of ${count(people, { one: 'person', other: 'people' })} was drawn on ${when}.`,
  why: 'Why nobody could steer it',
  seed: 'When the waiting room was set up, a secret number was drawn, the seed, and only its fingerprint was shown: the commitment. Nobody can find another number with the same fingerprint, so the seed could not be exchanged.',
  opening:
    'Everybody who was waiting when the doors opened took part. In that moment a second random number was made, the opening, and recorded together with the list. Each place in line is worked out from the seed, the opening and the list of all who took part. So nobody knew any place before the list was complete, not even somebody who could read the seed. When somebody came made no difference.',
  shown:
    "Afterwards the seed, the opening and the whole line are shown here, so that anybody can work out the line again. Entries are shown by their fingerprints, because an entry's id is its pass.",
  old: 'This draw is from before openings were made: its line comes from the seed and the list alone. Nobody could exchange the seed, but whoever could read it beforehand could work out places in advance.',
  commitmentFigure: 'Commitment',
  seedFigure: 'Seed',
  openingFigure: 'Opening',
  digestFigure: 'Digest of all entries',
  check: 'Check it yourself',
  withHoldfast: 'With Holdfast:',
  /** Two parts of the text are code: the file to save, then the command. */
  withNode: 'With Node alone, save these lines as [check-draw.mjs] and run',
  ownPlace:
    "Your own place: look for the SHA-256 of your entry's id in the list of entries; where it stands is where you stood.",
};

/** What an error page says, by code: its heading and a hint. */
const failures = {
  NOT_FOUND: ['There is nothing at this address.', 'The link may be old, or mistyped.'],
  EVENT_NOT_FOUND: ['There is no such event.', 'It may have been taken off sale.'],
  ORDER_NOT_FOUND: [
    'There is no such order.',
    'An order’s address is long and exact. Open it from the shop, or copy all of it.',
  ],
  ORDER_NOT_PAYABLE: ['Nothing is left to pay on this order.', ''],
  OVERLOADED: ['The service is busy.', 'Nothing was changed. Please load the page again in a moment.'],
  ORDER_NOT_MAILABLE: ['There is nothing to mail of this order.', 'Its page says how it stands.'],
  ORDER_ERASED: ['The personal data of this order was erased.', 'Nobody knows any more where to send a mail.'],
  MAIL_OFF: ['No mail is sent here.', 'Keep the address of the page of your order.'],
  MAIL_LIMIT_EXCEEDED: [
    'So many mails of this order were sent today.',
    'Please look into the folder for spam, or try again tomorrow.',
  ],
  RATE_LIMITED: ['Too many requests.', 'Please load the page again in a moment.'],
  PAYMENT_PROVIDER_UNAVAILABLE: [
    'The payment provider cannot be reached.',
    'Your tickets stay yours until the time to pay is over. Please try again in a moment.',
  ],
  INTERNAL: ['Something went wrong on our side.', 'Please load the page again.'],
  /** Any other. */
  OTHER: ['This page cannot be shown.', 'The link may be old, or mistyped.'],
} as const satisfies Record<string, Failure>;

/** The heading and the hint of an error page. */
type Failure = readonly [heading: string, hint: string];

export const served = {
  frame,
  order,
  mail,
  ticket,
  changes,
  sandbox,
  draw,
  refusals,
  refused,
  failures: failures as Readonly<Record<keyof typeof failures, Failure>>,
};
