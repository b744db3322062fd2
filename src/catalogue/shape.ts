/**
 * Checks a JSON value against a schema and returns the parts that the schema accepted.
 *
 * 1. The given value is never changed; refused parts are missing in a copy.
 * 2. A list keeps its length and order: a refused item becomes a hole, so that every path stays correct.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { pointerSteps, problemsInWords, type FoundProblem } from '#domain/schema-problems.ts';

/** Reports one problem. */
export type Report = (path: string, message: string) => void;

/** Problems in one answer; with more than that, a file is better corrected in rounds. */
const problemsMax = 1_000;

/** A value without its refused parts: any field, and any item of a list, may be missing. */
export type Accepted<T> = T extends readonly (infer Item)[]
  ? readonly (Accepted<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Accepted<T[Key]> | undefined }
    : T;

interface ShapeCheck<T> {
  readonly problems: readonly FoundProblem[];
  /** Undefined when nothing was accepted, or too much was refused for a further check. */
  readonly accepted: Accepted<T> | undefined;
}

// Tests check the schemas; the schema of schemas takes long to compile.
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, verbose: true, validateSchema: false });
addFormats.default(ajv, ['date-time']);
// Compiled at the first use: it takes some 200 ms, which commands that check nothing save.
const validators = new Map<TSchema, ValidateFunction>();

/** Checks a value; paths start at it. */
export function checkShape<T>(schema: TSchema, json: unknown): ShapeCheck<T> {
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  if (validate(json)) return { problems: [], accepted: json as Accepted<T> };
  const errors = validate.errors ?? [];
  const problems = problemsInWords(errors.slice(0, problemsMax), ({ description }) => description);
  if (errors.length > problemsMax) return { problems, accepted: undefined };
  const accepted = errors
    .filter(refusesTheValue)
    .reduce<unknown>((rest, error) => leaveOut(rest, pointerSteps(error.instancePath)), json);
  return { problems, accepted: accepted as Accepted<T> | undefined };
}

/** Whether the value itself is wrong. Otherwise something inside of it is missing, unknown or listed twice. */
function refusesTheValue(error: ErrorObject): boolean {
  return !['required', 'additionalProperties', 'minItems', 'uniqueItems'].includes(error.keyword);
}

function leaveOut(value: unknown, [step, ...further]: readonly string[]): unknown {
  if (step === undefined || typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    const index = Number(step);
    return value.with(index, leaveOut(value[index], further));
  }
  const { [step]: part, ...others } = value as Record<string, unknown>;
  return further.length === 0 ? others : { ...others, [step]: leaveOut(part, further) };
}

/**
 * Collects further problems after those of the schema, one for each path. A problem at a path that the schema refused,
 * or above one, is a consequence of that refusal and is dropped.
 */
export function collectProblems(earlier: readonly FoundProblem[]): {
  problems: FoundProblem[];
  report: Report;
} {
  const problems = [...earlier];
  const paths = new Set<string>();
  const isConsequence = (path: string): boolean => earlier.some((problem) => `${problem.path}/`.startsWith(`${path}/`));
  const report: Report = (path, message) => {
    if (problems.length >= problemsMax || paths.has(path) || isConsequence(path)) return;
    paths.add(path);
    problems.push({ path, message });
  };
  return { problems, report };
}
