/**
 * How values are written in JSON: names in snake_case, moments in RFC 3339, paths as JSON pointers.
 *
 * The detail of a refusal is written by rule: a name that ends in `At`, and `until`, is a moment, `errors` are problems
 * of a body, `conflicts` are problems of a definition.
 */
import { forOrderTexts, type OrderTextName } from '#domain/order-texts.ts';
import type { Problem } from '#domain/refusal.ts';
import { pointer, type FoundProblem } from '#domain/schema-problems.ts';

/**
 * The last formatted second, up to its dot. Holds that are placed in one second end in one second, so it is often
 * needed again.
 */
let formatted = { second: 0, text: '1970-01-01T00:00:00.' };

/** A moment as RFC 3339 in UTC with milliseconds. */
export function formatTime(ms: number): string {
  const wholeMs = Math.trunc(ms);
  const second = Math.floor(wholeMs / 1_000);
  if (second !== formatted.second) formatted = { second, text: new Date(ms).toISOString().slice(0, -'000Z'.length) };
  return `${formatted.text}${String(wholeMs - second * 1_000).padStart(3, '0')}Z`;
}

export function formatMoment(ms: number | null): string | null {
  return ms === null ? null : formatTime(ms);
}

/** ticketTypeId → ticket_type_id. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : '';
type OrderTextKey = SnakeCase<OrderTextName>;

/** The field of a body that has a text of an order. */
export const orderTextKeys = forOrderTexts((name) => snakeCase(name) as OrderTextKey);

/** A field of a body for each text of an order. */
export function orderTextFields<Made>(make: Parameters<typeof forOrderTexts<Made>>[0]): Record<OrderTextKey, Made> {
  const fields: Partial<Record<OrderTextKey, Made>> = {};
  forOrderTexts((name, text) => (fields[orderTextKeys[name]] = make(name, text)));
  return fields as Record<OrderTextKey, Made>;
}

/** The detail of a refusal in the API's names. */
export function toDetailBody(detail: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(detail).map(([name, value]) => [snakeCase(name), toFieldBody(name, value)]));
}

function toFieldBody(name: string, value: unknown): unknown {
  if ((name.endsWith('At') || name === 'until') && typeof value === 'number') return formatTime(value);
  if (name === 'errors') return (value as readonly ListedProblem[]).map((problem) => toProblemBody(problem, snakeCase));
  if (name === 'conflicts') return (value as readonly ListedProblem[]).map((problem) => toProblemBody(problem, asIs));
  return value;
}

/** A problem of the domain, or one whose path is a JSON pointer already. */
export type ListedProblem = Problem | FoundProblem;

/** A problem as the API lists it; the steps of a path into a definition have the file's own names already. */
function toProblemBody({ path, message }: ListedProblem, nameOf: (step: string) => string) {
  if (typeof path === 'string') return { path, message };
  return { path: pointer('', ...path.map((step) => (typeof step === 'number' ? step : nameOf(step)))), message };
}

const asIs = (step: string): string => step;

/** Addresses to return to that are not valid. */
export function problemsOfReturn(body: {
  readonly success_url?: string | null;
  readonly cancel_url?: string | null;
}): ListedProblem[] {
  return (['success_url', 'cancel_url'] as const)
    .filter((name) => !isAddress(body[name] ?? null))
    .map((name) => ({ path: `/${name}`, message: 'must be an http or https address' }));
}

function isAddress(url: string | null): boolean {
  return url === null || URL.canParse(url.replaceAll('{ORDER_ID}', 'order'));
}
