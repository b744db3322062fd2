/** What the search of the reference finds: pages, parts of guides, operations with their fields, error codes and statuses. */
import { drawnMachines } from '#src/docs/diagram.ts';
import { guides } from '#src/docs/guides.ts';
import { ERRORS } from '../errors.ts';
import type { DocsSource } from './docs-pages.ts';
import { addressOf, anchorOf, operationsOf } from './operation-pages.ts';

/** `text` is searched as well, and not shown. */
export interface SearchEntry {
  readonly kind: 'Operation' | 'Guide' | 'Error' | 'States';
  readonly title: string;
  readonly about: string;
  readonly href: string;
  readonly text: string;
}

export function searchEntries({ document }: Pick<DocsSource, 'document'>): readonly SearchEntry[] {
  const operations = operationsOf(document).map((operation): SearchEntry => {
    const { method, path, summary, description = '', operationId, parameters = [], requestBody } = operation;
    const names = [...JSON.stringify(requestBody ?? {}).matchAll(/"([a-z]\w*_\w+)":\{/g)].map(([, name]) => name);
    const text = [operationId, description, ...parameters.map(({ name }) => name), ...names].join(' ');
    return { kind: 'Operation', title: summary, about: `${method} ${path}`, href: addressOf(operation), text };
  });
  const parts = guides.flatMap(({ slug, title, lead, sections }): SearchEntry[] => [
    { kind: 'Guide', title, about: lead, href: `/docs/guides/${slug}`, text: '' },
    ...sections.map((section): SearchEntry => {
      const text = section.blocks.map((block) => ('text' in block ? block.text : '')).join(' ');
      const href = `/docs/guides/${slug}#${anchorOf(section.title)}`;
      return { kind: 'Guide', title: section.title, about: title, href, text };
    }),
  ]);
  const errors = Object.entries(ERRORS).map(([code, { message, meaning }]): SearchEntry => ({
    kind: 'Error',
    title: code,
    about: message,
    href: `/docs/errors#${code}`,
    text: meaning,
  }));
  const states = drawnMachines().map(({ title, transitions }): SearchEntry => {
    const statuses = [...new Set(transitions.map(({ to }) => to))];
    const text = transitions.map(({ trigger }) => trigger ?? '').join(' ');
    return { kind: 'States', title, about: statuses.join(' · '), href: `/docs/states#${anchorOf(title)}`, text };
  });
  return [...operations, ...parts, ...errors, ...states];
}
