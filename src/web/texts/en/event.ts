/** The page of an event: dates, tickets, what is chosen and what is held. */
import { wordingOf } from '../locale/wording.ts';

const { count, plural, number } = wordingOf('en');
const TICKETS = { one: 'ticket', other: 'tickets' };
const MINUTES = { one: 'minute', other: 'minutes' };

export const event = {
  loading: 'Loading the event …',
  loadingTickets: 'Looking for your tickets …',
  loadingPlan: 'Drawing the plan …',
  ranOut: 'Your time ran out and the tickets are back on sale.',
  stillMarked: 'What you chose is still marked here: hold it again if it is still free.',
  cancelled: 'This date has been cancelled.',
  soldOut: 'This date is sold out.',
  over: 'This date is over.',
  chooseSeats: 'Choose seats',
  chooseDate: 'Choose a date',
  saleFrom: (stage: string, when: string) => `${stage}: from ${when}`,
  saleIn: 'Tickets can be bought in',
  saleNote: 'You can look at seats and prices already. This page opens the sale by itself.',
};

/** A date, a ticket or a seat in a few words. */
export const notes = {
  cancelled: 'cancelled',
  over: 'over',
  soldOut: 'sold out',
  inBaskets: 'all in baskets',
  onSale: 'on sale',
  notOnSale: 'not on sale',
  available: 'available',
  onlyLeft: (n: number) => `only ${number(n)} left`,
  group: (people: number) => `${people} people on one ticket`,
  entryUntil: (time: string) => `entry until ${time}`,
  lateFee: (price: string) => `${price} at the entrance after that`,
  minConsumption: (price: string) => `minimum consumption ${price}`,
  atMost: (n: number) => `at most ${number(n)} an order`,
  onSaleFrom: (day: string) => `on sale from ${day}`,
  until: (day: string) => `until ${day}`,
};

export const basket = {
  title: 'Your tickets',
  heldFor: 'Held for you for',
  minutesLeft: (n: number) => `${count(n, MINUTES)} left`,
  empty: 'Nothing chosen yet.',
  changeNotHeld: 'Your change is not held yet. What you held before stays yours until it is.',
  toCheckout: 'Go to checkout',
  joinWaitingRoom: 'Join the waiting room',
  keepOld: 'Keep what I had',
  giveBack: 'Give the tickets back',
  giveAllBack: 'Give all tickets back',
  continueWith: (tickets: number) => `Continue with ${count(tickets, TICKETS)}`,
  holdForNow: (tickets: number) => `Hold ${count(tickets, TICKETS)} for now`,
  update: 'Update my tickets',
  notHeldYet: 'not held yet',
  takeOut: (name: string) => `Take out ${name}`,
  fewer: (what: string) => `Fewer: ${what}`,
  more: (what: string) => `More: ${what}`,
  vat: (percent: number, amount: string) => `including ${number(percent)} % VAT: ${amount}`,
  givenBack: 'Your tickets were given back.',
  held: (tickets: number, minutes: number) => `${count(tickets, TICKETS)} held for you for ${count(minutes, MINUTES)}.`,
  heldElsewhere:
    'You hold tickets in another window. They are in your basket now, with what you chose here: please look again.',
  ticketMissing: 'This ticket',
  groupIncomplete: (name: string, size: number, missing: number) =>
    `“${name}” is for ${size} people: pick ${missing} more ${plural(missing, { one: 'seat', other: 'seats' })}, or another kind of ticket.`,
  atMost: (tickets: number) => `You can buy at most ${count(tickets, TICKETS)} in one order.`,
  taken: (seats: number) => `${plural(seats, { one: 'was', other: 'were' })} just taken by somebody else.`,
  takeInstead: (seats: string) => `Take ${seats} instead`,
  chooseOthers: 'Choose others',
  noThanks: 'No, thank you',
};

/** The order that this browser made last. */
export const ownOrder = {
  see: 'See your order',
  confirmed: 'You have tickets for this event.',
  partlyPaid: (rest: string) => `You have tickets for this event; ${rest} is still to be paid.`,
  pending: 'You have an order for this event that is not paid yet.',
  pendingUntil: (when: string) =>
    `You have an order for this event that is not paid yet: its tickets are kept until ${when}.`,
  pay: 'Pay it',
  expired: 'Your order was not paid in time, and its tickets are back on sale. Choose again.',
  cancelled: 'Your order was cancelled.',
  payAmount: (amount: string) => `Pay ${amount}`,
  keptFor: 'Kept for you for',
  payUntil: (when: string) => `Pay until ${when}.`,
};

/** What an event says about itself. */
export const show = {
  entrance: (hour: string) => `Admission from ${hour}`,
  lineup: 'With',
  dates: 'Dates',
  prices: 'Prices',
  cancelled: 'cancelled',
  soldOut: 'sold out',
  /** The description of a shared link. */
  about: (when: string, where: string | null) => (where === null ? when : `${when}, ${where}`),
  ticketsFrom: (price: string) => `Tickets from ${price}.`,
  freeTickets: 'Free tickets.',
};

/** What is said where scripts are switched off. */
export const noScript = {
  title: 'Please switch JavaScript on',
  why: 'This shop shows free seats and holds them for you as you choose. For that your browser has to run the shop’s own script; it loads none from elsewhere.',
  how: 'Switch JavaScript on for this site and load the page again. Orders and tickets that you have work without it.',
};
