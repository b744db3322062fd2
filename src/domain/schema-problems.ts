/**
 * Puts Ajv's findings into plain words: the problems of a definition, of a request and of a webhook.
 *
 * 1. A message completes the sentence that its path begins: "/currency must be …", "/id is required".
 * 2. The message for a pattern, a format or a type says what must be there, where the schema has words for it. The
 *    message for a length says the bound.
 * 3. One mistake is one problem: a text that is too short need not match its pattern as well.
 */

/** What Ajv says of one problem, with the option `verbose`. */
interface SchemaError {
  readonly keyword?: string;
  readonly instancePath?: string;
  readonly params?: Keywords;
  readonly schema?: unknown;
  readonly parentSchema?: Keywords;
  readonly data?: unknown;
  readonly message?: string;
}

type Keywords = Readonly<Record<string, unknown>>;

/** A problem at a JSON pointer (RFC 6901). */
export interface FoundProblem {
  readonly path: string;
  readonly message: string;
}

/** The problems of a value, with paths that start at it. `mustBeOf` is what a schema says of its value (rule 2). */
export function problemsInWords(
  errors: readonly SchemaError[],
  mustBeOf: (schema: Keywords) => unknown = () => undefined,
): readonly FoundProblem[] {
  const tooShort = new Set(
    errors.filter(({ keyword }) => keyword === 'minLength').map(({ instancePath }) => instancePath),
  );
  return errors
    .filter(({ keyword, instancePath }) => keyword !== 'if' && !(keyword === 'pattern' && tooShort.has(instancePath)))
    .map((error) => ({ path: pathOf(error), message: messageOf(error, mustBeOf(error.parentSchema ?? {})) }));
}

/** A field that is missing or unknown is named, and not the object that it concerns. */
function pathOf({ instancePath = '', keyword, params = {} }: SchemaError): string {
  const field: unknown =
    keyword === 'required'
      ? params['missingProperty']
      : keyword === 'additionalProperties'
        ? params['additionalProperty']
        : undefined;
  return field === undefined ? instancePath : pointer(instancePath, String(field));
}

const TYPES: Readonly<Record<string, string | readonly string[]>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: ['true', 'false'],
  array: 'a list',
  object: 'an object',
};

function messageOf({ keyword, params = {}, parentSchema = {}, ...error }: SchemaError, mustBe: unknown): string {
  const bounds = error.schema as Bounds;
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return unknownField(String(params['additionalProperty']), Object.keys(parentSchema['properties'] ?? {}));
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`;
    case 'type':
      return `must be ${typeInWords([params['type']].flat() as string[], mustBe)}`;
    case 'pattern':
    case 'format':
      return typeof mustBe === 'string' ? `must be ${mustBe}` : 'does not have the form that is asked for';
    case 'minimum':
      return `must be ${range(parentSchema as Bounds)}`;
    case 'maximum':
      return `must be at most ${digits(params['limit'])}`;
    case 'integerText':
      return `must be a whole number ${range(bounds)}`;
    case 'exclusiveMinimum':
      return `must be more than ${digits(params['limit'])}`;
    case 'minLength':
      return params['limit'] === 1 ? 'must not be empty' : `must have at least ${digits(params['limit'])} characters`;
    case 'maxLength':
      return `must have at most ${digits(params['limit'])} characters`;
    case 'minItems':
      return params['limit'] === 1
        ? 'must not be an empty list'
        : `must have at least ${digits(params['limit'])} items`;
    case 'minProperties':
      return 'must not be empty';
    case 'maxItems':
      return `must have at most ${digits(params['limit'])} items`;
    case 'uniqueItems':
      return `must not have ${itemInWords((error.data as readonly unknown[] | undefined)?.[params['i'] as number])} twice`;
    default:
      return error.message ?? 'is not valid';
  }
}

function typeInWords(types: readonly string[], mustBe: unknown): string {
  const asked = typeof mustBe === 'string' ? [mustBe, ...types.filter((type) => type === 'null')] : types;
  const words = asked.flatMap((type) => TYPES[type] ?? type);
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' or ');
}

interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A bound as high as this protects sums, and does not help a person who typed too little. */
const MAXIMUM_SAID = 1_000_000_000;

function range({ minimum, maximum = Infinity }: Bounds): string {
  if (minimum === undefined) return `at most ${digits(maximum)}`;
  return maximum >= MAXIMUM_SAID ? `at least ${digits(minimum)}` : `from ${digits(minimum)} to ${digits(maximum)}`;
}

function digits(number: unknown): string {
  return Number(number).toLocaleString('en-US');
}

function itemInWords(item: unknown): string {
  return typeof item === 'string' || typeof item === 'number' ? JSON.stringify(item) : 'the same item';
}

// ── names that are near ──────────────────────────────────────────────────────────────────────────────────────────────

function unknownField(name: string, known: readonly string[]): string {
  return `unknown field${suggestion(name, known) || '; notes of your own have names that begin with x_'}`;
}

/** `; did you mean …?` with the most similar name, or an empty text when none is similar. */
export function suggestion(typed: string, names: Iterable<string>): string {
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(typed.length / 3)) + 1;
  for (const name of names) {
    if (Math.abs(name.length - typed.length) >= bestDistance && !name.startsWith(typed)) continue;
    const distance = name.startsWith(typed) && typed.length > 1 ? 1 : editDistance(typed, name);
    if (distance >= bestDistance) continue;
    best = name;
    bestDistance = distance;
  }
  return best === null ? '' : `; did you mean ${best}?`;
}

/** Number of letters to insert, remove, replace or swap with the next one (Damerau, optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...new Array<number>(b.length).fill(0)]);
  for (let j = 1; j <= b.length; j += 1) rows[0]![j] = j;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const differs = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + differs);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = least;
    }
  }
  return rows[a.length]![b.length]!;
}

// ── paths ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Extends a JSON pointer by further steps, which are escaped. */
export function pointer(path: string, ...steps: readonly (string | number)[]): string {
  return steps.reduce<string>((soFar, step) => `${soFar}/${escapeStep(step)}`, path);
}

function escapeStep(step: string | number): string {
  return typeof step === 'number' ? String(step) : step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The steps of a JSON pointer, unescaped. */
export function pointerSteps(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
