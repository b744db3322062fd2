/** Sends the examples of the reference to a service, each after those that it needs, and shortens what they answer. */
import {
  filledIn,
  STATION_TOKEN_NAME,
  stepsBefore,
  TOKEN_NAME,
  valuesIn,
  valuesOf,
  type Example,
} from '#docs/example.ts';
import { examples, refusedExample, type ExampleKey } from '#docs/examples.ts';
import { ADMIN_TOKEN, SECOND, type TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

/** The settings of a service that the examples are sent to; nobody takes its mails. */
export const EXAMPLES = { SANDBOX_CLOCK: 'on', SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'tickets@example.com' };

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The examples of a single machine, in their order. */
export const exampleKeys = (Object.keys(examples) as ExampleKey[]).filter((key) => key !== 'getCluster');

/** What the other listener has to do first, where an example says that it needs something (`needs`). */
const PREPARED_BY: Readonly<Partial<Record<ExampleKey, readonly ExampleKey[]>>> = {
  cancelOrder: ['getOrderStatus'],
  recordRefund: ['getOrderStatus'],
  listOpenRefunds: ['refuseSandboxRefund', 'executeRefund'],
  settleSandboxRefund: ['chooseSandboxRefunds', 'executeRefund'],
};

/** Sends the examples that have to come before one; answers the values that they give. */
export async function sendStepsBefore(service: TestService, key: ExampleKey): Promise<Record<string, string>> {
  for (const other of PREPARED_BY[key] ?? []) await sendWithSteps(service, other);
  // The amendment that an earlier example left to be paid has run out by then.
  if (key === 'cancelAmendment') service.wait(3_600 * SECOND);
  let values: Record<string, string> = { [TOKEN_NAME]: ADMIN_TOKEN };
  if (valuesOf(examples[key]).includes(STATION_TOKEN_NAME)) {
    const { body } = await send(service, examples.addStation, values);
    values = { ...values, [STATION_TOKEN_NAME]: (body as { readonly token: string }).token };
  }
  for (const step of stepsBefore(examples, key)) {
    const { status, body } = await send(service, examples[step as ExampleKey], values);
    if (status >= 300) throw new Error(`${step} before ${key} is answered ${status} ${JSON.stringify(body)}`);
    const read = step === 'listSandboxRefunds' ? pendingIn(body) : body;
    values = { ...values, ...valuesIn(examples[step as ExampleKey], read) };
  }
  return values;
}

/** The list of the sandbox without what the demo's events gave back by themselves. */
function pendingIn(body: unknown): object {
  const { refunds } = body as { readonly refunds: readonly { readonly status: string }[] };
  return { refunds: refunds.filter(({ status }) => status === 'PENDING') };
}

export async function sendWithSteps(service: TestService, key: ExampleKey): Promise<Answer> {
  return send(service, examples[key], await sendStepsBefore(service, key));
}

/** Sends the request that is refused, after the one that takes its seat. */
export async function sendRefused(service: TestService): Promise<Answer> {
  await sendWithSteps(service, refusedExample.after as ExampleKey);
  return send(service, refusedExample, {});
}

async function send(service: TestService, example: Example, values: Readonly<Record<string, string>>): Promise<Answer> {
  const { listener, method, path, headers = {}, body, answers } = example;
  const origin = listener === 'public' ? service.publicUrl : service.adminUrl;
  const filledHeaders = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    filledIn(value, values),
  ]);
  const ended = new AbortController();
  const response = await fetch(origin + filledIn(path, values), {
    method,
    headers: [
      ...filledHeaders,
      ...(body === undefined ? [] : [['Content-Type', 'application/json'] as [string, string]]),
    ],
    ...(body !== undefined && { body: filledIn(JSON.stringify(body), values) }),
    signal: ended.signal,
  });
  const { status } = response;
  if (body !== undefined && 'execute' in body) await refundsTried(service);
  if (answers === 'json' || !response.ok) return { status, body: (await response.json()) as unknown };
  if (answers === 'text') return { status, body: await response.text() };
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('data:') && text.endsWith('\n\n')) break;
  }
  ended.abort();
  return { status, body: text };
}

/** Waits for the provider, which is asked for a refund beside the answer. */
function refundsTried({ admin, now }: TestService): Promise<void> {
  type Page = { readonly refunds: readonly { readonly next_try_at: string }[] };
  return until(async () => {
    const { refunds } = (await admin.get<Page>('/admin/events/evt_club/refunds?status=PENDING')).body;
    return refunds.every(({ next_try_at: at }) => Date.parse(at) > now());
  });
}

const ARRAY_LENGTH_MAX = 2;
const TEXT_LINES_MAX = 12;

/** An answer as a page shows it: of a long list the first parts, and how many more there are. */
export function shortened(value: unknown): unknown {
  if (typeof value === 'string' && value.includes('\n')) {
    const lines = value.trimEnd().split('\n').map(shortenedLine);
    return [...lines.slice(0, TEXT_LINES_MAX), ...(lines.length > TEXT_LINES_MAX ? ['…'] : [])].join('\n');
  }
  if (Array.isArray(value)) {
    const more = value.length - ARRAY_LENGTH_MAX;
    const shown = value.slice(0, ARRAY_LENGTH_MAX).map(shortened);
    return more > 0 ? [...shown, `… ${more} more`] : shown;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shortened(part)]));
}

/** The data of a server-sent event is JSON of its own. */
function shortenedLine(line: string): string {
  if (!line.startsWith('data: {')) return line;
  return `data: ${JSON.stringify(shortened(JSON.parse(line.slice('data: '.length))))}`;
}

/**
 * What two answers to the same example have in common: fields, types and statuses, whatever ids and times they have.
 */
export function shapeOf(value: unknown): unknown {
  if (typeof value === 'string') return /^[A-Z_]{3,}$/.test(value) ? value : 'text';
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part)]));
}
