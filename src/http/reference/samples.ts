/** Code on the pages of the reference: a text to copy, and an example in every language beside its answer. */
import answers from '#docs/answers.json' with { type: 'json' };
import { stepsBefore, type Example } from '#docs/example.ts';
import { examples, type ExampleKey } from '#docs/examples.ts';
import { LANGUAGES, snippetOf, type SnippetLanguage, type SnippetContext } from '#docs/snippets.ts';
import { drawn, html, type Html } from '../pages/html.ts';

/** Where the two listeners are reached, without a slash at the end. */
export type Origins = Readonly<Record<Example['listener'], string>>;

interface RecordedAnswer {
  readonly status: number;
  readonly body: unknown;
}

const recorded: Readonly<Record<string, RecordedAnswer>> = answers;

/** The addresses of the listener at which answers were recorded. */
const RECORDED_ORIGIN = 'http://127.0.0.1:8080';

const STATUS_TEXTS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created' };

/** A text of code with its name; a script adds the button that copies it. */
export function codeHtml(code: string, label = 'Code'): Html {
  return html`<div class="code" data-copies>
    ${drawn(`<pre tabindex="0" role="region" aria-label="${label}"><code>${html`${code}`.html}</code></pre>`)}
  </div>`;
}

/** What a real service answered to an example; null where none was recorded. */
export function answerOf(key: string, origins: Origins): RecordedAnswer | null {
  const answer = recorded[key];
  if (answer === undefined) return null;
  return { ...answer, body: JSON.parse(JSON.stringify(answer.body).replaceAll(RECORDED_ORIGIN, origins.public)) };
}

function answerText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body, null, 2);
}

export function answerHtml(key: ExampleKey, origins: Origins): Html | null {
  const answer = answerOf(key, origins);
  if (answer === null) return null;
  const title = `${answer.status} ${STATUS_TEXTS[answer.status] ?? ''}`;
  return html`<h4 class="part">Answer <span class="status">${title}</span></h4>
    ${codeHtml(answerText(answer.body), `Answer to: ${examples[key].title}`)}`;
}

/** An example in each language, of which one is shown. The choice needs no script. */
export function requestHtml(
  key: ExampleKey,
  origins: Origins,
  rest: Omit<SnippetContext, 'examples' | 'origin'> = {},
): Html {
  const example: Example = examples[key];
  const context = { ...rest, examples, origin: origins[example.listener] };
  const languages = Object.entries(LANGUAGES) as [SnippetLanguage, string][];
  const choices = languages.map(
    ([language, name], index) =>
      html`<label
        ><input type="radio" name="language-${key}" value="${language}" ${index === 0 ? drawn('checked') : null} /><span
          >${name}</span
        ></label
      >`,
  );
  const snippets = languages.map(
    ([language, name]) =>
      html`<div class="in ${language}">
        ${codeHtml(snippetOf(example, language, context), `${example.title} in ${name}`)}
      </div>`,
  );
  return html`<div class="request" id="example-${key}">
    <fieldset class="languages">
      <legend>Language</legend>
      ${choices}
    </fieldset>
    ${snippets}
  </div>`;
}

/** The text that a script reads to send an example: the examples to send before, and the example itself last. */
export function stepsText(key: ExampleKey): string {
  return JSON.stringify(
    [...stepsBefore(examples, key), key].map((step) => {
      const { method, path, headers = {}, body = null, answers: kind, gives = {} } = examples[step as ExampleKey];
      return { method, path, headers, body, answers: kind, gives };
    }),
  );
}
