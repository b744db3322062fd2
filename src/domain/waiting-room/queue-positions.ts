/**
 * A line that people join at the back and leave anywhere, and the place of each in it.
 *
 * Owns the order and the counting; who the people are and why they come and go belongs to the waiting room. Kept small: about
 * 8.1 B a place, and nothing is ever copied as a whole, so that no join and no departure stalls. Called by `queue-entries.ts`.
 *
 * 1. A slot is a number that is given once, in order; whoever stands on a lower one is ahead.
 * 2. Slots lie in blocks of BLOCK_SLOTS. A Fenwick tree (Fenwick 1994) counts the people of each block, so a rank costs
 *    a walk down the tree and a count within one block.
 * 3. Empty blocks are given back at once; those at the head also leave the tree when it is rebuilt, which costs one step a block.
 * 4. Slots may be reserved for people whose order is not known yet; they are filled in order and before the head passes them.
 */
import { invariant } from '../invariant.ts';

const BLOCK_SLOTS = 256;
const TREE_BLOCKS_MIN = 4;

interface Block<Person> {
  readonly people: (Person | null)[];
  count: number;
}

export interface Line<Person> {
  /** Block `n` of the line is `blocks[n - firstBlock]`; null when nobody stands in it. */
  blocks: (Block<Person> | null)[];
  firstBlock: number;
  /** Counts of blocks; its node `i` (from 1) covers the `i & -i` blocks that end with the i-th. */
  tree: Int32Array;
  /** The slot that the next to join gets. */
  nextSlot: number;
  /** Reserved slots that are not filled yet: from `nextReserved` up to `reservedEnd`. */
  nextReserved: number;
  reservedEnd: number;
  /** People in line. */
  size: number;
}

export function createQueuePositions<Person>(): Line<Person> {
  return {
    blocks: [],
    firstBlock: 0,
    tree: new Int32Array(TREE_BLOCKS_MIN + 1),
    nextSlot: 0,
    nextReserved: 0,
    reservedEnd: 0,
    size: 0,
  };
}

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Whoever stands on a slot, or null. */
export function occupant<Person>(line: Line<Person>, slot: number): Person | null {
  return line.blocks[blockIndex(line, slot)]?.people[slot % BLOCK_SLOTS] ?? null;
}

/** How many stand on this slot and ahead of it; of somebody in line the place, from 1. */
export function rankOf<Person>(line: Line<Person>, slot: number): number {
  const index = blockIndex(line, slot);
  const people = line.blocks[index]?.people ?? [];
  let rank = 0;
  for (let each = slot % BLOCK_SLOTS; each >= 0; each -= 1) if (people[each] != null) rank += 1;
  for (let node = index; node > 0; node -= node & -node) rank += line.tree[node]!;
  return rank;
}

/** The people from a slot on, front first. Leaves out nobody, provided that the line does not change meanwhile. */
export function* peopleFrom<Person>(line: Line<Person>, slot = 0): Generator<Person> {
  const firstIndex = Math.max(blockIndex(line, slot), firstOccupied(line));
  for (let index = firstIndex; index < line.blocks.length; index += 1) {
    const block = line.blocks[index]!;
    if (block === null) continue;
    const before = slot - (line.firstBlock + index) * BLOCK_SLOTS;
    for (let each = Math.max(0, before); each < block.people.length; each += 1) {
      const person = block.people[each]!;
      if (person !== null) yield person;
    }
  }
}

/** Position in `blocks` of the first block with somebody in it, found down the tree. */
function firstOccupied<Person>({ tree }: Line<Person>): number {
  let node = 0;
  for (let step = tree.length - 1; step > 0; step >>= 1) if (tree[node + step] === 0) node += step;
  return node;
}

function blockIndex<Person>(line: Line<Person>, slot: number): number {
  return Math.floor(slot / BLOCK_SLOTS) - line.firstBlock;
}

// ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Lets somebody join at the back and returns the slot. */
export function append<Person>(line: Line<Person>, person: Person): number {
  const slot = line.nextSlot;
  line.nextSlot += 1;
  stand(line, slot, person);
  return slot;
}

/** Sets the next `count` slots aside; whoever joins from now on stands behind them. */
export function reserveSlots<Person>(line: Line<Person>, count: number): void {
  invariant(line.nextReserved === line.reservedEnd, 'slots are reserved once at a time');
  line.nextReserved = line.nextSlot;
  line.nextSlot += count;
  line.reservedEnd = line.nextSlot;
}

/** Gives the next reserved slot to somebody, or passes over it, and returns it. */
export function fillReserved<Person>(line: Line<Person>, person: Person | null): number {
  const slot = line.nextReserved;
  invariant(slot < line.reservedEnd, 'no more slots are filled than were reserved');
  line.nextReserved += 1;
  if (person !== null) stand(line, slot, person);
  return slot;
}

/** Takes somebody out of the line; nothing when that slot is not theirs. */
export function stepOut<Person>(line: Line<Person>, slot: number, person: Person): void {
  if (occupant(line, slot) !== person) return;
  const index = blockIndex(line, slot);
  const block = line.blocks[index]!;
  block.people[slot % BLOCK_SLOTS] = null;
  block.count -= 1;
  if (block.count === 0) line.blocks[index] = null;
  line.size -= 1;
  addInTree(line, index, -1);
}

function stand<Person>(line: Line<Person>, slot: number, person: Person): void {
  let index = blockIndex(line, slot);
  if (index >= line.tree.length - 1) {
    rebuild(line, index + 1);
    index = blockIndex(line, slot);
  }
  while (line.blocks.length <= index) line.blocks.push(null);
  const block = (line.blocks[index] ??= { people: [], count: 0 });
  const offset = slot % BLOCK_SLOTS;
  while (block.people.length < offset) block.people.push(null);
  block.people[offset] = person;
  block.count += 1;
  line.size += 1;
  addInTree(line, index, 1);
}

function addInTree<Person>({ tree }: Line<Person>, index: number, change: number): void {
  for (let node = index + 1; node < tree.length; node += node & -node) tree[node]! += change;
}

/** Drops the empty blocks at the head and makes a tree for twice the blocks that are needed then. */
function rebuild<Person>(line: Line<Person>, blocksNeeded: number): void {
  const dropped = emptyAtHead(line);
  line.blocks = line.blocks.slice(dropped);
  line.firstBlock += dropped;
  let size = TREE_BLOCKS_MIN;
  while (size < 2 * (blocksNeeded - dropped)) size *= 2;
  line.tree = new Int32Array(size + 1);
  line.blocks.forEach((block, index) => {
    if (block !== null) addInTree(line, index, block.count);
  });
}

function emptyAtHead<Person>(line: Line<Person>): number {
  // Blocks whose slots are reserved look empty until they are filled (4).
  const reservedFrom = line.nextReserved < line.reservedEnd ? blockIndex(line, line.nextReserved) : Infinity;
  const occupied = line.blocks.findIndex((block) => block !== null);
  return Math.min(occupied === -1 ? line.blocks.length : occupied, reservedFrom);
}
