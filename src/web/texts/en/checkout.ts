/** The checkout: the form, the order before it is placed, and what is said when nothing is held. */
import { wordingOf } from '../locale/wording.ts';

const { count } = wordingOf('en');

export const checkout = {
  title: 'Checkout',
  titleOf: (event: string) => `Checkout, ${event}`,
  loading: 'Fetching your tickets …',
  yourDetails: 'Your details',
  name: 'Name',
  email: 'E-mail',
  phone: 'Phone',
  optional: '(optional)',
  attendees: 'Who is coming',
  attendeesNote: 'Each ticket is issued to one person, who shows it with a document at the entrance.',
  ticket: 'Ticket',
  sameAsBuyer: (ticket: string) => `${ticket}: same as buyer`,
  extras: 'Extras',
  withTicket: (name: string) => `with ${name}`,
  payment: 'Payment',
  howToPay: 'How to pay',
  allAtOnce: 'All at once',
  inParts: (parts: number) => `In ${parts} parts`,
  now: (amount: string) => `${amount} now`,
  /** What is due when: first, then the later parts. */
  schedule: (first: string, later: readonly string[]) =>
    `${first} now, then ${later.join(', then ')} on your order’s page`,
  partsNote:
    'Nothing is taken by itself: you pay each later part on the page of your order, whose address you get now. Your tickets are issued with the first part.',
  code: 'Code',
  apply: 'Apply',
  remove: 'Remove',
  codeTakes: (code: string, amount: string) => `${code} takes ${amount} off.`,
  acceptTerms: 'I accept the [terms of sale] and the rules of the venue.',
  yourData: 'What becomes of your data: [privacy]',
  oneMoment: 'One moment …',
  getTickets: 'Get my tickets',
  /** The words of the button where the event has none of its own. */
  order: (amount: string) => `Order and pay ${amount}`,
  toPayNow: 'To pay now',
  atOnce: 'You get your tickets at once.',
  leadingOn: (amount: string) =>
    `On the next page you pay ${amount}, the whole order. Your tickets stay kept for you meanwhile.`,
  leadingOnParts: (amount: string, parts: number, total: string) =>
    `On the next page you pay ${amount}, the first of ${parts} parts; ${total} in all. Your tickets stay kept for you meanwhile.`,
  yourOrder: 'Your order',
  codeOf: (code: string) => `Code ${code}`,
  total: 'Total',
};

/** What is wrong at a field. */
export const problems = {
  name: 'Please write your name.',
  email: 'Please write your e-mail address.',
  noEmail: 'This does not look like an e-mail address, such as name@example.com.',
  attendee: 'Please write the name of whoever comes with this ticket.',
};

/** The checkout when nothing is held. */
export const nothingHeld = {
  empty: 'Your basket is empty',
  emptyLead: 'Choose tickets first; they are held for you while you fill in the rest.',
  cancelled: 'Your order was cancelled',
  cancelledLead: 'Its tickets are back on sale. Choose again if you still want to come.',
  dateCancelledLead: 'A date of this order was cancelled. If there is another one, you can choose it.',
  orderRanOut: 'Your order ran out',
  orderRanOutLead: 'It was not paid in time, and its tickets are back on sale. Choose again.',
  orderAgain: 'It was not paid in time, and the tickets are back on sale: hold the same tickets again.',
  timeRanOut: 'Your time ran out',
  timeAgain: 'The tickets are back on sale. What you chose and wrote is kept: hold the same tickets again.',
  choose: 'Choose tickets',
  chooseAgain: 'Choose again',
  bought: 'You have your tickets',
  boughtLead: 'They are on the page of your order.',
  seeTickets: 'See my tickets',
  buyMore: 'Buy more',
  waiting: 'Your tickets wait for the payment',
  declined: 'The payment was declined. Nothing is lost: try again, with another card if you like.',
  unpaid: 'Nothing was paid and nothing is lost: go on to pay whenever you are ready.',
  stayKept: 'If you choose again, these tickets stay kept for you until that time; unpaid, they then go back on sale.',
  holdAgain: (tickets: number) => `Hold ${count(tickets, { one: 'ticket', other: 'tickets' })} again`,
};
