/**
 * The script of the reference: copy buttons, one choice of language for all examples, sending examples, and the search.
 */
import { browserStore, make } from './elements.ts';
import { addSearch } from './search.ts';
import { addSender } from './sender.ts';

const LANGUAGE_KEY = 'holdfast-reference-language';
const COPIED_MS = 2_000;

function addCopyButtons(): void {
  for (const box of document.querySelectorAll<HTMLElement>('[data-copies]')) {
    const button = make('button', { type: 'button', class: 'copy' }, 'Copy');
    const label = box.querySelector('pre')?.getAttribute('aria-label');
    button.setAttribute('aria-label', `Copy: ${label ?? 'code'}`);
    button.addEventListener('click', () => {
      const said = (text: string): void => {
        button.textContent = text;
        setTimeout(() => (button.textContent = 'Copy'), COPIED_MS);
      };
      const text = box.querySelector('code')?.textContent ?? '';
      navigator.clipboard.writeText(text).then(
        () => said('Copied'),
        () => said('Select it'),
      );
    });
    box.append(button);
  }
}

/** The choice of one example counts for all of them, here and on later pages. */
function shareLanguage(): void {
  const radios = [...document.querySelectorAll<HTMLInputElement>('.languages input')];
  const choose = (language: string): void => {
    for (const radio of radios) radio.checked = radio.value === language;
  };
  const known = browserStore.read(LANGUAGE_KEY);
  if (known !== null && radios.some(({ value }) => value === known)) choose(known);
  for (const radio of radios) {
    radio.addEventListener('change', () => {
      choose(radio.value);
      browserStore.write(LANGUAGE_KEY, radio.value);
    });
  }
}

addCopyButtons();
shareLanguage();
for (const sample of document.querySelectorAll<HTMLElement>('[data-steps]')) addSender(sample);
addSearch(document.querySelector<HTMLElement>('search')!);
