/**
 * Steering: what operators set during a sale without a new definition. A setting stays until an operator removes it.
 *
 * While a sale is paused nobody gets anything new: no hold, no more of a hold, no order without a hold, no place in the
 * waiting room, no admission. Buyers can still buy what they hold, and windows and passes continue to run.
 */
import { valuesReply, type Decision } from './decision.ts';
import { fact, type FactData } from './fact.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { CommandOf } from './command.ts';
import type { CatalogueState, Steering } from './catalogue/state.ts';

/** SALE_PAUSED while operators pause the sale. */
export function refuseWhilePaused({ steering }: CatalogueState): Refusal | null {
  return steering.paused ? refuse('SALE_PAUSED', { message: steering.message }) : null;
}

/** Sets what the command names, and leaves all else; the same again is no change. */
export function decideSteerSale(state: CatalogueState, command: CommandOf<'SteerSale'>): Decision {
  const { operator, note } = command;
  const { paused, waitingRoomRate, message } = { ...state.steering, ...command.changes };
  const steering: Steering = { paused, waitingRoomRate, message };
  const isSame = JSON.stringify(steering) === JSON.stringify(state.steering);
  const facts = isSame ? [] : [fact('SaleSteered', { ...steering, operator, note })];
  return { facts, reply: valuesReply<'SteerSale'>({ steering }) };
}

export function evolveSaleSteered(state: CatalogueState, data: FactData['SaleSteered']): void {
  const { paused, waitingRoomRate, message } = data;
  state.steering = { paused, waitingRoomRate, message };
}
