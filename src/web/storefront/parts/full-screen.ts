/**
 * A part of a page that fills the screen.
 *
 *  1. What it hides is not reached by keyboard or assistive technology meanwhile; what stays in sight has the attribute
 *     `data-stays`.
 *  2. Escape, and the way back of the browser, close it.
 */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useEscape } from '../../hooks.ts';
import { openLayer } from '../app/router.tsx';

export function useFullScreen(isFull: boolean, onFull: (isFull: boolean) => void) {
  const part = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!isFull) return;
    const hidden = othersThan(part.current!);
    for (const each of hidden) each.inert = true;
    return () => {
      for (const each of hidden) each.inert = false;
    };
  }, [isFull]);
  useLayoutEffect(() => {
    if (!isFull) return;
    return openLayer(() => onFull(false));
  }, [isFull]);
  useEscape(isFull, () => onFull(false));
  return part;
}

/** The elements beside a part and beside what it lies in. */
function othersThan(part: HTMLElement): HTMLElement[] {
  const others: HTMLElement[] = [];
  for (let within = part; within !== document.body; within = within.parentElement!) {
    for (const each of within.parentElement!.children) {
      if (each === within || !(each instanceof HTMLElement) || each.inert || each.matches('[data-stays]')) continue;
      others.push(each);
    }
  }
  return others;
}
