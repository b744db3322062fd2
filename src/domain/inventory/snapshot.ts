/**
 * The form in which a snapshot keeps an inventory (`Inventory.snapshot`, `Inventory.restore`).
 *
 * A snapshot is read under the definition that it was made under, which is kept beside it; updates that came later are
 * facts and are applied after it.
 */
import { invariant } from '../invariant.ts';
import { seatStateCode, seatStatusOf } from './seat-map.ts';

export interface InventorySnapshot {
  readonly performanceId: string;
  readonly version: number;
  /** Type, stage, held and sold tickets of each sale row that has any. */
  readonly rows: readonly (readonly [ticketTypeId: string, sellingStageId: string, held: number, sold: number])[];
  readonly seatMaps: readonly SeatMapSnapshot[];
}

interface SeatMapSnapshot {
  readonly localityId: string;
  /** Of the seating plan, so that states are never read onto other seats. */
  readonly fingerprint: number;
  /** Stretches of seats in the plan's order, each the initial of a state and a count: "A120H2S40". */
  readonly states: string;
}

/** The four initials differ; by state's number. */
const INITIALS: readonly string[] = (['AVAILABLE', 'HELD', 'SOLD', 'BLOCKED'] as const)
  .toSorted((a, b) => seatStateCode(a) - seatStateCode(b))
  .map((status) => seatStatusOf(seatStateCode(status))[0]!);

export function writeStates(states: Uint8Array): string {
  const pieces: string[] = [];
  for (let from = 0; from < states.length;) {
    let to = from + 1;
    while (to < states.length && states[to] === states[from]) to += 1;
    pieces.push(INITIALS[states[from]!]!, String(to - from));
    from = to;
  }
  return pieces.join('');
}

export function readStates(text: string, seatCount: number): Uint8Array {
  const states = new Uint8Array(seatCount);
  let seat = 0;
  for (const [, initial, length] of text.matchAll(/([AHSB])(\d+)/g)) {
    states.fill(INITIALS.indexOf(initial!), seat, seat + Number(length));
    seat += Number(length);
  }
  invariant(seat === seatCount, `a snapshot has the state of each seat, but of ${seat} where there are ${seatCount}`);
  return states;
}
