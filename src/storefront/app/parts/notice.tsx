/** Things to be told: calm, in a sentence, and read out. */
import type { ComponentChildren } from 'preact';
import { CheckIcon, ClockIcon, InfoIcon } from './icons.tsx';

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
