/**
 * What an example of the reference is: one request that works on the demo catalogue, and what later examples use of its
 * answer.
 *
 *  1. A `$NAME` in an address or a body is a value from the answer of an earlier example, which `gives` it. The
 *     tokens of operators and stations are not: whoever sends the example knows them.
 *  2. `stepsBefore` lists the examples to send first, in their order. Whoever sends these and then the example gets its
 *     answer.
 */

export interface Example {
  /** The operation of the OpenAPI document. */
  readonly operation: string;
  readonly title: string;
  readonly listener: 'public' | 'admin';
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly answers: 'json' | 'text' | 'stream';
  /** What the answer is called in code. */
  readonly noun: string;
  /** Values of the answer that later examples use: where each stands in the answer. */
  readonly gives?: Readonly<Record<string, readonly (string | number)[]>>;
  /** An example that has to be sent before, beside those that give values. */
  readonly after?: string;
  /** What no other example of the listener can bring about. */
  readonly needs?: string;
}

/** The names of bearer tokens: of the operators' API, and of a station. */
export const TOKEN_NAME = 'ADMIN_TOKEN';
export const STATION_TOKEN_NAME = 'STATION_TOKEN';

/** Whether a value is a token, which no example gives (rule 1). */
export function isToken(name: string): boolean {
  return name === TOKEN_NAME || name === STATION_TOKEN_NAME;
}

export type Examples = Readonly<Record<string, Example>>;

/** The names of the values that a request needs, in the order in which they appear. */
export function valuesOf({ path, headers, body }: Pick<Example, 'path' | 'headers' | 'body'>): readonly string[] {
  const text = path + JSON.stringify(headers ?? {}) + JSON.stringify(body ?? {});
  return [...new Set(Array.from(text.matchAll(/\$([A-Z_]+)/g), ([, name]) => name!))];
}

/** The example of the same listener that gives a value, as its key. */
export function giverOf(examples: Examples, name: string, listener: Example['listener']): string {
  const giver = Object.entries(examples).find(
    ([, example]) => example.listener === listener && Object.hasOwn(example.gives ?? {}, name),
  );
  if (giver === undefined) throw new Error(`no example gives ${name}`);
  return giver[0];
}

/** The keys of the examples to send before one, first ones first (rule 2). */
export function stepsBefore(examples: Examples, key: string): readonly string[] {
  const example = examples[key]!;
  const direct = [
    ...valuesOf(example)
      .filter((name) => !isToken(name))
      .map((name) => giverOf(examples, name, example.listener)),
    ...(example.after === undefined ? [] : [example.after]),
  ];
  return [...new Set(direct.flatMap((step) => [...stepsBefore(examples, step), step]))];
}

/** What an answer gives, by name. */
export function valuesIn({ gives = {} }: Pick<Example, 'gives'>, answer: unknown): Record<string, string> {
  const at = (path: readonly (string | number)[]): unknown =>
    path.reduce<unknown>((part, step) => (part as Record<string | number, unknown> | undefined)?.[step], answer);
  return Object.fromEntries(
    Object.entries(gives).flatMap(([name, path]) => {
      const value = at(path);
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

/** The text with the values in place of their names; a name without a value stays. */
export function filledIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$([A-Z_]+)/g, (name, key: string) => values[key] ?? name);
}
