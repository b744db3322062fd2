/**
 * An event: its dates, its tickets or seats, and the buyer's own tickets beside them.
 *
 * Joins what is on sale (`use-event`), what is held (`use-hold`) and what is chosen here. What is chosen starts as what is
 * held, so that a reload in the middle of a purchase shows what was there.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, HoldItemRequest } from '#client/bodies.ts';
import { Basket } from '../event/basket.tsx';
import { Dates } from '../event/dates.tsx';
import { PassBar } from '../event/pass-bar.tsx';
import { SeatKinds } from '../event/seat-kinds.tsx';
import { SeatPicker } from '../event/seat-picker.tsx';
import { registerOf, seatsInWords } from '../event/seat-register.ts';
import {
  isHeld,
  itemsOf,
  NOTHING,
  obstacle,
  rowKey,
  selectionOf,
  ticketCount,
  totalOf,
  type Selection,
} from '../event/selection.ts';
import { TicketRows } from '../event/ticket-rows.tsx';
import { useEvent } from '../event/use-event.ts';
import { useHold } from '../event/use-hold.ts';
import { usePass } from '../event/use-pass.ts';
import { count, dayAndHour, price, zoneNote } from '../format.ts';
import { useLoaded } from '../loaded.ts';
import { inWords } from '../messages.ts';
import { Frame, PageHeading } from '../parts/frame.tsx';
import { ArrowIcon } from '../parts/icons.tsx';
import { Loading, Notice } from '../parts/notice.tsx';
import { Poster } from '../parts/poster.tsx';
import { client, serviceAddress } from '../shop.ts';
import { tellHeld, tellViewed } from '../funnel.ts';
import { keep } from '../kept.ts';
import { Missing } from './missing.tsx';

export function EventPage({ slug, date }: { readonly slug: string; readonly date: string | null }) {
  const [eventId, setEventId] = useState<string | null>(null);
  const shown = useRef<EventPayload | null>(null);
  const keeper = useHold(eventId, (hold) => shown.current !== null && void tellHeld(shown.current, hold));
  const sale = useEvent(slug, date, keeper.hold !== null);
  const { event, performanceId } = sale;
  shown.current = event;
  useEffect(() => {
    setEventId(event?.id ?? null);
    if (event !== null) tellViewed(event);
  }, [event?.id]);

  if (sale.error !== null && event === null) return <Missing error={sale.error} />;
  if (event === null || performanceId === null) {
    return (
      <Frame title="Tickets">
        <Loading what="Opening the box office …" />
      </Frame>
    );
  }
  return (
    <Frame title={event.name}>
      <Heading event={event} performanceId={performanceId} />
      {keeper.isKnown ? (
        <Counter key={performanceId} event={event} performanceId={performanceId} sale={sale} keeper={keeper} />
      ) : (
        <Loading what="Looking for your tickets …" />
      )}
    </Frame>
  );
}

function Heading({ event, performanceId }: { readonly event: EventPayload; readonly performanceId: string }) {
  const date = event.performances.find(({ id }) => id === performanceId);
  const zone = zoneNote(event.timezone);
  return (
    <header class="event-head">
      <div class="event-art">
        <Poster name={event.slug} />
      </div>
      <div>
        <PageHeading>{event.name}</PageHeading>
        {date?.starts_at && (
          <p class="when">
            {dayAndHour(date.starts_at, event.timezone)} {zone !== null && <span class="quiet">{zone}</span>}
          </p>
        )}
        {event.description !== '' && <p class="lead">{event.description}</p>}
      </div>
    </header>
  );
}

interface CounterProps {
  readonly event: EventPayload;
  readonly performanceId: string;
  readonly sale: ReturnType<typeof useEvent>;
  readonly keeper: ReturnType<typeof useHold>;
}

/** Where tickets of one date are chosen and held. */
function Counter({ event, performanceId, sale, keeper }: CounterProps) {
  const { hold } = keeper;
  const [selection, setSelection] = useState<Selection>(() => selectionOf(hold, performanceId));
  const [trouble, setTrouble] = useState<string | null>(null);
  const pass = usePass(event);
  const seated = event.localities.some(({ seating }) => seating === 'NUMBERED');
  const seating = useLoaded(seated ? event.slug : null, (signal) => client.getSeating(event.slug, { signal }));
  const register = useMemo(() => registerOf(seating.value), [seating.value]);
  const own = useMemo(() => new Set(hold?.items.flatMap((line) => line.seat_ids) ?? []), [hold]);
  const items = useMemo(
    () => itemsOf(selection, performanceId, event, sale.rows, hold),
    [selection, performanceId, event, sale.rows, hold],
  );
  const performance = event.performances.find(({ id }) => id === performanceId);
  const change = (next: Selection): void => {
    setTrouble(null);
    setSelection(next);
  };

  const hear = (error: unknown): void => {
    const seats = (ids: readonly string[]): readonly string[] => seatsInWords(register, ids);
    setTrouble(inWords(error, { timezone: event.timezone, seats }));
    if (isApiError(error, 'SEAT_TAKEN')) {
      const gone = new Set(error.detail['seat_ids'] as string[]);
      setSelection((old) => ({ ...old, seats: old.seats.filter(({ seatId }) => !gone.has(seatId)) }));
    }
    if (isApiError(error) && error.code.startsWith('QUEUE_PASS')) {
      keep(event.id, { passId: undefined });
      pass.forget();
    }
    sale.reload();
  };
  const placeHold = async (wanted: readonly HoldItemRequest[]): Promise<void> => {
    try {
      const next = await keeper.want(wanted);
      setTrouble(null);
      setSelection(selectionOf(next, performanceId));
      sale.reload();
    } catch (error) {
      hear(error);
    }
  };
  const drop = (item: HoldItemRequest): void => {
    if (item.performance_id !== performanceId) {
      void placeHold(items.filter((each) => each !== item));
      return;
    }
    const { [rowKey(item)]: _, ...units } = selection.units;
    change({ units, seats: selection.seats.filter(({ ticketTypeId }) => ticketTypeId !== item.ticket_type_id) });
  };
  const needsPass = event.waiting_room && hold === null && !pass.isAdmitted;

  return (
    <div class="counter">
      <div class="choice">
        {keeper.orderId !== null && hold === null && (
          <Notice tone="good">
            You have an order for this event. <a href={serviceAddress(`/orders/${keeper.orderId}`)}>See your order</a>
          </Notice>
        )}
        {keeper.ended === 'EXPIRED' && hold === null && (
          <Notice tone="warn">
            Your time ran out and the tickets are back on sale.{' '}
            {items.length > 0 ? 'What you chose is still marked here: hold it again if it is still free.' : ''}
          </Notice>
        )}
        <PassBar event={event} pass={pass} hasHold={hold !== null} />
        <Dates event={event} performanceId={performanceId} />
        {performance?.status === 'CANCELLED' && <Notice tone="warn">This date has been cancelled.</Notice>}
        {performance?.status === 'SOLD_OUT' && <Notice tone="info">This date is sold out.</Notice>}
        <TicketRows
          event={event}
          rows={sale.rows}
          units={selection.units}
          disabled={keeper.isBusy}
          onChange={(key, units) => change({ ...selection, units: { ...selection.units, [key]: units } })}
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
            onPick={(seats) => change({ ...selection, seats })}
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
          hold={hold}
          isHeld={isHeld(items, hold)}
          isBusy={keeper.isBusy}
          needsPass={needsPass}
          obstacle={obstacle(selection, items, event)}
          trouble={trouble}
          register={register}
          onHold={() => void placeHold(items)}
          onRelease={() => void keeper.release().then(() => change(NOTHING), hear)}
          onRevert={() => change(selectionOf(hold, performanceId))}
          onDrop={drop}
        />
        <SeatKinds
          event={event}
          rows={sale.rows}
          picked={selection.seats}
          register={register}
          onPick={(seats) => change({ ...selection, seats })}
        />
      </aside>
    </div>
  );
}
