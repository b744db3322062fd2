/**
 * Checks the file form of an event: returns the complete definition, or every problem.
 *
 * The schema is checked first. The cross-references are checked on the parts that the schema accepted, so that one
 * answer lists problems of both kinds.
 *
 * 1. The result depends on the JSON and on the plans that it names alone, not on a clock, chance or an earlier
 *    definition.
 * 2. A definition is complete: every default is filled in and every seat is listed.
 * 3. Every JSON value has a result; nothing is thrown.
 */
import { pointer, type FoundProblem } from '#domain/schema-problems.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { checkBrand, type LogoReader } from './brand.ts';
import { eventFileSchema, readEvent, type EventFile } from './event-fields.ts';
import { checkShape, collectProblems } from './shape.ts';
import { createSeatRegister } from './hall-checks.ts';
import { checkReferences } from './references.ts';
import { readSeating, type SeatingPlanReader } from './seating.ts';

interface CheckOptions {
  /** Reads a plan that is named by its path; without it, a plan must be given inline. */
  readonly seatingPlan?: SeatingPlanReader;
  /** Reads a logo that is named by its path; without it, a logo must be a data: URL. */
  readonly logo?: LogoReader;
}

type CheckedDefinition = { readonly definition: EventDefinition } | { readonly problems: readonly FoundProblem[] };

/** The problems of the schema come first. */
export function checkDefinition(json: unknown, options: CheckOptions = {}): CheckedDefinition {
  const shape = checkShape<EventFile>(eventFileSchema, json);
  const { problems, report } = collectProblems(shape.problems);
  const event = shape.accepted;
  if (event === undefined) return { problems };

  const seats = createSeatRegister(report);
  const seatings = (event.localities ?? []).map(
    (locality, index) =>
      locality && readSeating(locality, pointer('/localities', index), options.seatingPlan, seats, report),
  );
  checkReferences(event, seatings, report);
  const logo = checkBrand(event.brand, '/brand', options.logo, report);
  if (problems.length > 0) return { problems };
  const file = json as EventFile;
  return { definition: readEvent(logo === undefined ? file : { ...file, brand: { ...file.brand, logo } }, seatings) };
}
