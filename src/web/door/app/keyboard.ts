/**
 * Codes of scanners that type: characters in quick succession, then Enter, wherever the focus is. What is typed into a
 * field belongs to the field.
 */

/** What was typed before a longer pause belongs to no code. */
const PAUSE_MS_MAX = 1_000;

/** The returned function ends it. */
export function followTypedCodes(onCode: (code: string) => void): () => void {
  let typed = '';
  let last = 0;
  const follow = (event: KeyboardEvent): void => {
    const { key, timeStamp, target, ctrlKey, altKey, metaKey } = event;
    if (target instanceof HTMLElement && target.closest('input, select, textarea') !== null) return;
    if (timeStamp - last > PAUSE_MS_MAX) typed = '';
    last = timeStamp;
    if (key === 'Enter' && typed !== '') {
      event.preventDefault();
      event.stopImmediatePropagation();
      const code = typed;
      typed = '';
      onCode(code);
    } else if (key.length === 1 && !ctrlKey && !altKey && !metaKey) {
      // The space that belongs to a code presses no button.
      if (typed !== '') event.preventDefault();
      if (typed !== '' || key !== ' ') typed += key;
    }
  };
  addEventListener('keydown', follow, { capture: true });
  return () => removeEventListener('keydown', follow, { capture: true });
}
