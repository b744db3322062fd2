/** The texts of the seat plan in English: blocks, seats, kinds of ticket, wheelchair places. */
import { wordingOf } from '../locale/wording.ts';

const { count, number, listing } = wordingOf('en');
const SEATS = { one: 'seat', other: 'seats' };
const WHEELCHAIR_PLACES = { one: 'wheelchair place', other: 'wheelchair places' };

export const plan = {
  area: 'Area',
  seatsOf: (name: string) => `Seats of ${name}. Arrow keys move from seat to seat, Enter picks.`,
  blocksOf: (name: string) => `Blocks of ${name}. Arrow keys move from block to block, Enter shows its seats.`,
  seat: 'seat',
  Row: 'Row',
  row: 'row',
  seats: (n: number): string => (n === 1 ? 'seat' : 'seats'),
  states: {
    free: 'free',
    other: 'not on sale now',
    held: 'in somebody’s basket',
    sold: 'sold',
    blocked: 'not for sale',
    chosen: 'chosen, not held yet',
    mine: 'held for you',
  },
  wheelchairPlace: 'wheelchair place',
  restrictedView: 'restricted view',
  range: (low: string, high: string) => `${low} to ${high}`,
  wheelchairPlaces: (n: number) => count(n, WHEELCHAIR_PLACES),
  freeSeats: (n: number) => `${number(n)} free`,
  soldOut: 'sold out',
  help: {
    blocks: 'Choose a block to see its seats.',
    seats: 'Choose a seat to see its row and price.',
    fingers: 'Two fingers move the plan, one scrolls the page.',
  },
  loneFinger: 'Move the plan with two fingers',
  zoom: 'Zoom',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  whole: 'Show the whole hall',
  allBlocks: 'All blocks',
  fill: 'Fill the screen with the plan',
  back: 'Back to the page',
  move: 'Move the plan',
  left: 'Left',
  right: 'Right',
  up: 'Up',
  down: 'Down',
  legend: {
    seats: 'What the seats mean',
    prices: 'Prices: press one to see where it is',
    kinds: 'Kinds: press one to see where it is',
    blocks: 'Blocks: press one to go there',
    free: 'Free',
    chosen: 'Chosen',
    mine: 'Held for you',
    held: 'In another basket',
    sold: 'Sold',
    blocked: 'Not for sale',
    wheelchair: 'Wheelchair place',
    restricted: 'Restricted view',
  },
  card: {
    kinds: 'Kind of ticket',
    groupOf: (price: string, people: number) => `${price} for ${people}`,
    remove: 'Remove',
    done: 'Done',
  },
  wheelchair: {
    question: 'Does somebody in a wheelchair need this place?',
    yes: 'Yes',
    companion: (name: string) => `Yes, with a companion on ${name}`,
    no: 'No, choose another seat',
    plea: 'There are few of these places. Please leave them to those who need them while there are other seats.',
  },
  lone: {
    hint: (seats: readonly string[]) =>
      `${listing(seats)} would stay free alone beside you, and is hard to sell to anybody.`,
    shift: 'Shift my seats by one',
    keep: 'Keep it so',
  },
  removeSeat: (seat: string) => `Remove ${seat}`,
  best: {
    ticket: 'Ticket',
    groups: 'Groups',
    together: 'Seats together',
    find: 'Best seats for me',
    none: 'There is no stretch of so many free seats side by side. Ask for fewer, or pick seats on the plan.',
  },
  /** Seats that were found before and are not chosen any more. */
  instead: (seats: string) => `They replace ${seats}.`,
  found: (n: number) => `${count(n, SEATS)} found and shown on the plan.`,
};
