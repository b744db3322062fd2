/**
 * The positions of a queue that people join at the back and leave anywhere, and the rank of each.
 *
 * Kept small: about 8.1 B a slot. Nothing is ever copied as a whole, so that no join and no departure stalls.
 *
 * 1. A slot is a number that is given once, in order; whoever has a lower one is ahead.
 * 2. Slots lie in blocks of BLOCK_SLOTS. A Fenwick tree (Fenwick 1994) counts the people of each block, so a rank costs
 *    a walk down the tree and a count within one block. A bit for each slot says who is there, so that the count reads
 *    few cache lines.
 * 3. Empty blocks are given back at once; those at the head also leave the tree when it is rebuilt, which costs one
 *    step a block.
 * 4. Slots may be reserved for people whose order is not known yet; they are filled in order and before the head passes
 *    them.
 */
import { invariant } from '../invariant.ts';

const BLOCK_SLOTS = 256;
const WORD_SLOTS = 32;
const BLOCK_WORDS = BLOCK_SLOTS / WORD_SLOTS;
const TREE_BLOCKS_MIN = 4;

interface Block<Person> {
  readonly people: (Person | null)[];
  count: number;
}

export interface QueuePositions<Person> {
  /** Block `n` of the queue is `blocks[n - firstBlock]`; null when nobody is in it. */
  blocks: (Block<Person> | null)[];
  firstBlock: number;
  /** Counts of blocks; its node `i` (from 1) covers the `i & -i` blocks that end with the i-th. */
  tree: Int32Array;
  /** A bit for each slot from `firstBlock` on, 1 where somebody is; as long as the tree. */
  taken: Int32Array;
  /** The slot that the next to join gets. */
  nextSlot: number;
  /** Reserved slots that are not filled yet: from `nextReserved` up to `reservedEnd`. */
  nextReserved: number;
  reservedEnd: number;
  /** People in positions. */
  size: number;
}

export function createQueuePositions<Person>(): QueuePositions<Person> {
  return {
    blocks: [],
    firstBlock: 0,
    tree: new Int32Array(TREE_BLOCKS_MIN + 1),
    taken: new Int32Array(TREE_BLOCKS_MIN * BLOCK_WORDS),
    nextSlot: 0,
    nextReserved: 0,
    reservedEnd: 0,
    size: 0,
  };
}

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Whoever has a slot, or null. */
export function occupant<Person>(positions: QueuePositions<Person>, slot: number): Person | null {
  return positions.blocks[blockIndex(positions, slot)]?.people[slot % BLOCK_SLOTS] ?? null;
}

/** How many people are on this slot and ahead of it: the position of whoever has it, from 1. */
export function rankOf<Person>({ firstBlock, taken, tree }: QueuePositions<Person>, slot: number): number {
  const word = Math.floor(slot / WORD_SLOTS) - firstBlock * BLOCK_WORDS;
  const index = Math.floor(word / BLOCK_WORDS);
  let rank = bitCount((taken[word] ?? 0) & (-1 >>> (WORD_SLOTS - 1 - (slot % WORD_SLOTS))));
  for (let before = index * BLOCK_WORDS; before < word; before += 1) rank += bitCount(taken[before] ?? 0);
  for (let node = index; node > 0; node -= node & -node) rank += tree[node]!;
  return rank;
}

/** The ones among 32 bits, counted in parallel (H. S. Warren, "Hacker's Delight", 5-1). */
function bitCount(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The people from a slot on, front first. Leaves out nobody, provided that nothing changes meanwhile. */
export function* peopleFrom<Person>(positions: QueuePositions<Person>, slot = 0): Generator<Person> {
  const firstIndex = Math.max(blockIndex(positions, slot), firstOccupied(positions));
  for (let index = firstIndex; index < positions.blocks.length; index += 1) {
    const block = positions.blocks[index]!;
    if (block === null) continue;
    const before = slot - (positions.firstBlock + index) * BLOCK_SLOTS;
    for (let each = Math.max(0, before); each < block.people.length; each += 1) {
      const person = block.people[each]!;
      if (person !== null) yield person;
    }
  }
}

/** Position in `blocks` of the first block with somebody in it, found down the tree. */
function firstOccupied<Person>({ tree }: QueuePositions<Person>): number {
  let node = 0;
  for (let step = tree.length - 1; step > 0; step >>= 1) if (tree[node + step] === 0) node += step;
  return node;
}

function blockIndex<Person>(positions: QueuePositions<Person>, slot: number): number {
  return Math.floor(slot / BLOCK_SLOTS) - positions.firstBlock;
}

// ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Adds somebody at the back and returns the slot. */
export function append<Person>(positions: QueuePositions<Person>, person: Person): number {
  const slot = positions.nextSlot;
  positions.nextSlot += 1;
  occupy(positions, slot, person);
  return slot;
}

/** Reserves the next `count` slots; whoever joins from now on is behind them. */
export function reserveSlots<Person>(positions: QueuePositions<Person>, count: number): void {
  invariant(positions.nextReserved === positions.reservedEnd, 'slots are reserved once at a time');
  positions.nextReserved = positions.nextSlot;
  positions.nextSlot += count;
  positions.reservedEnd = positions.nextSlot;
}

/** Gives the next reserved slot to somebody, or passes over it, and returns it. */
export function fillReserved<Person>(positions: QueuePositions<Person>, person: Person | null): number {
  const slot = positions.nextReserved;
  invariant(slot < positions.reservedEnd, 'no more slots are filled than were reserved');
  positions.nextReserved += 1;
  if (person !== null) occupy(positions, slot, person);
  return slot;
}

/** Takes somebody out of the queue; nothing when that slot is not theirs. */
export function vacate<Person>(positions: QueuePositions<Person>, slot: number, person: Person): void {
  if (occupant(positions, slot) !== person) return;
  const index = blockIndex(positions, slot);
  const block = positions.blocks[index]!;
  block.people[slot % BLOCK_SLOTS] = null;
  block.count -= 1;
  if (block.count === 0) positions.blocks[index] = null;
  positions.size -= 1;
  flipTaken(positions, slot);
  addInTree(positions, index, -1);
}

function occupy<Person>(positions: QueuePositions<Person>, slot: number, person: Person): void {
  let index = blockIndex(positions, slot);
  if (index >= positions.tree.length - 1) {
    rebuild(positions, index + 1);
    index = blockIndex(positions, slot);
  }
  while (positions.blocks.length <= index) positions.blocks.push(null);
  const block = (positions.blocks[index] ??= { people: [], count: 0 });
  const offset = slot % BLOCK_SLOTS;
  while (block.people.length < offset) block.people.push(null);
  block.people[offset] = person;
  block.count += 1;
  positions.size += 1;
  flipTaken(positions, slot);
  addInTree(positions, index, 1);
}

function flipTaken<Person>({ taken, firstBlock }: QueuePositions<Person>, slot: number): void {
  taken[Math.floor(slot / WORD_SLOTS) - firstBlock * BLOCK_WORDS]! ^= 1 << (slot % WORD_SLOTS);
}

function addInTree<Person>({ tree }: QueuePositions<Person>, index: number, change: number): void {
  for (let node = index + 1; node < tree.length; node += node & -node) tree[node]! += change;
}

/** Drops the empty blocks at the head and makes a tree for twice the blocks that are needed then. */
function rebuild<Person>(positions: QueuePositions<Person>, blocksNeeded: number): void {
  const dropped = emptyAtHead(positions);
  positions.blocks = positions.blocks.slice(dropped);
  positions.firstBlock += dropped;
  let size = TREE_BLOCKS_MIN;
  while (size < 2 * (blocksNeeded - dropped)) size *= 2;
  positions.tree = new Int32Array(size + 1);
  const { taken } = positions;
  positions.taken = new Int32Array(size * BLOCK_WORDS);
  positions.taken.set(taken.subarray(dropped * BLOCK_WORDS).subarray(0, positions.taken.length));
  positions.blocks.forEach((block, index) => {
    if (block !== null) addInTree(positions, index, block.count);
  });
}

function emptyAtHead<Person>(positions: QueuePositions<Person>): number {
  // Blocks whose slots are reserved look empty until they are filled (rule 4).
  const reservedFrom =
    positions.nextReserved < positions.reservedEnd ? blockIndex(positions, positions.nextReserved) : Infinity;
  const occupied = positions.blocks.findIndex((block) => block !== null);
  return Math.min(occupied === -1 ? positions.blocks.length : occupied, reservedFrom);
}
