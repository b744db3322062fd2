/** The texts of the pages in English, by page. Its shape is that of every language: see `texts.ts`. */
import * as checkout from './checkout.ts';
import * as event from './event.ts';
import * as plan from './plan.ts';
import * as refusals from './refusals.ts';
import * as waiting from './waiting.ts';
import { wordingOf } from '../locale/wording.ts';

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
    nextStep: 'Next step',
    offline:
      'There is no network. This page goes on by itself when it is back; what you hold stays held until its time runs out.',
    yourBasket: 'Your basket:',
    tickets: (n: number) => count(n, TICKETS),
    held: 'Held tickets are yours until the clock runs out.',
    forDevelopers: 'For developers',
    support: 'Questions:',
    credit: 'Tickets by Holdfast',
    terms: 'Terms',
    imprint: 'Imprint',
    privacy: 'Privacy',
    days: (n: number) => count(n, DAYS),
  },
  list: {
    title: 'What’s on',
    lead: 'Choose an event. Tickets you pick are held for you while you decide.',
    loading: 'Looking for events …',
    empty: 'Nothing is on sale yet.',
    more: 'Show more events',
    soldOut: 'Sold out',
    over: 'Over',
    saleFrom: (when: string) => `on sale from ${when}`,
    waitingRoom: 'Waiting room',
    noDates: 'Dates to be announced',
    from: (price: string) => `from ${price}`,
    search: 'Search',
    searchHint: 'Name or place',
    city: 'City',
    anyCity: 'Any city',
    month: 'Month',
    anyMonth: 'Any month',
    priceUpTo: (currency: string) => `Price up to (${currency})`,
    found: (n: number) => count(n, { one: 'event', other: 'events' }),
    noneFits: 'No event fits.',
    noneFitsHint: 'Try another word, city or month, or a higher price.',
    showAll: 'Show all events',
  },
  /** In place of a page that cannot be shown. */
  missing: {
    title: 'Not found',
    page: 'There is no such page',
    event: 'There is no such event',
    now: 'This cannot be shown right now',
    oldLink: 'The link may be old, or mistyped.',
    seeAll: 'See all events',
  },
  ...event,
  ...checkout,
  ...waiting,
  ...refusals,
  ...plan,
};

export type Texts = typeof en;
