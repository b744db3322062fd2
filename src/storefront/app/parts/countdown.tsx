/** How long something still lasts, by the service's clock. */
import { clockText } from '../format.ts';
import { useServiceNow } from '../service-clock.ts';
import { ClockIcon } from './icons.tsx';

const URGENT_MS = 60_000;

interface CountdownProps {
  readonly until: string;
  readonly label: string;
}

/** The rest of a window as digits; the minutes are read out, not every second. */
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
        {minutes === 5 || minutes === 1 ? `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} left` : ''}
      </span>
    </p>
  );
}
