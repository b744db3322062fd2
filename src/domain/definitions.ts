/**
 * Changes of an event's definition: what operators may change while tickets are held and sold, and what not.
 *
 * Decides; the new plan is applied by `performances.ts`. Called by `box-office.ts`.
 *
 * 1. The same definition again is no change, so that a catalogue may be loaded at every start.
 * 2. Nothing held or sold is taken away: conflicts are listed, all of them, and nothing changes.
 * 3. A date that the new definition cancels is cancelled as the operator's call does it.
 */
import { fact, type Fact } from './fact.ts';
import { rebaseConflicts } from './inventory-update.ts';
import { totals } from './inventory.ts';
import { refuse, type Problem, type Refusal } from './refusal.ts';
import { compileSalePlan } from './sale-plan.ts';
import type { CommandOf } from './command.ts';
import type { EventDefinition } from './catalogue.ts';
import type { Stock } from './performances.ts';

export interface DefinedOffice extends Stock {
  readonly eventNumber: number;
  /** 0 until the first definition. */
  readonly definitionVersion: number;
}

/** What else follows when a definition is taken over. */
export interface Consequences {
  cancelDates(performanceIds: readonly string[]): readonly Fact[];
  changeRoom(): readonly Fact[];
}

/** Takes over a definition that differs, or refuses with UPDATE_CONFLICT and every conflict, those found elsewhere too. */
export function decideDefineEvent(
  office: DefinedOffice,
  command: CommandOf<'DefineEvent'>,
  conflictsElsewhere: readonly Problem[],
  { cancelDates, changeRoom }: Consequences,
): readonly Fact[] | Refusal {
  const { definition, operator, note } = command;
  const { eventNumber, definitionVersion } = office;
  const isFirst = definitionVersion === 0;
  if (!isFirst && isSame(office.plan.definition, definition)) return [];
  const conflicts = isFirst ? [] : [...findConflicts(office, definition), ...conflictsElsewhere];
  if (conflicts.length > 0) return refuse('UPDATE_CONFLICT', { conflicts });
  const defined = fact('EventDefined', { eventNumber, version: definitionVersion + 1, definition, operator, note });
  return [defined, ...cancelDates(datesToCancel(office, definition)), ...changeRoom()];
}

function isSame(a: EventDefinition, b: EventDefinition): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function findConflicts(office: DefinedOffice, definition: EventDefinition): readonly Problem[] {
  const plan = compileSalePlan(definition);
  const conflicts: Problem[] = [];
  let anythingTaken = false;
  for (const date of office.dates.values()) {
    const { held, sold } = totals(date.inventory);
    anythingTaken ||= held + sold > 0;
    if (plan.performanceById.has(date.id)) {
      conflicts.push(...rebaseConflicts(date.inventory, plan));
    } else if (held + sold > 0) {
      const message = `date ${date.id} is missing, and has ${held} held and ${sold} sold tickets`;
      conflicts.push({ path: ['performances'], message });
    }
  }
  if (anythingTaken && definition.currency !== office.plan.definition.currency) {
    conflicts.push({ path: ['currency'], message: 'tickets are held or sold in another currency' });
  }
  return conflicts;
}

/** Known dates that the definition newly calls CANCELLED. */
function datesToCancel(office: DefinedOffice, definition: EventDefinition): readonly string[] {
  return definition.performances
    .filter(({ id, status }) => status === 'CANCELLED' && (office.dates.get(id)?.status ?? 'CANCELLED') !== 'CANCELLED')
    .map(({ id }) => id);
}
