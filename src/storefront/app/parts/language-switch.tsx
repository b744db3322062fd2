/** The choice of the language, each by its own name. */
import { LANGUAGES } from '#texts/language.ts';
import { chooseLanguage, language, texts } from '../language.ts';

export function LanguageSwitch() {
  return (
    <p class="languages" role="group" aria-label={texts.frame.language}>
      {Object.entries(LANGUAGES).map(([tag, name]) => (
        <button type="button" lang={tag} aria-pressed={tag === language} onClick={() => chooseLanguage(tag)}>
          {name}
        </button>
      ))}
    </p>
  );
}
