/** The waiting room and the proof of its draw. */
import { wordingOf } from '../locale/wording.ts';

const { count, number } = wordingOf('en');
const PEOPLE = { one: 'person', other: 'people' };

export const queue = {
  title: 'Waiting room',
  titleOf: (place: number) => `No. ${number(place)} in line`,
  loading: 'Opening the waiting room …',
  finding: 'Finding your place …',
  tryAgain: 'Try again',
  leave: 'Leave the line',
  leaveQuestion: (place: number | null) =>
    place === null ? 'Leave the line?' : `Leave the line? Your place, No. ${number(place)}, is given up for good.`,
  stay: 'Stay in line',
  wayGone: 'The way to your turn',
  notify: 'Notify me when it is my turn',
  willNotify: 'A notification tells you when it is your turn.',
  fair: 'The order is drawn at random when the waiting room opens, and anybody can check the draw: [proof of the draw].',
  yourTurn: 'It is your turn.',
  rejoining: 'Your place was given up. You are joining again …',
  inTime: 'You are here in time',
  opensIn: 'The waiting room opens in',
  early: (when: string) =>
    `${when}. Everybody who is here by then is drawn in a random order: it makes no difference when you came. Keep this page open.`,
  yourPlace: 'Your place in line',
  ahead: (people: number) => `, with ${count(people, PEOPLE)} ahead of you.`,
  next: ', you are next.',
  pace: (people: number) =>
    `${count(people, { one: 'person is', other: 'people are' })} admitted a minute. This page moves on by itself when it is your turn; keep it open. Who is away for too long loses their place.`,
  lessThanMinute: 'Less than a minute to go',
  minutes: (n: number) => `About ${number(n)} minutes to go`,
  hours: (n: number) => `About ${number(n)} hours to go`,
  chooseNow: 'Choose your tickets and hold them.',
  turnLasts: 'Your turn lasts',
  hasRoom: 'This event has a waiting room.',
  opensOn: (when: string) => `It opens on ${when}; whoever is there by then is drawn in a fair random order.`,
  steady: 'Everybody is admitted at the same steady pace, in order.',
  backToPlace: 'Back to my place in line',
};

export const draw = {
  title: 'Proof of the draw',
  titleOf: (event: string) => `Proof of the draw, ${event}`,
  loading: 'Fetching the proof …',
  lead: 'Whoever is in the waiting room when it opens is put in a random order. One secret behind that order is fixed before anybody joins, so nobody can exchange it; the other is made at the opening, so nobody can foresee it.',
  promised: 'Promised before the opening',
  secret: 'Secret, shown afterwards',
  shownLater: 'shown when the waiting room opens',
  atOpening: 'Made at the opening',
  noOpening: 'nothing: an older draw',
  inDraw: 'In the draw',
  everybody: 'whoever is there when the waiting room opens',
  drawnOn: (people: number, when: string) => `${count(people, PEOPLE)}, drawn on ${when}`,
  pending: 'The draw has not been held yet.',
  whole: 'The whole proof, and how to check it elsewhere',
  tooLong: 'This draw is too long to be checked in a browser.',
  check: 'Check it in my browser',
  checking: 'Checking …',
  commitmentHolds: 'The secret is the one that was promised.',
  digestHolds: 'The list of people is the one that was drawn from.',
  orderHolds: 'Everybody stands where the secrets put them.',
  yourNumber: (place: number) => `You were drawn as number ${number(place)}.`,
  fails: 'This does not hold.',
};
