/**
 * Changes of an event's definition: which ones operators may make while tickets are held and sold.
 *
 * 1. The same definition again is no change, so that a catalogue may be loaded at every start.
 * 2. Nothing held or sold is taken away: conflicts are listed, all of them, and nothing changes.
 * 3. A performance that the new definition cancels is cancelled as the operator's command does it.
 */
import { fact, type Fact } from '../fact.ts';
import { rebaseConflicts } from '../inventory/decide.ts';
import { refuse, type Problem, type Refusal } from '../refusal.ts';
import { compileSalePlan } from '../catalogue/sale-plan.ts';
import type { CommandOf } from '../command.ts';
import type { EventDefinition } from '../catalogue/definition.ts';
import type { EventState } from './state.ts';

/**
 * Takes over a definition that differs, or refuses with UPDATE_CONFLICT and every conflict, those found elsewhere too.
 */
export function decideDefinition(
  state: EventState,
  command: CommandOf<'DefineEvent'>,
  conflictsElsewhere: readonly Problem[],
): readonly Fact[] | Refusal {
  const { definition, operator, note } = command;
  const { eventNumber, definitionVersion } = state;
  const isFirst = definitionVersion === 0;
  if (!isFirst && isSame(state.plan.definition, definition)) return [];
  const conflicts = isFirst ? [] : [...findConflicts(state, definition), ...conflictsElsewhere];
  if (conflicts.length > 0) return refuse('UPDATE_CONFLICT', { conflicts });
  return [fact('EventDefined', { eventNumber, version: definitionVersion + 1, definition, operator, note })];
}

function isSame(a: EventDefinition, b: EventDefinition): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function findConflicts(state: EventState, definition: EventDefinition): readonly Problem[] {
  const plan = compileSalePlan(definition);
  const conflicts: Problem[] = [];
  let anythingTaken = false;
  for (const performance of state.performances.values()) {
    const { held, sold } = performance.inventory.totals();
    anythingTaken ||= held + sold > 0;
    if (plan.performanceById.has(performance.id)) {
      conflicts.push(...rebaseConflicts(performance.inventory, plan));
    } else if (held + sold > 0) {
      const message = `date ${performance.id} is missing, and has ${held} held and ${sold} sold tickets`;
      conflicts.push({ path: ['performances'], message });
    }
  }
  if (anythingTaken && definition.currency !== state.plan.definition.currency) {
    conflicts.push({ path: ['currency'], message: 'tickets are held or sold in another currency' });
  }
  return conflicts;
}

/** Known performances that the definition newly calls CANCELLED. */
export function performancesToCancel(state: EventState, definition: EventDefinition): readonly string[] {
  return definition.performances
    .filter(
      ({ id, status }) => status === 'CANCELLED' && (state.performances.get(id)?.status ?? 'CANCELLED') !== 'CANCELLED',
    )
    .map(({ id }) => id);
}
