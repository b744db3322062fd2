/**
 * An event: its performances, its tickets or seats, and the buyer's own tickets beside them.
 *
 * Joins what is on sale (`use-event`), what is held (`use-hold`) and what is chosen (`use-choices`).
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { EventPayload, Hold, HoldItemRequest } from '#client/bodies.ts';
import { Basket } from '../event/basket.tsx';
import { EventHeading } from '../event/heading.tsx';
import { PerformanceChoice } from '../event/performance-choice.tsx';
import { OwnOrderNotice, useOwnOrder } from '../event/own-order.tsx';
import { PassBar, usePass, type Pass } from '../event/pass.tsx';
import { SaleStart } from '../event/sale-start.tsx';
import { SeatPicker } from '../event/seat-picker.tsx';
import { registerOf } from '../event/seat-register.tsx';
import { isHeld, obstacle, ticketCount, totalOf, type Selection } from '../event/selection.ts';
import { TicketRows } from '../event/ticket-rows.tsx';
import { useChoices } from '../event/use-choices.ts';
import { useEvent } from '../event/use-event.ts';
import { useHold } from '../event/use-hold.ts';
import { clockText, price, zoneNote } from '../app/format.ts';
import { useLoaded } from '../../hooks.ts';
import { texts } from '../app/language.ts';
import { recall } from '../app/storage.ts';
import { inWords } from '../app/messages.ts';
import { Frame, Unloaded } from '../parts/frame.tsx';
import { ArrowIcon, ClockIcon } from '../../buttons.tsx';
import { Loading, Notice } from '../parts/controls.tsx';
import { eventPath, go } from '../app/router.tsx';
import { client, serviceNow, useServiceNow } from '../app/service.ts';
import { reportHeld, reportViewed } from '../checkout/funnel.ts';

interface EventPageProps {
  readonly slug: string;
  /** The performance that the address names. */
  readonly performance: string | null;
}

export function EventPage({ slug, performance }: EventPageProps) {
  const [eventId, setEventId] = useState<string | null>(null);
  const current = useRef<EventPayload | null>(null);
  const keeper = useHold(slug, eventId, (hold) => current.current !== null && void reportHeld(current.current, hold));
  const sale = useEvent(slug, performance, keeper.hold !== null);
  const { event, performanceId } = sale;
  current.current = event;
  useEffect(() => {
    setEventId(event?.id ?? null);
    if (event !== null) reportViewed(event);
  }, [event?.id]);

  if (event === null || performanceId === null) {
    const error = event === null ? sale.error : null;
    return <Unloaded error={error} title={texts.frame.shop} loading={texts.event.loading} />;
  }
  const { holdId, lapsedId } = recall(event.id);
  // The choice begins with what is held or was: it waits for that where there is something to know.
  const isNew = holdId === undefined && lapsedId === undefined;
  return (
    <Frame title={event.name} legal={event.legal}>
      <EventHeading event={event} performanceId={performanceId} zoneOf={zoneNote} />
      {keeper.isKnown || isNew ? (
        <Purchase event={event} performanceId={performanceId} sale={sale} keeper={keeper} />
      ) : (
        <Loading what={texts.event.loadingTickets} />
      )}
    </Frame>
  );
}

interface PurchaseProps {
  readonly event: EventPayload;
  readonly performanceId: string;
  readonly sale: ReturnType<typeof useEvent>;
  readonly keeper: ReturnType<typeof useHold>;
}

/** Where tickets of one performance are selected and held. Beside a plan the basket comes with the first ticket. */
function Purchase(props: PurchaseProps) {
  const { event, performanceId, sale, keeper } = props;
  const pass = usePass(event);
  const seated = event.localities.some(({ seating }) => seating === 'NUMBERED');
  const seating = useLoaded(seated ? event.slug : null, (signal) => client.getSeating(event.slug, { signal }));
  const register = useMemo(() => registerOf(seating.value), [seating.value]);
  const own = useMemo(() => new Set(keeper.hold?.items.flatMap((item) => item.seat_ids) ?? []), [keeper.hold]);
  const { rows, reload } = sale;
  const purchase = useChoices({ event, performanceId, rows, states: sale.seats, keeper, pass, register, reload });
  const { selection, items, select } = purchase;
  const selectSeats = (seats: Selection['seats']): void => select({ ...selection, seats });

  const isBare = seated && items.length === 0 && keeper.hold === null && purchase.trouble === null;
  usePlanFocus(isBare);

  return (
    <div class={`purchase${isBare ? ' bare' : ''}`}>
      <div class="choice">
        <Notices {...props} hasItems={items.length > 0} pass={pass} />
        <TicketRows
          event={event}
          rows={sale.rows}
          units={selection.units}
          disabled={keeper.isBusy}
          onChange={(key, units) => select({ ...selection, units: { ...selection.units, [key]: units } })}
        />
        {seated && seating.value === null && seating.error === null && <Loading what={texts.event.loadingPlan} />}
        {seating.error !== null && <Notice tone="bad">{inWords(seating.error)}</Notice>}
        {seating.value !== null && (
          <SeatPicker
            key={performanceId}
            event={event}
            seating={seating.value}
            performanceId={performanceId}
            rows={sale.rows}
            states={sale.seats}
            picked={selection.seats}
            own={own}
            lost={purchase.lost}
            register={register}
            onLostSeen={purchase.forgetLost}
            onPick={selectSeats}
          />
        )}
        {items.length > 0 && <Dock event={event} items={items} hold={keeper.hold} />}
      </div>
      <aside>
        <Basket
          event={event}
          items={items}
          hold={keeper.hold}
          isHeld={isHeld(items, keeper.hold)}
          isBusy={keeper.isBusy}
          needsPass={event.waiting_room && keeper.hold === null && !pass.isAdmitted}
          obstacle={obstacle(purchase.choices, items, event)}
          trouble={purchase.trouble}
          register={register}
          onContinue={() => purchase.hold(() => go(eventPath(event.slug, 'checkout')))}
          onHold={() => purchase.hold()}
          onRelease={purchase.release}
          onRevert={purchase.revert}
          onDrop={purchase.drop}
        />
      </aside>
    </div>
  );
}

/** Leads the focus to the plan when the rail goes away with what had it. */
function usePlanFocus(isBare: boolean): void {
  useEffect(() => {
    const isLost = document.activeElement === document.body;
    if (isBare && isLost) document.querySelector<HTMLElement>('.seat-frame')?.focus({ preventScroll: true });
  }, [isBare]);
}

interface DockProps {
  readonly event: EventPayload;
  readonly items: readonly HoldItemRequest[];
  readonly hold: Hold | null;
}

/** The way to the basket on a screen where it lies below, with its clock. */
function Dock({ event, items, hold }: DockProps) {
  const now = useServiceNow();
  return (
    <a class="dock" href="#your-tickets">
      <span>
        {texts.frame.tickets(ticketCount(items, event))} · {price(totalOf(items, event), event.currency)}
      </span>
      {hold !== null && (
        <span class="bar-clock" aria-hidden="true">
          <ClockIcon /> {clockText(Date.parse(hold.expires_at) - now)}
        </span>
      )}
      <ArrowIcon />
    </a>
  );
}

interface NoticesProps extends PurchaseProps {
  readonly hasItems: boolean;
  readonly pass: Pass;
}

/** What a buyer should know before choosing: an order, an expired hold, the waiting room, the performance's status. */
function Notices({ event, performanceId, keeper, sale: { reload }, hasItems, pass }: NoticesProps) {
  const { hold, lapsed } = keeper;
  const order = useOwnOrder(event, keeper.orderId);
  const performance = event.performances.find(({ id }) => id === performanceId);
  const status = performance?.status;
  const end = performance?.ends_at ?? null;
  const isOver = end !== null && Date.parse(end) <= serviceNow();
  return (
    <>
      {order !== null && <OwnOrderNotice event={event} order={order} />}
      {lapsed !== null && lapsed.order_id === null && hold === null && (
        <Notice tone="warn">
          {texts.event.ranOut} {hasItems ? texts.event.stillMarked : ''}
        </Notice>
      )}
      <PassBar event={event} pass={pass} hasHold={hold !== null} />
      <PerformanceChoice event={event} performanceId={performanceId} />
      <SaleStart event={event} onStart={reload} />
      {status === 'CANCELLED' && <Notice tone="warn">{texts.event.cancelled}</Notice>}
      {status === 'SOLD_OUT' && !isOver && <Notice tone="info">{texts.event.soldOut}</Notice>}
      {isOver && <Notice tone="info">{texts.event.over}</Notice>}
    </>
  );
}
