/**
 * An event: its performances, its tickets or seats, and the buyer's own tickets beside them.
 *
 * Joins what is on sale (`use-event`), what is held (`use-hold`) and what is selected here. The selection starts as what is
 * held, so that a reload in the middle of a purchase shows it again.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, HoldItemRequest } from '#client/bodies.ts';
import { rowKey } from '#client/live.ts';
import { Basket } from '../event/basket.tsx';
import { PerformanceChoice } from '../event/performance-choice.tsx';
import { PassBar, usePass, type Pass } from '../event/pass.tsx';
import { SeatKinds } from '../event/seat-kinds.tsx';
import { SeatPicker } from '../event/seat-picker.tsx';
import { registerOf, seatsInWords, type SeatRegister } from '../event/seat-register.tsx';
import {
  isHeld,
  itemsOf,
  NOTHING,
  obstacle,
  selectionOf,
  ticketCount,
  totalOf,
  type Selection,
} from '../event/selection.ts';
import { TicketRows } from '../event/ticket-rows.tsx';
import { useEvent } from '../event/use-event.ts';
import { useHold } from '../event/use-hold.ts';
import { count, dayAndHour, price, zoneNote } from '../format.ts';
import { useLoaded } from '#client/browser/hooks.ts';
import { inWords } from '../messages.ts';
import { Frame, Missing, PageHeading } from '../parts/frame.tsx';
import { ArrowIcon } from '../parts/icons.tsx';
import { Loading, Notice } from '../parts/controls.tsx';
import { Poster } from '../parts/poster.tsx';
import { client, serviceAddress } from '../service.ts';
import { reportHeld, reportViewed } from '../funnel.ts';
import { keep } from '../kept.ts';

interface EventPageProps {
  readonly slug: string;
  /** The performance that the address names. */
  readonly performance: string | null;
}

export function EventPage({ slug, performance }: EventPageProps) {
  const [eventId, setEventId] = useState<string | null>(null);
  const current = useRef<EventPayload | null>(null);
  const keeper = useHold(eventId, (hold) => current.current !== null && void reportHeld(current.current, hold));
  const sale = useEvent(slug, performance, keeper.hold !== null);
  const { event, performanceId } = sale;
  current.current = event;
  useEffect(() => {
    setEventId(event?.id ?? null);
    if (event !== null) reportViewed(event);
  }, [event?.id]);

  if (sale.error !== null && event === null) return <Missing error={sale.error} />;
  if (event === null || performanceId === null) {
    return (
      <Frame title="Tickets">
        <Loading what="Loading the event …" />
      </Frame>
    );
  }
  return (
    <Frame title={event.name}>
      <Heading event={event} performanceId={performanceId} />
      {keeper.isKnown ? (
        <Purchase key={performanceId} event={event} performanceId={performanceId} sale={sale} keeper={keeper} />
      ) : (
        <Loading what="Looking for your tickets …" />
      )}
    </Frame>
  );
}

function Heading({ event, performanceId }: { readonly event: EventPayload; readonly performanceId: string }) {
  const performance = event.performances.find(({ id }) => id === performanceId);
  const zone = zoneNote(event.timezone);
  return (
    <header class="event-head">
      <div class="event-art">
        <Poster name={event.slug} />
      </div>
      <div>
        <PageHeading>{event.name}</PageHeading>
        {performance?.starts_at && (
          <p class="when">
            {dayAndHour(performance.starts_at, event.timezone)} {zone !== null && <span class="quiet">{zone}</span>}
          </p>
        )}
        {event.description !== '' && <p class="lead">{event.description}</p>}
      </div>
    </header>
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
  const purchase = useSelection(props, pass, register);
  const { selection, items, select } = purchase;
  const selectSeats = (seats: Selection['seats']): void => select({ ...selection, seats });

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
        {seated && seating.value === null && seating.error === null && <Loading what="Drawing the plan …" />}
        {seating.error !== null && <Notice tone="bad">{inWords(seating.error)}</Notice>}
        {seating.value !== null && (
          <SeatPicker
            event={event}
            seating={seating.value}
            performanceId={performanceId}
            rows={sale.rows}
            states={sale.seats}
            picked={selection.seats}
            own={own}
            onPick={selectSeats}
          />
        )}
        {items.length > 0 && (
          <a class="dock" href="#your-tickets">
            <span>
              {count(ticketCount(items, event), 'ticket')} · {price(totalOf(items, event), event.currency)}
            </span>
            <ArrowIcon />
          </a>
        )}
      </div>
      <aside>
        <Basket
          event={event}
          items={items}
          hold={keeper.hold}
          isHeld={isHeld(items, keeper.hold)}
          isBusy={keeper.isBusy}
          needsPass={event.waiting_room && keeper.hold === null && !pass.isAdmitted}
          obstacle={obstacle(selection, items, event)}
          trouble={purchase.trouble}
          register={register}
          onHold={() => void purchase.hold(items)}
          onRelease={purchase.release}
          onRevert={() => select(selectionOf(keeper.hold, performanceId))}
          onDrop={purchase.drop}
        />
        <SeatKinds event={event} rows={sale.rows} picked={selection.seats} register={register} onPick={selectSeats} />
      </aside>
    </div>
  );
}

/** What is selected on a performance, and how it is held, released and changed; `trouble` is the last refusal in words. */
function useSelection({ event, performanceId, sale, keeper }: PurchaseProps, pass: Pass, register: SeatRegister) {
  const { hold } = keeper;
  const [selection, setSelection] = useState<Selection>(() => selectionOf(hold, performanceId));
  const [trouble, setTrouble] = useState<string | null>(null);
  const items = useMemo(
    () => itemsOf(selection, performanceId, event, sale.rows, hold),
    [selection, performanceId, event, sale.rows, hold],
  );
  const select = (next: Selection): void => {
    setTrouble(null);
    setSelection(next);
  };
  const onError = (error: unknown): void => {
    const seats = (ids: readonly string[]): readonly string[] => seatsInWords(register, ids);
    setTrouble(inWords(error, { timezone: event.timezone, seats }));
    if (isApiError(error, 'SEAT_TAKEN')) {
      const taken = new Set(error.detail['seat_ids'] as string[]);
      setSelection((old) => ({ ...old, seats: old.seats.filter(({ seatId }) => !taken.has(seatId)) }));
    }
    if (isApiError(error) && error.code.startsWith('QUEUE_PASS')) {
      keep(event.id, { passId: undefined });
      pass.forget();
    }
    sale.reload();
  };
  const holdItems = async (requested: readonly HoldItemRequest[]): Promise<void> => {
    try {
      const placed = await keeper.request(requested);
      setTrouble(null);
      // What was selected while the request was under way stays selected.
      setSelection((now) => (now === selection ? selectionOf(placed, performanceId) : now));
      sale.reload();
    } catch (error) {
      onError(error);
    }
  };
  return {
    selection,
    items,
    trouble,
    select,
    hold: holdItems,
    release: () => void keeper.release().then(() => select(NOTHING), onError),
    drop(item: HoldItemRequest): void {
      if (item.performance_id !== performanceId) {
        void holdItems(items.filter((each) => each !== item));
        return;
      }
      const { [rowKey(item)]: _, ...units } = selection.units;
      select({ units, seats: selection.seats.filter(({ ticketTypeId }) => ticketTypeId !== item.ticket_type_id) });
    },
  };
}

interface NoticesProps extends PurchaseProps {
  readonly hasItems: boolean;
  readonly pass: Pass;
}

/** What a buyer should know before choosing: an order, an expired hold, the waiting room, the performance's status. */
function Notices({ event, performanceId, keeper, hasItems, pass }: NoticesProps) {
  const { hold, orderId, ended } = keeper;
  const status = event.performances.find(({ id }) => id === performanceId)?.status;
  return (
    <>
      {orderId !== null && hold === null && (
        <Notice tone="good">
          You have an order for this event. <a href={serviceAddress(`/orders/${orderId}`)}>See your order</a>
        </Notice>
      )}
      {ended === 'EXPIRED' && hold === null && (
        <Notice tone="warn">
          Your time ran out and the tickets are back on sale.{' '}
          {hasItems ? 'What you chose is still marked here: hold it again if it is still free.' : ''}
        </Notice>
      )}
      <PassBar event={event} pass={pass} hasHold={hold !== null} />
      <PerformanceChoice event={event} performanceId={performanceId} />
      {status === 'CANCELLED' && <Notice tone="warn">This date has been cancelled.</Notice>}
      {status === 'SOLD_OUT' && <Notice tone="info">This date is sold out.</Notice>}
    </>
  );
}
