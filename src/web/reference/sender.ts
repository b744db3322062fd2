/**
 * Sends an example from its page: the address, headers and body can be changed before.
 *
 *  1. A `$NAME` that is left in the request is filled in by sending the examples that give it first. One that the
 *     reader replaced is not.
 *  2. A buyer's address is a new one each time, because an event may sell only so many tickets to one.
 *  3. The operators' token stays in this page's memory of the tab and is sent to this listener alone.
 */
import { filledIn, STATION_TOKEN_NAME, TOKEN_NAME, valuesIn } from '#docs/example.ts';
import { make } from './elements.ts';

interface Step {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object | null;
  readonly answers: 'json' | 'text' | 'stream';
  readonly gives: Readonly<Record<string, readonly (string | number)[]>>;
}

interface Sent {
  readonly response: Response;
  readonly text: string;
}

const MAIL = 'ada@example.com';
const TOKEN_KEY = 'holdfast-reference-token';
/** Messages of a stream that are shown before it is closed. */
const MESSAGES_MAX = 3;

export function addSender(sample: HTMLElement): void {
  const steps = JSON.parse(sample.dataset['steps']!) as Step[];
  const example = steps.at(-1)!;
  const field = (label: string, control: HTMLElement): HTMLElement =>
    make('label', {}, make('span', {}, label), control);
  const path = make('input', { value: example.path, spellcheck: 'false', autocomplete: 'off' });
  const needsToken = steps.some(({ headers }) => 'Authorization' in headers);
  const isOfStation = example.headers['Authorization']?.includes(STATION_TOKEN_NAME) === true;
  const token = make('input', {
    type: 'password',
    autocomplete: 'off',
    value: isOfStation ? '' : (sessionStorage.getItem(TOKEN_KEY) ?? ''),
  });
  const headers = Object.entries(example.headers)
    .filter(([name]) => name !== 'Authorization')
    .map(([name, value]) => [name, make('input', { value, spellcheck: 'false', autocomplete: 'off' })] as const);
  const body = example.body === null ? null : make('textarea', { spellcheck: 'false', rows: '8' });
  const mail = `ada-${Math.random().toString(36).slice(2, 8)}@example.com`;
  if (body !== null) {
    body.value = JSON.stringify(example.body, null, 2).replaceAll(MAIL, mail);
    body.rows = Math.min(16, body.value.split('\n').length);
  }
  const button = make('button', { type: 'submit' }, 'Send');
  const output = make('div', { class: 'live', 'aria-live': 'polite' });
  const form = make(
    'form',
    {},
    field(`Address (${example.method})`, path),
    ...(needsToken ? [field(isOfStation ? 'Token of a station' : 'Operators’ token', token)] : []),
    ...headers.map(([name, input]) => field(name, input)),
    ...(body === null ? [] : [field('Body', body)]),
    make('p', { class: 'send' }, button),
  );
  const panel = make('details', {}, make('summary', {}, 'Try it: send this request'), form, output);
  sample.querySelector('.try')!.append(panel);

  const send = async (): Promise<void> => {
    output.replaceChildren(make('p', {}, 'Sending …'));
    if (needsToken && !isOfStation) sessionStorage.setItem(TOKEN_KEY, token.value);
    const own: Step = {
      ...example,
      path: path.value,
      headers: { ...example.headers, ...Object.fromEntries(headers.map(([name, input]) => [name, input.value])) },
    };
    const text = body?.value ?? null;
    const isOpen = /\$[A-Z]/.test(own.path + JSON.stringify({ ...own.headers, Authorization: '' }) + (text ?? ''));
    // A step that is only to come before (not to give a value) is sent unless the reader wrote values of their own.
    const before = isOpen || own.path === example.path ? steps.slice(0, -1) : [];
    let values: Record<string, string> = { [TOKEN_NAME]: token.value, [STATION_TOKEN_NAME]: token.value };
    const notes: HTMLElement[] = [];
    for (const step of before) {
      const bodyText = step.body === null ? null : JSON.stringify(step.body).replaceAll(MAIL, mail);
      const { response, text: answer } = await sendStep(step, bodyText, values);
      notes.push(
        make('p', { class: 'first' }, `First: ${step.method} ${filledIn(step.path, values)} → ${response.status}`),
      );
      if (!response.ok) return show(output, notes, response, answer);
      values = { ...values, ...valuesIn(step, JSON.parse(answer)) };
    }
    const { response, text: answer } = await sendStep(own, text, values);
    show(output, notes, response, answer);
  };
  form.addEventListener('submit', (submitted) => {
    submitted.preventDefault();
    button.disabled = true;
    send()
      .catch((error: unknown) => output.replaceChildren(make('p', { class: 'failed' }, String(error))))
      .finally(() => (button.disabled = false));
  });
}

async function sendStep(step: Step, body: string | null, values: Readonly<Record<string, string>>): Promise<Sent> {
  const headers = Object.entries(step.headers).map(([name, value]): [string, string] => [
    name,
    filledIn(value, values),
  ]);
  if (body !== null) headers.push(['Content-Type', 'application/json']);
  const response = await fetch(filledIn(step.path, values), {
    method: step.method,
    headers,
    ...(body !== null && { body: filledIn(body, values) }),
  });
  const isStream = step.answers === 'stream' && response.ok;
  return { response, text: isStream ? await messagesOf(response) : await response.text() };
}

/** The first messages of a stream, which is closed after them or after a while without one. */
async function messagesOf(response: Response): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const timer = setTimeout(() => void reader.cancel(), 5_000);
  let text = '';
  while (text.split('\ndata:').length <= MESSAGES_MAX) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
  }
  clearTimeout(timer);
  await reader.cancel();
  return text;
}

function show(output: HTMLElement, notes: readonly HTMLElement[], response: Response, text: string): void {
  const status = make(
    'p',
    { class: `status ${response.ok ? 'good' : 'bad'}` },
    `${response.status} ${response.statusText}`,
  );
  const pre = make(
    'pre',
    { tabindex: '0', role: 'region', 'aria-label': 'The answer of this service' },
    make('code', {}, pretty(text)),
  );
  output.replaceChildren(...notes, status, pre);
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
