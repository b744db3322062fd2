/** The performances of an event, to choose one. */
import type { EventPayload } from '#client/bodies.ts';
import { dayParts, hour, price, texts } from '../app/language.ts';
import { eventPath, go } from '../app/router.tsx';
import { serviceNow } from '../app/service.ts';

interface PerformanceChoiceProps {
  readonly event: EventPayload;
  readonly performanceId: string;
}

export function PerformanceChoice({ event, performanceId }: PerformanceChoiceProps) {
  if (event.performances.length < 2) return null;
  return (
    <fieldset class="dates">
      <legend>{texts.event.chooseDate}</legend>
      <div class="date-strip">
        {event.performances.map((performance) => {
          const sheet = performance.starts_at === null ? null : dayParts(performance.starts_at, event.timezone);
          const isChosen = performance.id === performanceId;
          return (
            <label class={`date${isChosen ? ' chosen' : ''}${performance.status === 'ON_SALE' ? '' : ' closed'}`}>
              <input
                type="radio"
                name="date"
                class="unseen"
                checked={isChosen}
                onChange={() =>
                  go(`${eventPath(event.slug)}?date=${encodeURIComponent(performance.id)}`, { replace: true })
                }
              />
              {sheet !== null && (
                <span class="sheet">
                  <b>{sheet.day}</b> {sheet.month}
                </span>
              )}
              <span class="date-name">{performance.name}</span>
              {sheet !== null && (
                <span class="quiet">
                  {sheet.weekday} {hour(performance.starts_at!, event.timezone)}
                </span>
              )}
              <span class="quiet">{noteOf(performance, event.currency)}</span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}

function noteOf(performance: EventPayload['performances'][number], currency: string): string {
  if (performance.status === 'CANCELLED') return texts.notes.cancelled;
  if (performance.ends_at !== null && Date.parse(performance.ends_at) <= serviceNow()) return texts.notes.over;
  if (performance.status === 'SOLD_OUT' || performance.sold_out === true) return texts.notes.soldOut;
  if (performance.total_available === 0) return texts.notes.inBaskets;
  return performance.from_price === undefined
    ? texts.notes.onSale
    : texts.list.from(price(performance.from_price, currency));
}
