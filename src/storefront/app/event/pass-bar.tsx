/** What the waiting room means for this buyer right now. */
import type { EventPayload } from '#client/bodies.ts';
import { dayAndHour } from '../format.ts';
import { Countdown } from '../parts/countdown.tsx';
import { ArrowIcon } from '../parts/icons.tsx';
import { eventPath, Link } from '../router.tsx';
import { serviceNow } from '../service-clock.ts';
import type { Pass } from './use-pass.ts';

interface PassBarProps {
  readonly event: EventPayload;
  readonly pass: Pass;
  readonly hasHold: boolean;
}

export function PassBar({ event, pass, hasHold }: PassBarProps) {
  if (!event.waiting_room || hasHold) return null;
  if (pass.isAdmitted) {
    return (
      <div class="pass-bar admitted">
        <p>
          <b>It is your turn.</b> Choose your tickets and hold them.
        </p>
        {pass.entry?.pass_expires_at && <Countdown until={pass.entry.pass_expires_at} label="Your turn lasts" />}
      </div>
    );
  }
  const opensAt = event.waiting_room_opens_at;
  const isAhead = opensAt !== null && Date.parse(opensAt) > serviceNow();
  return (
    <div class="pass-bar">
      <p>
        <b>This event has a waiting room.</b>{' '}
        {isAhead
          ? `It opens on ${dayAndHour(opensAt, event.timezone)}; whoever is there by then is drawn in a fair random order.`
          : 'Everybody is let in at the same steady pace, in order.'}
      </p>
      <Link to={eventPath(event.slug, 'queue')} class="button primary">
        {pass.entry?.status === 'WAITING' ? 'Back to my place in line' : 'Join the waiting room'} <ArrowIcon />
      </Link>
    </div>
  );
}
