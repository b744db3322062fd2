/**
 * What a locality has to sit on: its zones, sections and shapes, from whichever form the file chose.
 *
 * `definition.ts` calls `readSeating` for each locality before the cross-references are judged, because ticket types
 * name zones. A GENERAL locality has none of this, only places.
 *
 *  1. A locality is NUMBERED when it says so, or when it says nothing and has sections or a plan.
 *  2. A NUMBERED locality has exactly one of `sections` and `seating_plan`; a GENERAL one has `capacity` and neither.
 *  3. Zones that the locality lists itself come first and win over the plan's, so that a file can rename or recolour them.
 */
import type { SectionDefinition, ZoneDefinition } from '#domain/catalogue.ts';
import { checkOutlines } from './outlines.ts';
import { pointer, type Report } from './problem.ts';
import type { LocalityFile } from './schema.ts';
import { importSeatingPlan } from './seating-plan.ts';
import type { SeatRegister } from './seat-register.ts';
import { completeZones, layOutSections } from './sections.ts';
import type { Judged } from './shape.ts';

/** Reads a plan that a file names by its path, relative to the file; throws an Error whose message tells the typist why not. */
export type SeatingPlanReader = (path: string) => unknown;

export interface Seating {
  readonly zones: readonly ZoneDefinition[];
  readonly sections: readonly SectionDefinition[];
  readonly shapes: readonly unknown[];
}

/** Whether the locality has numbered seats, by what it says or, when it says nothing, by what it has. */
export function isNumbered(locality: Judged<LocalityFile>): boolean {
  if (locality.seating !== undefined) return locality.seating === 'NUMBERED';
  return locality.sections !== undefined || locality.seating_plan !== undefined;
}

/** The seating of a locality; undefined for a GENERAL one, and where problems leave nothing to judge further. */
export function readSeating(
  locality: Judged<LocalityFile>,
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
    ? typedSeating(locality, path, seats, report)
    : plannedSeating(locality, plan, pointer(path, 'seating_plan'), readPlan, seats, report);
}

function typedSeating(locality: Judged<LocalityFile>, path: string, seats: SeatRegister, report: Report): Seating {
  const sections = layOutSections(locality.sections ?? [], pointer(path, 'sections'), seats, report);
  return { zones: completeZones(locality.zones ?? [], sections), sections, shapes: locality.shapes ?? [] };
}

function plannedSeating(
  locality: Judged<LocalityFile>,
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
