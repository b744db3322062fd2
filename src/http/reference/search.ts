/**
 * What the search of the reference finds: pages, parts of guides, operations with their fields, error codes and
 * statuses.
 */
import { drawnMachines } from '#docs/diagram.ts';
import { readGuides } from '#docs/guides.ts';
import { ERRORS } from '../protocol/errors.ts';
import type { DocsSource } from './pages.ts';
import { addressOf, anchorOf, operationsOf } from './operations.ts';

/** `text` is searched as well, and not shown. */
interface SearchableText {
  readonly kind: 'Operation' | 'Guide' | 'Error' | 'States';
  readonly title: string;
  readonly about: string;
  readonly href: string;
  readonly text: string;
}

export function searchEntries({ document }: Pick<DocsSource, 'document'>): readonly SearchableText[] {
  const operations = operationsOf(document).map((operation): SearchableText => {
    const { method, path, summary, description = '', operationId, parameters = [], requestBody } = operation;
    const names = [...JSON.stringify(requestBody ?? {}).matchAll(/"([a-z]\w*_\w+)":\{/g)].map(([, name]) => name);
    const text = [operationId, description, ...parameters.map(({ name }) => name), ...names].join(' ');
    return { kind: 'Operation', title: summary, about: `${method} ${path}`, href: addressOf(operation), text };
  });
  const parts = readGuides().flatMap(({ slug, title, lead, sections }): SearchableText[] => [
    { kind: 'Guide', title, about: lead, href: `/docs/guides/${slug}`, text: '' },
    ...sections.map((section): SearchableText => {
      const text = section.blocks.map((block) => ('text' in block ? block.text : '')).join(' ');
      const href = `/docs/guides/${slug}#${anchorOf(section.title)}`;
      return { kind: 'Guide', title: section.title, about: title, href, text };
    }),
  ]);
  const errors = Object.entries(ERRORS).map(([code, { message, meaning }]): SearchableText => ({
    kind: 'Error',
    title: code,
    about: message,
    href: `/docs/errors#${code}`,
    text: meaning,
  }));
  const states = drawnMachines().map(({ title, transitions }): SearchableText => {
    const statuses = [...new Set(transitions.map(({ to }) => to))];
    const text = transitions.map(({ trigger }) => trigger ?? '').join(' ');
    return { kind: 'States', title, about: statuses.join(' · '), href: `/docs/states#${anchorOf(title)}`, text };
  });
  return [...operations, ...parts, ...errors, ...states];
}
