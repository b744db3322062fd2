/**
 * An event: its performances, its tickets or seats, and the buyer's own tickets beside them.
 *
 * Joins what is on sale (`use-event`), what is held (`use-hold`) and what is chosen (`use-choices`).
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { EventPayload } from '#client/bodies.ts';
import { Basket } from '../event/basket.tsx';
import { EventHeading } from '../event/heading.tsx';
import { PerformanceChoice } from '../event/performance-choice.tsx';
import type { NextStepProps } from '../event/next-step.tsx';
import { OwnOrderNotice, useOwnOrder } from '../event/own-order.tsx';
import { PassBar, usePass, type Pass } from '../event/pass.tsx';
import { SaleStart } from '../event/sale-start.tsx';
import { SeatPicker } from '../event/seat-picker.tsx';
import { registerOf } from '../event/seat-register.tsx';
import { PurchaseDock } from '../event/purchase-dock.tsx';
import { isHeld, obstacle, type Selection } from '../event/selection.ts';
import { SteeringNotice } from '../../seat-choice/steering.tsx';
import { TicketRows } from '../event/ticket-rows.tsx';
import { useChoices } from '../event/use-choices.ts';
import { useEvent } from '../event/use-event.ts';
import { useHold } from '../event/use-hold.ts';
import { inWords, seatWords, texts, zoneNote } from '../app/language.ts';
import { useLoaded } from '../../hooks.ts';
import { recall } from '../app/storage.ts';
import { Frame, Unloaded } from '../parts/frame.tsx';
import { Loading } from '../parts/controls.tsx';
import { Notice } from '../../notice.tsx';
import { useNarrow } from '../parts/dock.tsx';
import { eventPath, go } from '../app/router.tsx';
import { client, serviceNow } from '../app/service.ts';
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
  // The choice begins with what is held or was held: where a hold may be known, it waits for that.
  const isNew = holdId === undefined && lapsedId === undefined;
  return (
    <Frame title={event.name} of={event}>
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

/** Where tickets of one performance are selected and held. */
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

  const [isFull, setFull] = useState(false);
  const isNarrow = useNarrow();
  const step = stepOf(props, purchase, pass);
  const hasDock = isNarrow || isFull;

  return (
    <div class="purchase">
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
            {...{ event, performanceId, own, register, isFull }}
            seating={seating.value}
            rows={sale.rows}
            states={sale.seats}
            picked={selection.seats}
            lost={purchase.lost}
            onFull={setFull}
            onLostSeen={purchase.forgetLost}
            onPick={selectSeats}
          />
        )}
      </div>
      <aside>
        <Basket
          {...step}
          hasStep={!hasDock}
          trouble={purchase.trouble}
          register={register}
          onRelease={purchase.release}
          onRevert={purchase.revert}
          onDrop={purchase.drop}
        />
      </aside>
      {hasDock && (
        <PurchaseDock
          {...step}
          rows={sale.rows}
          pass={pass}
          trouble={purchase.trouble}
          isSeated={seated}
          isFull={isFull}
          onFull={setFull}
        />
      )}
    </div>
  );
}

/** What the next step is made of. */
function stepOf(
  { event, keeper: { hold, underWay }, sale: { steering } }: PurchaseProps,
  { items, choices, hold: holdChosen }: ReturnType<typeof useChoices>,
  pass: Pass,
): NextStepProps {
  const isAllHeld = isHeld(items, hold);
  const isPaused = steering?.paused === true && !isAllHeld;
  return {
    event,
    items,
    hold,
    isHeld: isAllHeld,
    underWay,
    needsPass: event.waiting_room && hold === null && !pass.isAdmitted,
    obstacle: isPaused ? texts.plan.paused : obstacle(choices, items, event),
    onContinue: () => holdChosen(() => go(eventPath(event.slug, 'checkout'))),
    onHold: () => holdChosen(),
  };
}

interface NoticesProps extends PurchaseProps {
  readonly hasItems: boolean;
  readonly pass: Pass;
}

/** What a buyer should know before choosing: an order, an expired hold, the waiting room, the performance's status. */
function Notices({ event, performanceId, keeper, sale: { reload, steering }, hasItems, pass }: NoticesProps) {
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
      <SteeringNotice words={seatWords} steering={steering} hasHold={hold !== null} />
      <PassBar event={event} pass={pass} hasHold={hold !== null} />
      <PerformanceChoice event={event} performanceId={performanceId} />
      <SaleStart event={event} onStart={reload} />
      {status === 'CANCELLED' && <Notice tone="warn">{texts.event.cancelled}</Notice>}
      {status === 'SOLD_OUT' && !isOver && <Notice tone="info">{texts.event.soldOut}</Notice>}
      {isOver && <Notice tone="info">{texts.event.over}</Notice>}
    </>
  );
}
