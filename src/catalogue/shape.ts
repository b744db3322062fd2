/**
 * Judges a JSON value by a schema, and leaves of it what the schema found no fault with.
 *
 * `definition.ts` and `seating-plan.ts` call it first and let the cross-references judge the rest, so that one
 * reading of a file names its problems of both kinds.
 *
 *  1. The value that came in is never changed; parts are left out of a copy.
 *  2. A list keeps its length and order: an item left out is a hole, so that every path stays true.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { pointer, pointerSteps, type CatalogueProblem } from './problem.ts';
import { eventFileSchema, seatingPlanSchema } from './schema.ts';

/** Who has this many problems is better served by mending some and asking again. */
export const problemsMax = 1_000;

/** A value of which the schema may have refused parts: any field may be missing, and any item of a list. */
export type Judged<T> = T extends readonly (infer Item)[]
  ? readonly (Judged<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Judged<T[Key]> | undefined }
    : T;

export interface Judgement<T> {
  readonly problems: readonly CatalogueProblem[];
  /** What the schema found no fault with; undefined when nothing is left worth a closer look. */
  readonly judged: Judged<T> | undefined;
}

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, verbose: true });
addFormats.default(ajv, ['date-time']);
// Compiled when first needed: it takes some 200 ms, which a command that judges nothing need not wait for.
let validateEvent: ValidateFunction | null = null;
let validatePlan: ValidateFunction | null = null;

/** Judges the file form of an event. */
export function judgeEventShape<T>(json: unknown): Judgement<T> {
  return judge((validateEvent ??= ajv.compile(eventFileSchema)), json);
}

/** Judges a seating plan; paths start at the plan. */
export function judgePlanShape<T>(json: unknown): Judgement<T> {
  return judge((validatePlan ??= ajv.compile(seatingPlanSchema)), json);
}

function judge<T>(validate: ValidateFunction, json: unknown): Judgement<T> {
  if (validate(json)) return { problems: [], judged: json as Judged<T> };
  const errors = validate.errors ?? [];
  const problems = errors.slice(0, problemsMax).map(problemOf);
  if (errors.length > problemsMax) return { problems, judged: undefined };
  const judged = errors
    .filter(refusesTheValue)
    .reduce<unknown>((rest, error) => leaveOut(rest, pointerSteps(error.instancePath)), json);
  return { problems, judged: judged as Judged<T> | undefined };
}

/** Whether the value itself is at fault, not merely something missing or doubled in it. */
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
