/** What a page says about itself, with its tone as colour, icon and role. */
import type { ComponentChildren } from 'preact';
import { CheckIcon, ClockIcon, InfoIcon } from './buttons.tsx';

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
