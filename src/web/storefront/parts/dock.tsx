/**
 * The bar at the foot of a narrow screen, on every page of a purchase: the price, the clock, and the next step. A wide
 * screen has them beside the page.
 */
import type { ComponentChildren } from 'preact';
import { useMedia } from '../../hooks.ts';
import { ClockIcon } from '../../buttons.tsx';
import { clockText, texts } from '../app/language.ts';
import { useServiceNow } from '../app/service.ts';
import { Notice } from '../../notice.tsx';
import { URGENT_MS } from './controls.tsx';

/** Where there is no room for a basket beside the page. */
export const useNarrow = (): boolean => useMedia('(max-width: 64rem)');

export interface DockProps {
  readonly text: string;
  /** Under the text, where no clock is. */
  readonly more?: string | undefined;
  /** Until when there is time. */
  readonly until?: string | null | undefined;
  /** Leads to what the text is about. */
  readonly onText?: (() => void) | undefined;
  /** Why there is no next step, or what went wrong with it. */
  readonly note?: { readonly tone: 'info' | 'bad'; readonly text: string } | null;
  /** The next step. */
  readonly children?: ComponentChildren;
}

export function Dock({ text, more, until = null, onText, note = null, children }: DockProps) {
  const leftMs = until === null ? null : Date.parse(until) - useServiceNow();
  const what = (
    <>
      {text !== '' && <b>{text}</b>}
      {more !== undefined && <span>{more}</span>}
      {leftMs !== null && (
        <span class={`bar-clock${leftMs <= URGENT_MS ? ' urgent' : ''}`}>
          <ClockIcon /> {clockText(leftMs)}
        </span>
      )}
    </>
  );
  return (
    <section class="dock" aria-label={texts.frame.nextStep} data-stays>
      {note !== null && <Notice tone={note.tone}>{note.text}</Notice>}
      {onText === undefined ? (
        <p class="dock-what">{what}</p>
      ) : (
        <button type="button" class="dock-what" onClick={onText}>
          {what}
        </button>
      )}
      {children}
    </section>
  );
}
