/** One event: the tickets of each performance over time, the link to its seats, and its cancellation. */
import { useState } from 'preact/hooks';
import { addressOf, usePolled, type Api } from '../app/api.ts';
import type { Cancellation, EventMoney, OverviewEvent, OverviewPerformance } from '../app/bodies.ts';
import { countOf, number, moment, sums } from '../app/format.ts';
import { LineChart, performanceKey, StockBar, StockChart, StockLegend, type History } from '../parts/charts.tsx';
import { Confirmation, DialogButton } from '../parts/confirmation.tsx';
import { Breadcrumbs, PageTitle, StatusTag } from '../parts/frame.tsx';
import { Counter } from '../parts/counter.tsx';
import { More } from '../parts/more-to-sell.tsx';
import { Steering, SteeringLine } from '../parts/steering.tsx';
import { HourTable, MoneyLine } from '../parts/money.tsx';
import { linkTo, linkWith } from '../app/router.ts';

interface EventPageProps {
  readonly event: OverviewEvent;
  readonly history: History;
  readonly api: Api;
  readonly reload: () => void;
}

export function EventPage({ event, history, api, reload }: EventPageProps) {
  const about = { event, api, reload };
  const [cancelling, setCancelling] = useState<OverviewPerformance | null>(null);
  const cancel = async (performance: OverviewPerformance, fields: FormData, note: string | null): Promise<void> => {
    const refunds = fields.get('execute') === null ? {} : { refunds: 'EXECUTE' };
    const body = { orders: fields.get('orders'), ...refunds, note };
    await api('POST', addressOf('events', event.id, 'performances', performance.id, 'cancel'), body);
    reload();
  };
  return (
    <>
      <Breadcrumbs />
      <div class="heading">
        <PageTitle>{event.name}</PageTitle>
        <div class="actions">
          <DialogButton label="Sell at the counter" dialog={Counter} {...about} />
          <DialogButton label="More stock and dates" dialog={More} {...about} />
          <DialogButton label="Steer the sale" dialog={Steering} {...about} />
          <a class="button" href={linkTo('events', event.id, 'sale')}>
            Sale by minute
          </a>
          <a class="button" href={linkTo('events', event.id, 'orders')}>
            Orders
          </a>
          <a class="button" href={linkTo('events', event.id, 'refunds')}>
            Refunds
          </a>
          <a class="button" href={linkWith({ event: event.id }, 'journal')}>
            Journal
          </a>
        </div>
      </div>
      <SteeringLine event={event} />
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
        <WaitingRoomCard event={event} history={history} />
      </div>
      <Money key={event.id} api={api} eventId={event.id} />
      {cancelling !== null && (
        <Confirmation
          title={`Cancel ${cancelling.name}?`}
          action="Cancel the date"
          isGrave
          act={(fields, note) => cancel(cancelling, fields, note)}
          onClose={() => setCancelling(null)}
        >
          <CancellationChoice
            api={api}
            address={addressOf('events', event.id, 'performances', cancelling.id, 'cancellation')}
            held={cancelling.held}
          />
        </Confirmation>
      )}
    </>
  );
}

type WaitingRoomProps = Pick<EventPageProps, 'event' | 'history'>;

function WaitingRoomCard({ event: { id, waiting_room: queue }, history }: WaitingRoomProps) {
  if (queue === null) return null;
  return (
    <section class="card">
      <h2>Waiting room</h2>
      <p>
        {queue.status} · <b>{number(queue.waiting)}</b> waiting · <b>{number(queue.admitted)}</b> admitted ·{' '}
        <b>{number(queue.admitted_last_minute)}</b> in the last minute · <b>{number(queue.joined)}</b> joined in all
      </p>
      <LineChart
        label="People waiting over time"
        points={history.map(({ at, waiting }) => ({ at, value: waiting.get(id) ?? 0 }))}
      />
    </section>
  );
}

interface CancellationProps {
  readonly api: Api;
  readonly address: string;
  /** Tickets of the date in holds. */
  readonly held: number;
}

/** What is cancelled with the date, and what each choice will do, in orders and money. */
function CancellationChoice({ api, address, held }: CancellationProps) {
  return (
    <>
      <label class="field">
        What is cancelled with it
        <select name="orders">
          <option value="WHOLE">Orders with a ticket on it, whole</option>
          <option value="TICKETS">The tickets of this date alone</option>
        </select>
      </label>
      <h3>Orders with a ticket on it, whole</h3>
      <Forecast api={api} address={`${address}?orders=WHOLE`} />
      <h3>The tickets of this date alone</h3>
      <Forecast api={api} address={`${address}?orders=TICKETS`} />
      <label class="check">
        <input type="checkbox" name="execute" />
        Give back what is due then, at the payment provider
      </label>
      <p>
        {countOf(held, 'held ticket')} {held === 1 ? 'is' : 'are'} released. This cannot be undone.
      </p>
    </>
  );
}

/** What a cancellation will do, read when the question is asked. */
function Forecast({ api, address }: Pick<CancellationProps, 'api' | 'address'>) {
  const { value, trouble } = usePolled<Cancellation>(address, () => api('GET', address), null);
  if (value === null) {
    return <p role="status">{trouble ?? 'Counting the orders…'}</p>;
  }
  const { orders, amended_orders: amended = 0, tickets, paid_orders: paidOrders, refunds_due: due } = value;
  const ending = orders - amended;
  const isDue = due.length === 1 && paidOrders === 1 ? 'is' : 'are';
  const money = (
    <>
      <b>{sums(due, 'no money')}</b> {isDue} due back to {countOf(paidOrders, 'buyer')}.
    </>
  );
  if (value.amended_orders === undefined) {
    return (
      <p role="status">
        <b>{countOf(orders, 'order')}</b> with {countOf(tickets, 'ticket')} {orders === 1 ? 'is' : 'are'} cancelled
        whole, and {money}
      </p>
    );
  }
  return (
    <p role="status">
      <b>{countOf(tickets, 'ticket')}</b> {tickets === 1 ? 'is' : 'are'} cancelled: <b>{countOf(amended, 'order')}</b>{' '}
      {amended === 1 ? 'goes' : 'go'} on with others, <b>{countOf(ending, 'order')}</b> {ending === 1 ? 'ends' : 'end'},
      and {money}
    </p>
  );
}

const MONEY_POLL_MS = 10_000;
const HOURS_SHOWN = 24;

/** The money of the event by hour, the newest first. */
function Money({ api, eventId }: { readonly api: Api; readonly eventId: string }) {
  const [isWhole, setWhole] = useState(false);
  const address = addressOf('events', eventId, 'money');
  const { value, trouble } = usePolled<EventMoney>(address, () => api('GET', address), MONEY_POLL_MS);
  if (value === null) return trouble === null ? null : <p class="alert">{trouble}</p>;
  const hours = isWhole ? value.hours : value.hours.slice(0, HOURS_SHOWN);
  return (
    <section>
      <h2>Money</h2>
      <MoneyLine totals={value.totals} />
      <HourTable hours={hours} />
      {hours.length < value.hours.length && (
        <div class="actions">
          <button type="button" class="button" onClick={() => setWhole(true)}>
            Show all {number(value.hours.length)} hours
          </button>
        </div>
      )}
    </section>
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
        <h2>{performance.name}</h2>
        <StatusTag status={performance.status} />
      </div>
      <p class="quiet small">{moment(performance.starts_at)}</p>
      {points.length < 2 ? (
        <StockBar stock={performance} />
      ) : (
        <StockChart points={points} label={`Tickets of ${performance.name} by state over time`} />
      )}
      <StockLegend stock={performance} />
      <div class="actions">
        {event.numbered && (
          <a class="button" href={linkTo('events', event.id, 'seats', performance.id)}>
            Seats
          </a>
        )}
        <a class="button" href={linkTo('events', event.id, 'doors', performance.id)}>
          Doors
        </a>
        {performance.status !== 'CANCELLED' && (
          <button type="button" class="button plain irrevocable" onClick={onCancel}>
            Cancel date…
          </button>
        )}
      </div>
    </section>
  );
}
