/** The checkout when nothing is held: an order that waits or ended, a hold that ran out, or an empty basket. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { EventPayload, Hold, Order } from '#client/bodies.ts';
import { money, price, texts } from '../app/language.ts';
import { Notice } from '../../notice.tsx';
import { Dock, useNarrow } from '../parts/dock.tsx';
import { PageHeading } from '../parts/frame.tsx';
import { ArrowIcon, BusyButton } from '../../buttons.tsx';
import { eventPath, Link } from '../app/router.tsx';
import { hasEnded, orderAddress, PayButton, PayUntil, useOwnOrder } from '../event/own-order.tsx';
import { SeatNames, useRegister } from '../event/seat-register.tsx';
import { asRequest, ticketCount, ticketTypeOf, totalOf, unitPrice } from '../event/selection.ts';
import { troubleOf, type HoldKeeper } from '../event/use-hold.ts';

const words = texts.nothingHeld;

interface NothingHeldProps {
  readonly event: EventPayload;
  readonly keeper: HoldKeeper;
}

export function NothingHeld({ event, keeper }: NothingHeldProps) {
  const order = useOwnOrder(event, keeper.orderId);
  const { lapsed } = keeper;
  const isLapsedHold = lapsed !== null && lapsed.order_id === null;
  if (order !== null && !hasEnded(order) && !isLapsedHold)
    return <WithOrder event={event} order={order} sold={keeper.sold} />;
  if (lapsed !== null) return <RanOut event={event} keeper={keeper} lapsed={lapsed} wasOrdered={!isLapsedHold} />;
  const [heading, lead] =
    order === null
      ? [words.empty, words.emptyLead]
      : order.status === 'CANCELLED'
        ? [words.cancelled, hasCancelledDate(order) ? words.dateCancelledLead : words.cancelledLead]
        : [words.orderRanOut, words.orderRanOutLead];
  return (
    <div class="narrow">
      <PageHeading key={heading}>{heading}</PageHeading>
      <p class="lead">{lead}</p>
      <p class="actions">
        <Link to={eventPath(event.slug)} class="button primary">
          {order === null ? words.choose : words.chooseAgain} <ArrowIcon />
        </Link>
      </p>
    </div>
  );
}

/** Whether a date of an order was cancelled: its tickets are not on sale again then. */
const hasCancelledDate = ({ event }: Order): boolean => event.performances.some(({ status }) => status === 'CANCELLED');

interface WithOrderProps {
  readonly event: EventPayload;
  readonly order: Order;
  /** The hold that became the order. */
  readonly sold: Hold | null;
}

function WithOrder({ event, order, sold }: WithOrderProps) {
  if (order.status !== 'PENDING') {
    return (
      <div class="narrow">
        <PageHeading>{words.bought}</PageHeading>
        <p class="lead">{words.boughtLead}</p>
        <p class="actions">
          <a class="button primary" href={orderAddress(order)}>
            {words.seeTickets} <ArrowIcon />
          </a>
          <Link to={eventPath(event.slug)} class="button">
            {words.buyMore}
          </Link>
        </p>
      </div>
    );
  }
  return (
    <div class="narrow">
      <PageHeading>{words.waiting}</PageHeading>
      <p class="lead">{order.payment_status === 'FAILED' ? words.declined : words.unpaid}</p>
      {sold !== null && <HeldItems event={event} hold={sold} />}
      <div class="pay-until">
        <PayUntil event={event} order={order} />
      </div>
      <Ways event={event} text={money(order.total_amount, order.currency)} until={order.expires_at}>
        <PayButton order={order} />
      </Ways>
      <p class="quiet small">{words.stayKept}</p>
    </div>
  );
}

interface RanOutProps extends NothingHeldProps {
  readonly lapsed: Hold;
  /** Whether the hold had become an order, which was not paid in time. */
  readonly wasOrdered: boolean;
}

/** The hold ran out: the same tickets are held again with one press, as long as they are free. */
function RanOut({ event, keeper, lapsed, wasOrdered }: RanOutProps) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const register = useRegister(event, lapsed);
  const holdAgain = async (): Promise<void> => {
    try {
      await keeper.request(lapsed.items.map(asRequest), 'HOLD');
    } catch (error) {
      setTrouble(troubleOf(error, event, register));
    }
  };
  const tickets = ticketCount(lapsed.items, event);
  return (
    <div class="narrow">
      <PageHeading>{wasOrdered ? words.orderRanOut : words.timeRanOut}</PageHeading>
      <p class="lead">{wasOrdered ? words.orderAgain : words.timeAgain}</p>
      <HeldItems event={event} hold={lapsed} />
      {trouble !== null && <Notice tone="bad">{trouble}</Notice>}
      <Ways event={event} text={price(totalOf(lapsed.items, event), event.currency)} until={null}>
        <BusyButton class="button primary" isBusy={keeper.isBusy} onPress={() => void holdAgain()}>
          {words.holdAgain(tickets)}
        </BusyButton>
      </Ways>
    </div>
  );
}

interface WaysProps {
  readonly event: EventPayload;
  readonly text: string;
  readonly until: string | null;
  /** The next step. */
  readonly children: ComponentChildren;
}

/** The next step, and the way to choose again. */
function Ways({ event, text, until, children }: WaysProps) {
  const isNarrow = useNarrow();
  return (
    <>
      <div class="actions">
        {!isNarrow && children}
        <Link to={eventPath(event.slug)} class="button">
          {words.chooseAgain}
        </Link>
      </div>
      {isNarrow && (
        <Dock text={text} until={until}>
          {children}
        </Dock>
      )}
    </>
  );
}

function HeldItems({ event, hold }: { readonly event: EventPayload; readonly hold: Hold }) {
  const register = useRegister(event, hold);
  return (
    <ul class="items ran-out">
      {hold.items.map((item) => (
        <li class="item">
          <div>
            <b>
              {item.quantity} × {ticketTypeOf(event, item.ticket_type_id)?.name}
            </b>
            {event.performances.length > 1 && (
              <p class="quiet small">{event.performances.find(({ id }) => id === item.performance_id)?.name}</p>
            )}
            <SeatNames register={register} seatIds={item.seat_ids} />
          </div>
          <span class="item-price">{price(item.quantity * unitPrice(event, item), event.currency)}</span>
        </li>
      ))}
    </ul>
  );
}
