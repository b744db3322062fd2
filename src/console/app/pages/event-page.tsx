/** One event: each date's tickets over time, the way to its seats, and the date's end. */
import { useState } from 'preact/hooks';
import { addressOf, type Api } from '../api.ts';
import type { OverviewDate, OverviewEvent } from '../bodies.ts';
import { figure, moment } from '../format.ts';
import { dateKey, type History } from '../history.ts';
import { LineChart, StockChart, StockLegend } from '../parts/charts.tsx';
import { Confirmation } from '../parts/confirmation.tsx';
import { linkTo } from '../router.ts';

interface EventPageProps {
  readonly event: OverviewEvent;
  readonly history: History;
  readonly api: Api;
  readonly again: () => void;
}

export function EventPage({ event, history, api, again }: EventPageProps) {
  const [ending, setEnding] = useState<OverviewDate | null>(null);
  const room = event.waiting_room;
  const cancelDate = async (date: OverviewDate, note: string | null): Promise<void> => {
    await api('POST', addressOf('events', event.id, 'performances', date.id, 'cancel'), { note });
    again();
  };
  return (
    <>
      <p class="crumbs">
        <a href="#/">On sale now</a>
      </p>
      <div class="heading">
        <h1>{event.name}</h1>
        <div class="actions">
          <a class="button" href={linkTo('events', event.id, 'orders')}>
            Orders
          </a>
          <a class="button" href={linkTo('journal', event.id)}>
            Journal
          </a>
        </div>
      </div>
      <div class="cards">
        {event.performances.map((date) => (
          <DateCard key={date.id} event={event} date={date} history={history} onEnd={() => setEnding(date)} />
        ))}
        {room !== null && (
          <section class="card">
            <h3>Waiting room</h3>
            <p>
              {room.status} · <b>{figure(room.waiting)}</b> waiting · <b>{figure(room.admitted)}</b> admitted ·{' '}
              <b>{figure(room.admitted_last_minute)}</b> in the last minute · <b>{figure(room.joined)}</b> joined in all
            </p>
            <LineChart
              label="People waiting over time"
              points={history.map(({ at, waiting }) => ({ at, value: waiting.get(event.id) ?? 0 }))}
            />
          </section>
        )}
      </div>
      {ending !== null && (
        <Confirmation
          title={`Cancel ${ending.name}?`}
          action="Cancel the date"
          isGrave
          act={(_fields, note) => cancelDate(ending, note)}
          onClose={() => setEnding(null)}
        >
          <p>
            {figure(ending.held)} held tickets are released. Every order with a ticket on this date is cancelled whole,
            and what was paid is due back. This cannot be undone.
          </p>
        </Confirmation>
      )}
    </>
  );
}

interface DateCardProps extends Pick<EventPageProps, 'event' | 'history'> {
  readonly date: OverviewDate;
  readonly onEnd: () => void;
}

function DateCard({ event, date, history, onEnd }: DateCardProps) {
  const key = dateKey(event.id, date.id);
  const points = history.flatMap(({ at, stock }) => {
    const then = stock.get(key);
    return then === undefined ? [] : [{ at, stock: then }];
  });
  return (
    <section class="card">
      <div class="heading">
        <h3>{date.name}</h3>
        <span class={`tag ${date.status}`}>{date.status.replace('_', ' ')}</span>
      </div>
      <p class="quiet small">{moment(date.starts_at, event.timezone)}</p>
      <StockChart points={points} label={`Tickets of ${date.name} by state over time`} />
      <StockLegend stock={date} />
      <div class="actions">
        {event.numbered && (
          <a class="button" href={linkTo('events', event.id, 'seats', date.id)}>
            Seats
          </a>
        )}
        {date.status !== 'CANCELLED' && (
          <button type="button" class="button plain" onClick={onEnd}>
            Cancel date…
          </button>
        )}
      </div>
    </section>
  );
}
