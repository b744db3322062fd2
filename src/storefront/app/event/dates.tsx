/** The dates of an event, to choose one. */
import type { EventPayload } from '#client/bodies.ts';
import { dayParts, hour, price } from '../format.ts';
import { eventPath, go } from '../router.tsx';
import { serviceNow } from '../service-clock.ts';

interface DatesProps {
  readonly event: EventPayload;
  readonly performanceId: string;
}

export function Dates({ event, performanceId }: DatesProps) {
  if (event.performances.length < 2) return null;
  return (
    <fieldset class="dates">
      <legend>Choose a date</legend>
      <div class="date-strip">
        {event.performances.map((date) => {
          const leaf = date.starts_at === null ? null : dayParts(date.starts_at, event.timezone);
          const isChosen = date.id === performanceId;
          return (
            <label class={`date${isChosen ? ' chosen' : ''}${date.status === 'ON_SALE' ? '' : ' closed'}`}>
              <input
                type="radio"
                name="date"
                class="unseen"
                checked={isChosen}
                onChange={() => go(`${eventPath(event.slug)}?date=${encodeURIComponent(date.id)}`, { replace: true })}
              />
              {leaf !== null && (
                <span class="leaf">
                  <b>{leaf.day}</b> {leaf.month}
                </span>
              )}
              <span class="date-name">{date.name}</span>
              {leaf !== null && (
                <span class="quiet">
                  {leaf.weekday} {hour(date.starts_at!, event.timezone)}
                </span>
              )}
              <span class="quiet">{dateNote(date, event.currency)}</span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}

function dateNote(date: EventPayload['performances'][number], currency: string): string {
  if (date.status === 'CANCELLED') return 'cancelled';
  if (date.ends_at !== null && Date.parse(date.ends_at) <= serviceNow()) return 'over';
  if (date.status === 'SOLD_OUT' || date.sold_out === true) return 'sold out';
  if (date.total_available === 0) return 'all in baskets';
  return date.from_price === undefined ? 'on sale' : `from ${price(date.from_price, currency)}`;
}
