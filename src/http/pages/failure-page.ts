/** An error as a page: what it means to whoever opened it, and the way back. */
import type { ServedTexts } from '#texts/served.ts';
import type { ErrorBody } from '../errors.ts';
import { html, type Page } from './html.ts';

/** The page of an error; its code and status are those of the body that programs get. */
export function failurePage({ code }: Pick<ErrorBody, 'code'>, texts: ServedTexts): Page {
  const { failures, frame } = texts;
  const [heading, hint] = failures[isKnown(code, failures) ? code : 'OTHER'];
  return {
    texts,
    title: heading,
    body: html`<h1>${heading}</h1>
      <p class="lead">${hint}</p>
      <p class="actions"><a class="button" href="/">${frame.seeAll}</a></p>`,
  };
}

function isKnown(code: string, failures: ServedTexts['failures']): code is keyof ServedTexts['failures'] {
  return Object.hasOwn(failures, code);
}
