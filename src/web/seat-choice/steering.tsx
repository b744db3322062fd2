/** What the organizer says while the sale runs, and that it is paused. */
import type { SaleSteering } from '#client/bodies.ts';
import { Notice } from '../notice.tsx';
import type { SeatWords } from './words.ts';

interface SteeringNoticeProps {
  readonly words: SeatWords;
  readonly steering: SaleSteering | null;
  /** Whether the buyer holds something, which can be bought all the same. */
  readonly hasHold?: boolean;
}

export function SteeringNotice({ words, steering, hasHold = false }: SteeringNoticeProps) {
  if (steering === null) return null;
  const { paused, message } = steering;
  const said = paused ? `${words.plan.paused} ${hasHold ? words.plan.pausedHeld : words.plan.pausedWait}` : null;
  return (
    <Notice tone={paused ? 'warn' : 'info'}>
      {said} {message !== null && <b>{message}</b>}
    </Notice>
  );
}
