/**
 * Small parts of many pages: what is said aloud, a countdown, a stepper, a link within a text, the tax in an
 * amount.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { EventPayload } from '#client/bodies.ts';
import { clockText, money, texts } from '../app/language.ts';
import { useServiceNow } from '../app/service.ts';
import { ClockIcon, MinusIcon, PlusIcon, pressedUnless } from '../../buttons.tsx';

export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      <span class="pulse" aria-hidden="true" /> {what}
    </p>
  );
}

export const URGENT_MS = 60_000;

interface CountdownProps {
  readonly until: string;
  readonly label: string;
}

/** The time left until a moment; assistive technology announces the last minutes, not every second. */
export function Countdown({ until, label }: CountdownProps) {
  const leftMs = Date.parse(until) - useServiceNow();
  const minutes = Math.ceil(leftMs / 60_000);
  return (
    <p class={`countdown${leftMs <= URGENT_MS ? ' urgent' : ''}`}>
      <ClockIcon />
      <span>{label}</span>
      <span class="digits" role="timer" aria-live="off">
        {clockText(leftMs)}
      </span>
      <span class="unseen" aria-live="polite">
        {minutes === 5 || minutes === 1 ? texts.basket.minutesLeft(minutes) : ''}
      </span>
    </p>
  );
}

interface StepperProps {
  /** What is counted, for assistive technology. */
  readonly label: string;
  readonly value: number;
  readonly max: number;
  readonly min?: number;
  readonly disabled?: boolean;
  readonly onChange: (value: number) => void;
}

/** A number with a button at each side that changes it by one. */
export function Stepper({ label, value, max, min = 0, disabled = false, onChange }: StepperProps) {
  return (
    <div class="stepper" role="group" aria-label={label}>
      <button
        type="button"
        aria-label={texts.basket.fewer(label)}
        {...pressedUnless(disabled || value <= min, () => onChange(value - 1))}
      >
        <MinusIcon />
      </button>
      <output aria-live="polite">{value}</output>
      <button
        type="button"
        aria-label={texts.basket.more(label)}
        {...pressedUnless(disabled || value >= max, () => onChange(value + 1))}
      >
        <PlusIcon />
      </button>
    </div>
  );
}

// ── what assistive technology says without moving the focus ──────────────────────────────────────────────────────────

let said = '';
const listeners = new Set<() => void>();

/** Has a screen reader say a sentence; the same sentence is said again each time. */
export function announce(sentence: string): void {
  said = sentence === said ? `${sentence}\u00a0` : sentence;
  for (const listener of listeners) listener();
}

/** One live region for the whole page. */
export function Announcer() {
  const [text, setText] = useState(said);
  useEffect(() => {
    const follow = (): void => setText(said);
    listeners.add(follow);
    return () => void listeners.delete(follow);
  }, []);
  return (
    <p class="unseen" role="status" id="announcements" data-stays>
      {text}
    </p>
  );
}

// ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A text whose words in [brackets] become a link. Languages place them where they like. */
export function withLink(text: string, link: (words: string) => ComponentChildren): ComponentChildren {
  const [, before = text, words = '', after = ''] = /^([^[]*)\[([^\]]*)\](.*)$/.exec(text) ?? [];
  return (
    <>
      {before}
      {words !== '' && link(words)}
      {after}
    </>
  );
}

/** The value-added tax in an amount, where the event names its rate. */
export function VatLine({ event, total }: { readonly event: EventPayload; readonly total: number }) {
  const percent = event.legal?.vat_percent ?? null;
  if (percent === null || total === 0) return null;
  const vat = Math.round((total * percent) / (100 + percent));
  return <p class="vat small quiet">{texts.basket.vat(percent, money(vat, event.currency))}</p>;
}
