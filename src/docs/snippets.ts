/**
 * Writes an example as code: for curl in a shell, for TypeScript and for Python, without any package.
 *
 *  1. Alone, an example takes its values from the environment: `HOLD=… node example.ts`. In a guide it takes them from
 *     the examples that stand before it, but for the operators' token.
 *  2. The text of an example in a guide and alone differs in nothing but that.
 */
import { giverOf, valuesOf, type Example, type Examples } from './example.ts';

export const LANGUAGES = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const;

export type SnippetLanguage = keyof typeof LANGUAGES;

export interface SnippetContext {
  readonly examples: Examples;
  /** The address of the listener, without a slash at its end. */
  readonly origin: string;
  /** The names of values that examples before it in the same guide gave. */
  readonly given?: ReadonlySet<string>;
  /** Whether examples follow that use what this one gives. */
  readonly keeps?: boolean;
}

/** The example in a language. */
export function snippetOf(example: Example, language: SnippetLanguage, context: SnippetContext): string {
  const write = { curl: curlOf, typescript: typescriptOf, python: pythonOf }[language];
  return write(withContentType(example), context);
}

function withContentType(example: Example): Example {
  if (example.body === undefined) return example;
  return { ...example, headers: { ...example.headers, 'Content-Type': 'application/json' } };
}

const named = /\$([A-Z_]+)/g;
const hasValue = (text: string): boolean => /\$[A-Z]/.test(text);

// ── curl ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

function curlOf(example: Example, { origin, keeps = false }: SnippetContext): string {
  const { method, path, headers = {}, body, answers, gives = {} } = example;
  const implied = body === undefined ? 'GET' : 'POST';
  const first = [
    `curl -s${answers === 'stream' ? 'N' : ''}`,
    ...(method === implied ? [] : [`-X ${method}`]),
    shellText(origin + path),
  ].join(' ');
  const options = [
    ...Object.entries(headers).map(([name, value]) => `-H ${shellText(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shellBody(JSON.stringify(body, null, 2))}`]),
  ];
  const command = [first, ...options].join(' \\\n  ');
  if (!keeps || Object.keys(gives).length === 0) return command;
  const kept = Object.entries(gives).map(([name, place]) => {
    const field = String(place.at(-1));
    return `${name}=$(echo "$ANSWER" | grep -o '"${field}":"[^"]*' | head -n 1 | cut -d '"' -f 4)`;
  });
  return [`ANSWER=$(${command})`, ...kept, 'echo "$ANSWER"'].join('\n');
}

/** Double quotes where the shell has to insert a value. */
function shellText(text: string): string {
  return hasValue(text) ? `"${text}"` : `'${text}'`;
}

/** A JSON text in single quotes; a value stands in double quotes between two of them. */
function shellBody(json: string): string {
  const quoted = json.replaceAll("'", `'\\''`).replaceAll(named, `'"$$$1"'`);
  return `'${quoted}'`;
}

// ── TypeScript ───────────────────────────────────────────────────────────────────────────────────────────────────────

function typescriptOf(example: Example, context: SnippetContext): string {
  const { method, path, headers, body, answers, noun } = example;
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers === undefined ? [] : [`  headers: ${typescriptValue(headers, context, example, '  ')},`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${typescriptValue(body, context, example, '  ')}),`]),
  ];
  const address = typescriptText(context.origin + path, context, example);
  const call =
    options.length === 0 ? `await fetch(${address})` : `await fetch(${address}, {\n${options.join('\n')}\n})`;
  const response = `${noun}Response`;
  if (answers === 'stream') {
    const lines = `for await (const text of ${response}.body!.pipeThrough(new TextDecoderStream())) {\n  console.log(text);\n}`;
    return `const ${response} = ${call};\n${lines}`;
  }
  return [
    `const ${response} = ${call};`,
    `const ${noun} = await ${response}.${answers}();`,
    `console.log(${noun});`,
  ].join('\n');
}

function typescriptText(text: string, context: SnippetContext, { listener }: Example): string {
  if (!hasValue(text)) return `'${text.replaceAll("'", "\\'")}'`;
  const alone = /^\$[A-Z_]+$/.test(text);
  const value = (name: string): string =>
    context.given?.has(name) === true ? memberOf(context.examples, name, listener, '.') : `process.env.${name}`;
  if (alone) return value(text.slice(1));
  return `\`${text.replaceAll(named, (_, name: string) => `\${${value(name)}}`)}\``;
}

function typescriptValue(value: unknown, context: SnippetContext, example: Example, indent: string): string {
  const deeper = `${indent}  `;
  if (typeof value === 'string') return typescriptText(value, context, example);
  if (Array.isArray(value)) {
    return listed(
      '[',
      ']',
      value.map((each) => typescriptValue(each, context, example, deeper)),
      indent,
    );
  }
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, each]) => {
    const written = /^[a-z_$][\w$]*$/i.test(name) ? name : `'${name}'`;
    return `${written}: ${typescriptValue(each, context, example, deeper)}`;
  });
  return listed('{', '}', fields, indent);
}

// ── Python ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function pythonOf(example: Example, context: SnippetContext): string {
  const { method, path, headers, body, answers, noun } = example;
  const address = pythonText(context.origin + path, context, example);
  const options = [
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    ...(headers === undefined ? [] : [`    headers=${pythonValue(headers, context, example, '    ')},`]),
    ...(body === undefined ? [] : [`    data=json.dumps(${pythonValue(body, context, example, '    ')}).encode(),`]),
  ];
  const needsOs = valuesOf(example).some((name) => context.given?.has(name) !== true);
  const modules = [
    ...(answers === 'json' || body !== undefined ? ['json'] : []),
    ...(needsOs ? ['os'] : []),
    'urllib.request',
  ];
  const request =
    options.length === 0
      ? [`request = urllib.request.Request(${address})`]
      : [`request = urllib.request.Request(`, `    ${address},`, ...options, `)`];
  const read = {
    json: [`    ${noun} = json.load(response)`, `print(json.dumps(${noun}, indent=2))`],
    text: [`    print(response.read().decode())`],
    stream: [`    for line in response:`, `        print(line.decode(), end="", flush=True)`],
  }[answers];
  return [
    `import ${modules.join(', ')}`,
    '',
    ...request,
    `with urllib.request.urlopen(request) as response:`,
    ...read,
  ].join('\n');
}

function pythonText(text: string, context: SnippetContext, { listener }: Example): string {
  if (!hasValue(text)) return JSON.stringify(text);
  const value = (name: string): string =>
    context.given?.has(name) === true ? memberOf(context.examples, name, listener, '[') : `os.environ["${name}"]`;
  if (/^\$[A-Z_]+$/.test(text)) return value(text.slice(1));
  return `f"${text.replaceAll(named, (_, name: string) => `{${value(name).replaceAll('"', "'")}}`)}"`;
}

function pythonValue(value: unknown, context: SnippetContext, example: Example, indent: string): string {
  const deeper = `${indent}    `;
  if (typeof value === 'string') return pythonText(value, context, example);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return 'None';
  if (Array.isArray(value)) {
    return listed(
      '[',
      ']',
      value.map((each) => pythonValue(each, context, example, deeper)),
      indent,
      '    ',
    );
  }
  if (typeof value !== 'object') return String(value);
  const fields = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}: ${pythonValue(each, context, example, deeper)}`,
  );
  return listed('{', '}', fields, indent, '    ');
}

// ── both ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

const LINE_LENGTH_MAX = 64;

/** A list in one line where it is short, else with a line for each part. */
function listed(open: string, close: string, parts: readonly string[], indent: string, step = '  '): string {
  const [before, after] = open === '{' && step === '  ' ? [`${open} `, ` ${close}`] : [open, close];
  const line = parts.length === 0 ? open + close : `${before}${parts.join(', ')}${after}`;
  if (line.length + indent.length <= LINE_LENGTH_MAX && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${indent}${step}${part},\n`).join('')}${indent}${close}`;
}

/** Where a value stands in the answer of an earlier example: `hold.id`, `hold["id"]`. */
function memberOf(examples: Examples, name: string, listener: Example['listener'], form: '.' | '['): string {
  const { noun, gives } = examples[giverOf(examples, name, listener)]!;
  const steps = gives![name]!.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return form === '.' ? `.${step}` : `["${step}"]`;
  });
  return noun + steps.join('');
}
