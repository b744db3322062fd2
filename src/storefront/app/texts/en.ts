/** The texts of the pages in English, by page. Its shape is that of every language: see `texts.ts`. */
import { wordingOf } from './wording.ts';

const { count } = wordingOf('en');
const TICKETS = { one: 'ticket', other: 'tickets' };
const DAYS = { one: 'day', other: 'days' };

export const en = {
  frame: {
    /** What the pages are, in the title of each. */
    shop: 'Tickets',
    /** What the shop is, for search engines and shared links. */
    description: 'Choose an event. Tickets you pick are held for you while you decide.',
    skip: 'Skip to the content',
    language: 'Language',
    yourBasket: 'Your basket:',
    tickets: (n: number) => count(n, TICKETS),
    held: 'Held tickets are yours until the clock runs out.',
    forDevelopers: 'For developers',
    terms: 'Terms',
    imprint: 'Imprint',
    privacy: 'Privacy',
    free: 'Free',
    days: (n: number) => count(n, DAYS),
    /** The time of a city's zone. */
    timeIn: (city: string) => `${city} time`,
  },
  list: {
    title: 'What’s on',
    lead: 'Choose an event. Tickets you pick are held for you while you decide.',
    loading: 'Looking for events …',
    empty: 'Nothing is on sale yet.',
    more: 'Show more events',
    soldOut: 'Sold out',
    waitingRoom: 'Waiting room',
    noDates: 'Dates to be announced',
    from: (price: string) => `from ${price}`,
  },
};

export type Texts = typeof en;
