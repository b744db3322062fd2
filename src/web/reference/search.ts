/**
 * The search of the reference: a field in the header, whose results are links. What is searched is loaded at the first
 * use.
 */
import { make } from './elements.ts';

interface SearchTarget {
  readonly kind: string;
  readonly title: string;
  readonly about: string;
  readonly href: string;
  readonly text: string;
}

const RESULTS_MAX = 10;

export function addSearch(container: HTMLElement): void {
  const field = make('input', {
    type: 'search',
    placeholder: 'Search the reference',
    'aria-label': 'Search the reference',
    'aria-controls': 'found',
    autocomplete: 'off',
  });
  const results = make('ul', { id: 'found', 'aria-label': 'Results', hidden: '' });
  const said = make('p', { class: 'said', role: 'status' });
  container.append(field, results, said);
  container.hidden = false;

  let targets: Promise<readonly SearchTarget[]> | null = null;
  const load = (): Promise<readonly SearchTarget[]> =>
    (targets ??= fetch('/docs/search.json').then((response) => response.json() as Promise<readonly SearchTarget[]>));
  const close = (): void => {
    results.hidden = true;
    said.textContent = '';
  };
  const links = (): HTMLAnchorElement[] => [...results.querySelectorAll('a')];
  const search = async (): Promise<void> => {
    const wanted = field.value.trim();
    if (wanted === '') return close();
    const found = bestOf(await load(), wanted);
    if (field.value.trim() !== wanted) return;
    results.replaceChildren(...found.map(resultOf));
    if (found.length === 0) results.append(make('li', { class: 'none' }, 'Nothing has these words.'));
    results.hidden = false;
    said.textContent = found.length === 1 ? '1 result' : `${found.length} results`;
  };
  field.addEventListener('focus', () => void load());
  field.addEventListener('input', () => void search());
  container.addEventListener('keydown', (pressed) => {
    const steps: readonly HTMLElement[] = [field, ...links()];
    const at = steps.indexOf(document.activeElement as HTMLElement);
    const move = { ArrowDown: 1, ArrowUp: -1 }[pressed.key];
    if (move !== undefined) {
      pressed.preventDefault();
      steps[at + move]?.focus();
    } else if (pressed.key === 'Escape') {
      close();
      field.focus();
    } else if (pressed.key === 'Enter' && at === 0) {
      links()[0]?.click();
    }
  });
  document.addEventListener('keydown', (pressed) => {
    const isTyping = pressed.target instanceof HTMLElement && pressed.target.matches('input, textarea');
    if (pressed.key !== '/' || isTyping || pressed.ctrlKey || pressed.metaKey) return;
    pressed.preventDefault();
    field.focus();
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && (!container.contains(target) || links().some((link) => link.contains(target))))
      close();
  });
}

function resultOf({ kind, title, about, href }: SearchTarget): HTMLElement {
  const link = make('a', { href }, make('b', {}, title), make('span', {}, `${kind} · ${about}`));
  return make('li', {}, link);
}

/** The targets that have every word, those that have them in their title first. */
function bestOf(targets: readonly SearchTarget[], wanted: string): readonly SearchTarget[] {
  const words = wanted.toLowerCase().split(/\s+/);
  const scored = targets.map((target, index) => {
    const [title, about, text] = [target.title, target.about, target.text].map((part) => part.toLowerCase());
    const scores = words.map((word) => {
      if (title!.startsWith(word)) return 8;
      if (title!.includes(word)) return 5;
      if (about!.includes(word)) return 3;
      return text!.includes(word) ? 1 : 0;
    });
    return { target, index, score: scores.includes(0) ? 0 : scores.reduce<number>((sum, score) => sum + score, 0) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || one.index - other.index)
    .slice(0, RESULTS_MAX)
    .map(({ target }) => target);
}
