/** Keeps the focus in a part of the page when the element that had it goes away, such as a button that did its work. */
import { useEffect, useRef } from 'preact/hooks';

/**
 * The element to watch. Once nothing is `isBusy`, a focus that was lost goes to the part's primary action, else to its heading: never
 * to the document's body, from where a keyboard begins again at the top.
 */
export function useFocusWithin(isBusy: boolean) {
  const place = useRef<HTMLElement>(null);
  const hadFocus = useRef(false);
  useEffect(() => {
    const isInside = (target: EventTarget | null): boolean => place.current?.contains(target as Node | null) ?? false;
    const follow = ({ target }: Event): void => {
      hadFocus.current = isInside(target);
    };
    document.addEventListener('focusin', follow);
    document.addEventListener('pointerdown', follow);
    return () => {
      document.removeEventListener('focusin', follow);
      document.removeEventListener('pointerdown', follow);
    };
  }, []);
  useEffect(() => {
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (isBusy || !hadFocus.current || !isLost) return;
    const next = place.current?.querySelector<HTMLElement>('.primary:not(:disabled)');
    (next ?? place.current?.querySelector<HTMLElement>('h2'))?.focus({ preventScroll: true });
  });
  return place;
}
