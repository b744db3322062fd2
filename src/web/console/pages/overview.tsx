/** The overview: what is on sale now, how many people wait, and the state of the service. */
import type { Overview, OverviewEvent, ServiceState } from '../app/bodies.ts';
import { bytes, number, moment, span } from '../app/format.ts';
import { LineChart, StockBar, StockLegend, type History } from '../parts/charts.tsx';
import { PageTitle, StatusTag, Tiles } from '../parts/frame.tsx';
import { Alerts } from '../parts/alerts.tsx';
import { MoneyLine } from '../parts/money.tsx';
import { linkTo } from '../app/router.ts';

interface OverviewPageProps {
  readonly overview: Overview;
  readonly history: History;
}

export function OverviewPage({ overview, history }: OverviewPageProps) {
  const { events, service } = overview;
  const isOnSale = (event: OverviewEvent): boolean =>
    event.status === 'PUBLISHED' && event.performances.some(({ status }) => status === 'ON_SALE');
  const others = events.filter((event) => !isOnSale(event));
  return (
    <>
      <PageTitle>On sale now</PageTitle>
      <Alerts service={service} events={events} />
      <Service service={service} />
      <p class="small">
        <a href={linkTo('service')}>The last hours</a> of the service: refusals, latency, admission queue, fsync
      </p>
      <div class="cards">
        {events.filter(isOnSale).map((event) => (
          <EventCard key={event.id} event={event} history={history} Heading="h2" />
        ))}
      </div>
      {others.length > 0 && (
        <>
          <h2>Not on sale</h2>
          <div class="cards">
            {others.map((event) => (
              <EventCard key={event.id} event={event} history={history} Heading="h3" />
            ))}
          </div>
        </>
      )}
      {overview.next_cursor !== null && (
        <p class="quiet">The first {events.length} events are shown; the API lists the rest.</p>
      )}
    </>
  );
}

function Service({ service }: { readonly service: ServiceState }) {
  const age = service.snapshot_age_seconds;
  const tiles: readonly (readonly [name: string, value: string])[] = [
    ['Journal lag', `${number(service.journal_lag)} facts`],
    ['On disk up to', `#${number(service.durable_seq)}`],
    ['Snapshot age', age === 0 ? 'none yet' : span(age)],
    ['Event-loop delay', `${service.event_loop_delay_ms} ms`],
    ['Disk free', service.free_bytes === null ? 'unknown' : bytes(service.free_bytes)],
    ...(service.notification_lag === null
      ? []
      : [['Notifications behind', `${number(service.notification_lag)} facts`] as const]),
  ];
  return <Tiles label="The service" tiles={tiles} />;
}

interface EventCardProps {
  readonly event: OverviewEvent;
  readonly history: History;
  readonly Heading: 'h2' | 'h3';
}

function EventCard({ event, history, Heading }: EventCardProps) {
  const queue = event.waiting_room;
  return (
    <section class="card" data-event={event.id}>
      <div class="heading">
        <Heading>
          <a href={linkTo('events', event.id)}>{event.name}</a>
        </Heading>
        {event.evicted && <span class="quiet small">not in memory: as last read</span>}
        <a class="small" href={linkTo('events', event.id, 'sale')}>
          Sale by minute
        </a>
        <a class="small" href={linkTo('events', event.id, 'orders')}>
          Orders
        </a>
      </div>
      <MoneyLine totals={event.money} />
      <ul class="date-list">
        {event.performances.map((performance) => (
          <li key={performance.id}>
            <div class="heading small">
              <span>
                <b>{performance.name}</b> <span class="quiet">{moment(performance.starts_at)}</span>
              </span>
              <StatusTag status={performance.status} />
            </div>
            <StockBar stock={performance} />
            <StockLegend stock={performance} />
          </li>
        ))}
      </ul>
      {queue !== null && (
        <div class="room">
          <p>
            <b>{number(queue.waiting)}</b> waiting · <b>{number(queue.admitted)}</b> admitted ·{' '}
            <b>{number(queue.admitted_last_minute)}</b> in the last minute
          </p>
          <LineChart
            label={`People waiting for ${event.name} over time`}
            points={history.map(({ at, waiting }) => ({ at, value: waiting.get(event.id) ?? 0 }))}
          />
        </div>
      )}
    </section>
  );
}
