/** One event: the tickets of each performance over time, the link to its seats, and its cancellation. */
import { useState } from 'preact/hooks';
import { addressOf, type Api } from '../api.ts';
import type { OverviewEvent, OverviewPerformance } from '../bodies.ts';
import { figure, moment } from '../format.ts';
import { LineChart, performanceKey, StockChart, StockLegend, type History } from '../parts/charts.tsx';
import { Confirmation } from '../parts/confirmation.tsx';
import { Breadcrumbs, StatusTag } from '../parts/frame.tsx';
import { linkTo } from '../router.ts';

interface EventPageProps {
  readonly event: OverviewEvent;
  readonly history: History;
  readonly api: Api;
  readonly reload: () => void;
}

export function EventPage({ event, history, api, reload }: EventPageProps) {
  const [cancelling, setCancelling] = useState<OverviewPerformance | null>(null);
  const queue = event.waiting_room;
  const cancel = async (performance: OverviewPerformance, note: string | null): Promise<void> => {
    await api('POST', addressOf('events', event.id, 'performances', performance.id, 'cancel'), { note });
    reload();
  };
  return (
    <>
      <Breadcrumbs />
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
        {event.performances.map((performance) => (
          <PerformanceCard
            key={performance.id}
            event={event}
            performance={performance}
            history={history}
            onCancel={() => setCancelling(performance)}
          />
        ))}
        {queue !== null && (
          <section class="card">
            <h3>Waiting room</h3>
            <p>
              {queue.status} · <b>{figure(queue.waiting)}</b> waiting · <b>{figure(queue.admitted)}</b> admitted ·{' '}
              <b>{figure(queue.admitted_last_minute)}</b> in the last minute · <b>{figure(queue.joined)}</b> joined in
              all
            </p>
            <LineChart
              label="People waiting over time"
              points={history.map(({ at, waiting }) => ({ at, value: waiting.get(event.id) ?? 0 }))}
            />
          </section>
        )}
      </div>
      {cancelling !== null && (
        <Confirmation
          title={`Cancel ${cancelling.name}?`}
          action="Cancel the date"
          isGrave
          act={(_fields, note) => cancel(cancelling, note)}
          onClose={() => setCancelling(null)}
        >
          <p>
            {figure(cancelling.held)} held tickets are released. Every order with a ticket on this date is cancelled
            whole, and what was paid is due back. This cannot be undone.
          </p>
        </Confirmation>
      )}
    </>
  );
}

interface PerformanceCardProps extends Pick<EventPageProps, 'event' | 'history'> {
  readonly performance: OverviewPerformance;
  readonly onCancel: () => void;
}

function PerformanceCard({ event, performance, history, onCancel }: PerformanceCardProps) {
  const key = performanceKey(event.id, performance.id);
  const points = history.flatMap(({ at, stock }) => {
    const then = stock.get(key);
    return then === undefined ? [] : [{ at, stock: then }];
  });
  return (
    <section class="card">
      <div class="heading">
        <h3>{performance.name}</h3>
        <StatusTag status={performance.status} />
      </div>
      <p class="quiet small">{moment(performance.starts_at, event.timezone)}</p>
      <StockChart points={points} label={`Tickets of ${performance.name} by state over time`} />
      <StockLegend stock={performance} />
      <div class="actions">
        {event.numbered && (
          <a class="button" href={linkTo('events', event.id, 'seats', performance.id)}>
            Seats
          </a>
        )}
        {performance.status !== 'CANCELLED' && (
          <button type="button" class="button plain" onClick={onCancel}>
            Cancel date…
          </button>
        )}
      </div>
    </section>
  );
}
