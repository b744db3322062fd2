/**
 * Reads the seating of a locality: zones, sections and shapes, from its `sections` or its `seating_plan`.
 *
 * 1. A locality is NUMBERED when it says so, or when it says nothing and has sections or a plan.
 * 2. A NUMBERED locality has exactly one of `sections` and `seating_plan`; a GENERAL one has `capacity` and neither.
 * 3. Zones that the locality lists come first and take precedence over the plan's, so that a file can rename or
 *    recolour them.
 */
import { pointer } from '#domain/schema-problems.ts';
import type { SectionDefinition, ZoneDefinition } from '#domain/catalogue/definition.ts';
import type { LocalityFile } from './hall-fields.ts';
import { checkOutlines, type SeatRegister } from './hall-checks.ts';
import type { Accepted, Report } from './shape.ts';
import { importSeatingPlan } from './seating-plan.ts';
import { completeZones, layOutSections } from './sections.ts';

/** Reads a plan by its path relative to the catalogue file; throws an Error whose message becomes a problem. */
export type SeatingPlanReader = (path: string) => unknown;

export interface Seating {
  readonly zones: readonly ZoneDefinition[];
  readonly sections: readonly SectionDefinition[];
  readonly shapes: readonly unknown[];
}

/** The seating of each locality, in the order of the file; undefined for one without seats or with problems. */
export type Seatings = readonly (Seating | undefined)[];

/** Whether the locality has numbered seats (rule 1). */
export function isNumbered(locality: Accepted<LocalityFile>): boolean {
  if (locality.seating !== undefined) return locality.seating === 'NUMBERED';
  return locality.sections !== undefined || locality.seating_plan !== undefined;
}

/** The seating of a locality; undefined for a GENERAL one, and for one whose problems allow no further check. */
export function readSeating(
  locality: Accepted<LocalityFile>,
  path: string,
  readPlan: SeatingPlanReader | undefined,
  seats: SeatRegister,
  report: Report,
): Seating | undefined {
  const { sections, seating_plan: plan } = locality;
  if (!isNumbered(locality)) {
    if (locality.capacity === undefined) report(pointer(path, 'capacity'), 'is required where seats are not numbered');
    if (sections !== undefined) report(pointer(path, 'sections'), 'must be absent where seating is GENERAL');
    if (plan !== undefined) report(pointer(path, 'seating_plan'), 'must be absent where seating is GENERAL');
    return undefined;
  }
  if (sections === undefined && plan === undefined) {
    report(pointer(path, 'sections'), 'is required where seating is NUMBERED, unless there is a seating_plan');
    return undefined;
  }
  if (sections !== undefined && plan !== undefined) {
    report(pointer(path, 'seating_plan'), 'must be absent where there are sections');
    return undefined;
  }
  checkOutlines(locality.shapes ?? [], pointer(path, 'shapes'), report);
  return plan === undefined
    ? listedSeating(locality, path, seats, report)
    : plannedSeating(locality, plan, pointer(path, 'seating_plan'), readPlan, seats, report);
}

function listedSeating(locality: Accepted<LocalityFile>, path: string, seats: SeatRegister, report: Report): Seating {
  const sections = layOutSections(locality.sections ?? [], pointer(path, 'sections'), seats, report);
  return { zones: completeZones(locality.zones ?? [], sections), sections, shapes: locality.shapes ?? [] };
}

function plannedSeating(
  locality: Accepted<LocalityFile>,
  plan: unknown,
  path: string,
  readPlan: SeatingPlanReader | undefined,
  seats: SeatRegister,
  report: Report,
): Seating | undefined {
  const json = typeof plan === 'string' ? readNamedPlan(plan, path, readPlan, report) : plan;
  if (json === undefined) return undefined;
  const imported = importSeatingPlan(json, path, seats, report);
  if (imported === undefined) return undefined;
  if (imported.sections.length === 0) report(path, 'must have at least one seat');
  return {
    zones: completeZones([...(locality.zones ?? []), ...imported.zones], imported.sections),
    sections: imported.sections,
    shapes: [...(locality.shapes ?? []), ...imported.shapes],
  };
}

function readNamedPlan(name: string, path: string, readPlan: SeatingPlanReader | undefined, report: Report): unknown {
  if (readPlan === undefined) {
    report(path, 'must be the plan itself: a path can be followed only from a catalogue file');
    return undefined;
  }
  try {
    return readPlan(name);
  } catch (error) {
    report(path, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
