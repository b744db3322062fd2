/**
 * The examples of the reference and the guides, sent to a real service with the demo catalogue: as requests, and as
 * code in each language.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { createInterface } from 'node:readline';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import answers from '#docs/answers.json' with { type: 'json' };
import { STATION_TOKEN_NAME, TOKEN_NAME, valuesOf, type Example } from '#docs/example.ts';
import { examples, type ExampleKey } from '#docs/examples.ts';
import { exampleKeysOf, placeIn, readGuides } from '#docs/guides.ts';
import { snippetOf, type SnippetLanguage } from '#docs/snippets.ts';
import { ADMIN_TOKEN, openService, SECOND, type TestService } from '../fixtures/service.ts';
import {
  EXAMPLES,
  exampleKeys,
  sendRefused,
  sendStepsBefore,
  sendWithSteps,
  shapeOf,
  shortened,
} from './send-examples.ts';

const run = promisify(execFile);

type Run = (code: string, values: Readonly<Record<string, string>>) => Promise<string>;

/** What runs a snippet of each language; null where its program is not installed. */
const runs: Readonly<Record<SnippetLanguage, Run | null>> = {
  curl:
    existsSync('/usr/bin/curl') && existsSync('/bin/bash')
      ? (code, values) =>
          runProgram('/bin/bash', ['--norc', '-ec', code.replaceAll('curl -s', 'curl --fail-with-body -s')], values)
      : null,
  typescript: runTypescript,
  python: existsSync('/usr/bin/python3') ? runPython : null,
};

let service: TestService;
// An event sells only so many tickets to one address, so each test has a fresh service.
beforeEach(async () => {
  service = await openService({ demo: true, environment: EXAMPLES });
});
afterEach(() => service?.close());

const contextOf = ({ listener }: Example) => ({
  examples,
  origin: listener === 'public' ? service.publicUrl : service.adminUrl,
});

async function runProgram(file: string, options: readonly string[], values: Readonly<Record<string, string>>) {
  return (await run(file, options, { env: { PATH: process.env['PATH'], ...values } })).stdout;
}

/** In this process, because starting Node for each would take longer than all the rest. */
async function runTypescript(code: string, values: Readonly<Record<string, string>>): Promise<string> {
  const lines: string[] = [];
  const program = `export async function main(process, console) {${stripTypeScriptTypes(code)}}`;
  const { main } = (await import(`data:text/javascript,${encodeURIComponent(program)}`)) as {
    main(process: object, console: object): Promise<void>;
  };
  await main({ env: values }, { log: (value: unknown) => lines.push(JSON.stringify(value)) });
  // A request that is refused does not throw.
  assert.doesNotMatch(lines.join('\n'), /"statusCode":/);
  return lines.join('\n');
}

const PYTHON_LOOP = `import contextlib, io, json, os, sys
for line in sys.stdin:
    part = json.loads(line)
    os.environ.update(part["values"])
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(part["code"], {})
    print(json.dumps(output.getvalue()), flush=True)`;

let python: { readonly child: ChildProcess; readonly lines: AsyncIterator<string> } | null = null;
after(() => python?.child.stdin?.end());

/** One process for all snippets; an error ends it, with what Python says about it. */
async function runPython(code: string, values: Readonly<Record<string, string>>): Promise<string> {
  if (python === null) {
    const child = spawn('/usr/bin/python3', ['-c', PYTHON_LOOP], { stdio: ['pipe', 'pipe', 'inherit'] });
    python = { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  }
  python.child.stdin!.write(`${JSON.stringify({ code, values })}\n`);
  const { value, done } = await python.lines.next();
  if (done === true) throw new Error(`Python ended:\n${code}`);
  return JSON.parse(value) as string;
}

/** A stream does not end by itself. */
const isFinite = (key: ExampleKey): boolean => (examples[key] as Example).answers !== 'stream';

// ── requests as the OpenAPI documents have them ──────────────────────────────────────────────────────────────────────

interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly example?: string | number;
  }[];
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> };
    };
  };
}

type DocumentedPaths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;

/**
 * What is answered where an example names the hold, order, ticket or token of an earlier answer, on a service that
 * never gave it.
 */
const GIVEN_BY_OTHERS = /NOT_FOUND$|^QUEUE_PASS_INVALID$|^UNAUTHORIZED$/;

/** A provider signs the webhook. */
const WITHOUT_EXAMPLE = ['receivePaymentWebhook'];

/** Whether an example, or else the first one of an operation, needs nothing of others. */
function isComplete(operationId: string, key: string): boolean {
  const named: Example | undefined = key === '' ? undefined : examples[key as ExampleKey];
  const example = named ?? Object.values<Example>(examples).find(({ operation }) => operation === operationId)!;
  return example.needs === undefined && valuesOf(example).every((name) => name === TOKEN_NAME);
}

/** Every body of an operation; one without a body where it takes none. */
function bodiesOf({ requestBody }: DocumentedOperation): readonly (readonly [string, { readonly value: unknown }])[] {
  if (requestBody === undefined) return [['', { value: undefined }]];
  return Object.entries(requestBody.content['application/json'].examples ?? { '': { value: undefined } });
}

interface DocumentedRequest {
  readonly path: string;
  readonly method: string;
  readonly operation: DocumentedOperation;
  readonly body: unknown;
}

async function sendDocumented(origin: string, { path, method, operation, body }: DocumentedRequest) {
  const of = (place: string) =>
    (operation.parameters ?? []).filter((each) => each.in === place && each.example !== undefined);
  const address = of('path').reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))),
    path,
  );
  const query = new URLSearchParams(of('query').map(({ name, example }): [string, string] => [name, String(example)]));
  const headers = of('header').map(({ name, example }): [string, string] => [name, String(example)]);
  const ended = new AbortController();
  const response = await fetch(`${origin}${address}?${String(query)}`, {
    method: method.toUpperCase(),
    headers: [
      ...headers,
      ['Authorization', `Bearer ${ADMIN_TOKEN}`],
      ...(body === undefined ? [] : [['Content-Type', 'application/json'] as [string, string]]),
    ],
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: ended.signal,
  });
  const code = response.ok ? null : ((await response.json()) as { readonly code: string }).code;
  // A stream does not end by itself.
  ended.abort();
  return { status: response.status, code };
}

describe('The examples', () => {
  it('are answered as the reference shows it', async () => {
    assert.deepEqual(Object.keys(answers), [...exampleKeys, 'refused'], 'npm run record-answers');
    for (const key of exampleKeys) {
      const { status, body } = await sendWithSteps(service, key);
      const shown = answers[key as keyof typeof answers];
      assert.equal(status, shown.status, `${key} ${JSON.stringify(body)}`);
      // The figures of a running process differ from run to run.
      if (key !== 'readMetrics' && key !== 'getHistory') {
        const parts = JSON.parse(JSON.stringify(shortened(body))) as unknown;
        assert.deepEqual(shapeOf(parts), shapeOf(shown.body), `${key}: npm run record-answers`);
      }
      service.wait(2 * SECOND);
    }
    const { status, body } = await sendRefused(service);
    assert.deepEqual([status, shapeOf(body)], [answers.refused.status, shapeOf(answers.refused.body)]);
  });

  it('of the OpenAPI documents are answered by the demo, or refused where they name what an earlier answer gave; they are there for every operation that people call, and for no other', async () => {
    const operations: string[] = [];
    for (const [listener, url] of [
      ['public', service.publicUrl],
      ['admin', service.adminUrl],
    ] as const) {
      const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: DocumentedPaths };
      for (const [path, methods] of Object.entries(paths)) {
        for (const [method, operation] of Object.entries(methods)) {
          operations.push(operation.operationId);
          if (WITHOUT_EXAMPLE.includes(operation.operationId)) continue;
          for (const [key, { value }] of bodiesOf(operation)) {
            const { status, code } = await sendDocumented(url, { path, method, operation, body: value });
            const where = `${listener} ${operation.operationId} ${key}: ${status} ${code}`;
            if (isComplete(operation.operationId, key)) assert.ok(status < 400, where);
            else assert.ok(status < 400 || GIVEN_BY_OTHERS.test(code ?? ''), where);
          }
        }
      }
      service.wait(2 * SECOND);
    }
    const shown = new Set(Object.values<Example>(examples).map(({ operation }) => operation));
    assert.deepEqual(
      [...new Set(operations)].filter((operation) => !shown.has(operation)),
      WITHOUT_EXAMPLE,
    );
    // The one that a single machine does not have.
    assert.deepEqual(
      [...shown].filter((operation) => !operations.includes(operation)),
      ['getCluster'],
    );
  });

  for (const [language, runCode] of Object.entries(runs) as [SnippetLanguage, Run | null][]) {
    const skip = runCode === null && 'its program is not installed here';
    it(`succeed as ${language} when their values are given`, { skip }, async () => {
      for (const key of exampleKeys.filter(isFinite)) {
        const values = await sendStepsBefore(service, key);
        const output = await runCode!(snippetOf(examples[key], language, contextOf(examples[key])), values);
        assert.ok(output.trim().length > 1, key);
        service.wait(2 * SECOND);
      }
    });

    it(`succeed as ${language} in the order of each guide`, { skip }, async () => {
      await sendWithSteps(service, 'defineEvent');
      const station = (await sendWithSteps(service, 'addStation')).body as { readonly token: string };
      const tokens = { [TOKEN_NAME]: ADMIN_TOKEN, [STATION_TOKEN_NAME]: station.token };
      for (const guide of readGuides()) {
        const keys = exampleKeysOf(guide).filter(isFinite);
        const code = keys.map((key) =>
          snippetOf(examples[key], language, { ...contextOf(examples[key]), ...placeIn(keys, key) }),
        );
        const output = await runCode!(code.join('\n'), tokens);
        if (guide.slug === 'first-sale') assert.match(output, /"status":\s*"CONFIRMED"[^]*"code":/);
      }
    });
  }
});
