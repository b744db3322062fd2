/**
 * Checks a JSON value against a schema and returns the parts that the schema accepted.
 *
 * 1. The given value is never changed; refused parts are missing in a copy.
 * 2. A list keeps its length and order: a refused item becomes a hole, so that every path stays correct.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { pointer, pointerSteps, problemsMax, type CatalogueProblem } from './problem.ts';
import { eventFileSchema, seatingPlanSchema } from './schema.ts';

/** A value whose refused parts are missing: any field, and any item of a list. */
export type Accepted<T> = T extends readonly (infer Item)[]
  ? readonly (Accepted<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Accepted<T[Key]> | undefined }
    : T;

export interface ShapeCheck<T> {
  readonly problems: readonly CatalogueProblem[];
  /** Undefined when nothing was accepted, or too much was refused for a further check. */
  readonly accepted: Accepted<T> | undefined;
}

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, verbose: true });
addFormats.default(ajv, ['date-time']);
// Compiled at the first use: it takes some 200 ms, which commands that check nothing save.
let validateEvent: ValidateFunction | null = null;
let validatePlan: ValidateFunction | null = null;

/** Checks the file form of an event. */
export function checkEventShape<T>(json: unknown): ShapeCheck<T> {
  return checkShape((validateEvent ??= ajv.compile(eventFileSchema)), json);
}

/** Checks a seating plan; paths start at the plan. */
export function checkPlanShape<T>(json: unknown): ShapeCheck<T> {
  return checkShape((validatePlan ??= ajv.compile(seatingPlanSchema)), json);
}

function checkShape<T>(validate: ValidateFunction, json: unknown): ShapeCheck<T> {
  if (validate(json)) return { problems: [], accepted: json as Accepted<T> };
  const errors = validate.errors ?? [];
  const problems = errors.slice(0, problemsMax).map(problemOf);
  if (errors.length > problemsMax) return { problems, accepted: undefined };
  const accepted = errors
    .filter(refusesTheValue)
    .reduce<unknown>((rest, error) => leaveOut(rest, pointerSteps(error.instancePath)), json);
  return { problems, accepted: accepted as Accepted<T> | undefined };
}

/** Whether the value itself is wrong; otherwise something in it is missing or listed twice. */
function refusesTheValue(error: ErrorObject): boolean {
  return !['required', 'minItems', 'uniqueItems'].includes(error.keyword);
}

function leaveOut(value: unknown, [step, ...further]: readonly string[]): unknown {
  if (step === undefined || typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    const place = Number(step);
    return value.with(place, leaveOut(value[place], further));
  }
  const { [step]: part, ...others } = value as Record<string, unknown>;
  return further.length === 0 ? others : { ...others, [step]: leaveOut(part, further) };
}

function problemOf(error: ErrorObject): CatalogueProblem {
  if (error.keyword === 'required') {
    return { path: pointer(error.instancePath, error.params['missingProperty']), message: 'is required' };
  }
  return { path: error.instancePath, message: messageOf(error) };
}

function messageOf(error: ErrorObject): string {
  const described: unknown = error.parentSchema?.['description'];
  switch (error.keyword) {
    case 'enum':
      return `must be one of ${error.params['allowedValues'].join(', ')}`;
    case 'type':
      return `must be ${[error.params['type']].flat().join(' or ')}`;
    case 'pattern':
    case 'format':
    case 'minLength':
    case 'maxLength':
      return typeof described === 'string' ? `must be ${described}` : (error.message ?? 'is not valid');
    default:
      return error.message ?? 'is not valid';
  }
}
