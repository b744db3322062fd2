/**
 * Decisions on the stock itself: seats that operators block and unblock, and whether a new definition fits what is
 * taken.
 *
 * Mutates nothing (I2). Which tickets a buyer gets is decided in `assignment.ts`.
 *
 * 1. An update never takes away what somebody holds or bought. Prices, texts, windows and caps may always change: a
 *    quota below what was taken leaves nothing.
 */
import { valuesReply, type Decision } from '../decision.ts';
import { fact } from '../fact.ts';
import type { Inventory } from './inventory.ts';
import { isRefusal, refuse, refuseProblems, type Problem, type Refusal } from '../refusal.ts';
import { offerOf, type LocalityPlan, type SalePlan, type Offer } from '../catalogue/sale-plan.ts';
import { HELD, SOLD, type SeatMap } from './seat-map.ts';
import type { CommandOf } from '../command.ts';
import type { InventoryState } from './performance.ts';

// ── seats ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Blocks seats that are free; those blocked already stay so. PERFORMANCE_NOT_FOUND, VALIDATION_ERROR, SEAT_TAKEN. */
export function decideBlockSeats(state: InventoryState, command: CommandOf<'BlockSeats'>): Decision | Refusal {
  const seatIds = seatsToChange(state, command, 'AVAILABLE');
  if (isRefusal(seatIds)) return seatIds;
  const { performanceId, operator, note } = command;
  const facts = seatIds.length === 0 ? [] : [fact('SeatsBlocked', { performanceId, seatIds, operator, note })];
  return { facts, reply: valuesReply<'BlockSeats'>({ blockedSeats: seatIds.length }) };
}

/** Puts blocked seats back on sale; those on sale already stay so. Refuses as `decideBlockSeats` does. */
export function decideUnblockSeats(state: InventoryState, command: CommandOf<'UnblockSeats'>): Decision | Refusal {
  const seatIds = seatsToChange(state, command, 'BLOCKED');
  if (isRefusal(seatIds)) return seatIds;
  const { performanceId, operator, note } = command;
  const facts = seatIds.length === 0 ? [] : [fact('SeatsUnblocked', { performanceId, seatIds, operator, note })];
  return { facts, reply: valuesReply<'UnblockSeats'>({ unblockedSeats: seatIds.length }) };
}

/** Those of the named seats that are in the state `from`; held and sold ones refuse, unknown ones are problems. */
function seatsToChange(
  state: InventoryState,
  { performanceId, seatIds }: { readonly performanceId: string; readonly seatIds: readonly string[] },
  from: 'AVAILABLE' | 'BLOCKED',
): string[] | Refusal {
  const performance = state.performances.get(performanceId);
  if (performance === undefined) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  const problems: Problem[] = [];
  const taken: string[] = [];
  const toChange = new Set<string>();
  seatIds.forEach((seatId, index) => {
    const status = performance.inventory.seatState(seatId);
    if (status === undefined) problems.push({ path: ['seatIds', index], message: 'no such seat' });
    else if (status === 'HELD' || status === 'SOLD') taken.push(seatId);
    else if (status === from) toChange.add(seatId);
  });
  if (problems.length > 0) return refuseProblems(problems);
  return taken.length > 0 ? refuse('SEAT_TAKEN', { seatIds: taken }) : [...toChange];
}

// ── updates of the definition ────────────────────────────────────────────────────────────────────────────────────────

/** Seats that are named one by one as conflicts of a locality; further ones are only counted. */
const SEAT_CONFLICTS_MAX = 100;

/**
 * What in a new definition would take away something held or sold at this performance; empty when it may replace the
 * old one.
 */
export function rebaseConflicts(inventory: Inventory, plan: SalePlan): readonly Problem[] {
  const offers = inventory.plan.offers.filter((offer) => inventory.takenOf(offer) > 0);
  const on = `on date ${inventory.performanceId}`;
  if (offers.length > 0 && !plan.performanceById.has(inventory.performanceId)) {
    const taken = offers.reduce((sum, offer) => sum + inventory.takenOf(offer), 0);
    return [{ path: ['performances'], message: `date ${inventory.performanceId} has ${taken} tickets held or sold` }];
  }
  return [
    ...offers.flatMap((offer) =>
      offerConflict(offer, plan, `${inventory.takenOf(offer)} tickets are held or sold ${on}`),
    ),
    ...inventory.plan.localities.flatMap((locality) => localityConflicts(inventory, locality, plan, on)),
  ];
}

function offerConflict(offer: Offer, plan: SalePlan, why: string): Problem[] {
  const { ticketTypes, sellingStages } = plan.definition;
  const typeIndex = ticketTypes.findIndex((type) => type.id === offer.ticketTypeId);
  if (typeIndex < 0) return [{ path: ['ticketTypes'], message: `${offer.ticketTypeId} is missing: ${why}` }];
  const stageIndex = sellingStages.findIndex((stage) => stage.id === offer.sellingStageId);
  if (stageIndex < 0) {
    return [
      { path: ['sellingStages'], message: `${offer.sellingStageId} is missing: ${why} as ${offer.ticketTypeId}` },
    ];
  }
  if (offerOf(plan, offer.ticketTypeId, offer.sellingStageId) === undefined) {
    return [{ path: ['sellingStages', stageIndex, 'prices'], message: `${offer.ticketTypeId} is missing: ${why}` }];
  }
  if (ticketTypes[typeIndex]!.localityId === offer.ticketType.locality.id) return [];
  return [
    {
      path: ['ticketTypes', typeIndex, 'locality_id'],
      message: `must stay ${offer.ticketType.locality.id}: ${why} as ${offer.ticketTypeId}`,
    },
  ];
}

function localityConflicts(inventory: Inventory, locality: LocalityPlan, plan: SalePlan, on: string): Problem[] {
  const { held, sold } = inventory.totalsOf(locality);
  if (held + sold === 0) return [];
  const why = `${held + sold} places are held or sold ${on}`;
  const next = plan.localityById.get(locality.id);
  if (next === undefined) return [{ path: ['localities'], message: `${locality.id} is missing: ${why}` }];
  if ((next.seating === null) !== (locality.seating === null)) {
    return [
      { path: ['localities', next.index, 'seating'], message: `must stay ${locality.definition.seating}: ${why}` },
    ];
  }
  if (next.seating !== null) return seatConflicts(inventory.seatMaps[locality.index]!, next, on);
  if (next.capacity >= held + sold) return [];
  return [{ path: ['localities', next.index, 'capacity'], message: `${next.capacity} is too few: ${why}` }];
}

function seatConflicts(map: SeatMap, next: LocalityPlan, on: string): Problem[] {
  const path = ['localities', next.index, 'sections'];
  const problems: Problem[] = [];
  let unnamed = 0;
  map.states.forEach((state, seat) => {
    const seatId = map.seating.seatIds[seat]!;
    if ((state !== HELD && state !== SOLD) || next.seating!.indexOf.has(seatId)) return;
    if (problems.length === SEAT_CONFLICTS_MAX) unnamed += 1;
    else problems.push({ path, message: `seat ${seatId} is missing: it is ${state === HELD ? 'held' : 'sold'} ${on}` });
  });
  if (unnamed > 0) problems.push({ path, message: `${unnamed} more seats that are held or sold ${on} are missing` });
  return problems;
}
