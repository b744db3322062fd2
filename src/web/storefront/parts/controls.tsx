/** Small parts of many pages: notices, a countdown and a stepper. */
import type { ComponentChildren } from 'preact';
import { clockText } from '../format.ts';
import { texts } from '../language.ts';
import { useServiceNow } from '../service.ts';
import { CheckIcon, ClockIcon, InfoIcon, MinusIcon, PlusIcon } from './icons.tsx';

interface NoticeProps {
  readonly tone: 'info' | 'good' | 'warn' | 'bad';
  readonly children: ComponentChildren;
}

export function Notice({ tone, children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' || tone === 'warn' ? 'alert' : 'status'}>
      {tone === 'good' ? <CheckIcon /> : tone === 'warn' ? <ClockIcon /> : <InfoIcon />}
      <div>{children}</div>
    </div>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      <span class="pulse" aria-hidden="true" /> {what}
    </p>
  );
}

const URGENT_MS = 60_000;

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

/** The attributes of a button that its own press may switch off: it keeps the focus, which `disabled` would take from it. */
export function pressedUnless(isOff: boolean, onPress: () => void) {
  return { 'aria-disabled': isOff, onClick: () => void (!isOff && onPress()) };
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
