/** What the organizer says while the sale runs, and that it is paused. */
import type { SaleSteering } from '#client/bodies.ts';
import { texts } from '../app/language.ts';
import { Notice } from '../parts/controls.tsx';

interface SteeringNoticeProps {
  readonly steering: SaleSteering | null;
  /** Whether the buyer holds something, which can be bought all the same. */
  readonly hasHold?: boolean;
}

export function SteeringNotice({ steering, hasHold = false }: SteeringNoticeProps) {
  if (steering === null) return null;
  const { paused, message } = steering;
  const said = paused ? `${texts.event.paused} ${hasHold ? texts.event.pausedHeld : texts.event.pausedWait}` : null;
  return (
    <Notice tone={paused ? 'warn' : 'info'}>
      {said} {message !== null && <b>{message}</b>}
    </Notice>
  );
}
