/**
 * The examples of the OpenAPI document: those of the reference (`src/docs/examples.ts`), as bodies and as values of
 * parameters.
 *
 * 1. The values of parameters are those of an operation's first example.
 * 2. What an example takes from an earlier answer is filled in from the recorded answers, so that it has the form of a
 *    real id.
 */
import answers from '#docs/answers.json' with { type: 'json' };
import { filledIn, isToken, valuesIn, valuesOf, type Example } from '#docs/example.ts';
import { examples } from '#docs/examples.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: { readonly type?: string };
}

interface DocumentedOperation {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
}

type Paths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
type Listener = Example['listener'];

/** The paths with the examples of their operations. */
export function withExamples<Documented>(paths: Documented, listener: Listener): Documented {
  const values = recordedValues(listener);
  const all = Object.entries(examples).filter(([, example]) => example.listener === listener);
  const documented = Object.entries((paths ?? {}) as Paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => {
        const own = all.filter(([, example]) => example.operation === operation.operationId);
        return [method, own.length === 0 ? operation : documentExamples(path, operation, own, values)];
      }),
    ),
  ]);
  return Object.fromEntries(documented) as Documented;
}

type Values = Readonly<Record<string, string>>;

/** What the recorded answers give (rule 2). */
function recordedValues(listener: Listener): Values {
  const recorded: Readonly<Record<string, { readonly body: unknown }>> = answers;
  return Object.assign(
    {},
    ...Object.entries(examples).map(([key, example]) =>
      example.listener === listener ? valuesIn(example, recorded[key]?.body) : {},
    ),
  ) as Values;
}

function documentExamples(
  path: string,
  operation: DocumentedOperation,
  own: readonly (readonly [string, Example])[],
  values: Values,
): DocumentedOperation {
  const { parameters, requestBody } = operation;
  const [, first] = own[0]!;
  const given = parametersOf(path, first, values);
  const bodies = own.flatMap(([key, { title, body }]) =>
    body === undefined ? [] : [[key, { summary: title, value: filledBody(body, values) }] as const],
  );
  return {
    ...operation,
    ...(parameters !== undefined && { parameters: parameters.map((parameter) => withValue(parameter, given)) }),
    ...(requestBody !== undefined &&
      bodies.length > 0 && { requestBody: { ...requestBody, content: withBodies(requestBody.content, bodies) } }),
  };
}

function withBodies(content: Readonly<Record<string, object>>, bodies: readonly (readonly [string, object])[]) {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [type, { ...media, examples: Object.fromEntries(bodies) }]),
  );
}

function filledBody(body: object, values: Values): unknown {
  return JSON.parse(filledIn(JSON.stringify(body), values));
}

function withValue(parameter: Parameter, given: ReadonlyMap<string, string>): Parameter {
  const text = given.get(`${parameter.in} ${parameter.name.toLowerCase()}`);
  if (text === undefined) return parameter;
  return { ...parameter, example: parameter.schema?.type === 'integer' ? Number(text) : text } as Parameter;
}

/** What a request has in its path, query and headers, by place and name. */
function parametersOf(template: string, { path, headers = {} }: Example, values: Values): ReadonlyMap<string, string> {
  const [before = '', query = ''] = filledIn(path, values).split('?');
  const parts = before.split('/');
  const inPath = template.split('/').flatMap((part, index) => {
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
    return name === undefined ? [] : [[`path ${name.toLowerCase()}`, decodeURIComponent(parts[index]!)] as const];
  });
  const inQuery = [...new URLSearchParams(query)].map(([name, value]) => [`query ${name}`, value] as const);
  const inHeaders = Object.entries(headers)
    .filter(([name, value]) => !valuesOf({ path: '', headers: { [name]: value } }).some(isToken))
    .map(([name, value]) => [`header ${name.toLowerCase()}`, filledIn(value, values)] as const);
  return new Map([...inPath, ...inQuery, ...inHeaders]);
}
