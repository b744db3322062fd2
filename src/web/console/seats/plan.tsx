/**
 * The plan of a locality, of which seats are picked by pointer and keyboard.
 *
 * For assistive technology the plan is a list box: it has the focus, and names the seat of the keyboard.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SeatStates } from '#client/live.ts';
import { countOf, number } from '../app/format.ts';
import type { DrawnLocality, DrawnSeat } from './states.ts';
import { SeatLegend } from './legend.tsx';
import { idOf, Ring, useDrawnSeats, wordsOf } from './drawing.tsx';
import { useRectangle, useSeatKeys, type PickingProps } from './picking.ts';

interface SeatPlanProps extends PickingProps {
  readonly taken: SeatStates;
}

const FRAME_PIXELS_MAX = 1_200;
const LETTER_SEAT_PIXELS_MIN = 8;
const ZOOMS = [1, 1.6, 2.5, 4, 6.4] as const;

export function SeatPlan(props: SeatPlanProps) {
  const { locality, taken } = props;
  const [zoom, setZoom] = useState(0);
  const [isDrawing, setDrawing] = useState(false);
  const [pointed, setPointed] = useState<DrawnSeat | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const rectangle = useRectangle(props, isDrawing);
  const keys = useSeatKeys(props);
  useCentre(frame, zoom);
  return (
    <section class="card plan">
      <div class="heading">
        <h2>{locality.name}</h2>
        <span class="plan-tools">
          <button
            type="button"
            class="button plain small-button for-touch"
            aria-pressed={isDrawing}
            onClick={() => setDrawing(!isDrawing)}
          >
            Draw rectangle
          </button>
          <ZoomButtons zoom={zoom} setZoom={setZoom} />
        </span>
      </div>
      <SeatLegend locality={locality} />
      <div class="plan-frame" ref={frame}>
        <Drawing
          {...props}
          rectangle={rectangle}
          keys={keys}
          point={setPointed}
          zoom={ZOOMS[zoom]!}
          isDrawing={isDrawing}
        />
      </div>
      <Readout
        seat={pointed ?? (keys.cursor === null ? null : locality.seats[keys.cursor]!)}
        taken={taken}
        within={rectangle.within}
      />
    </section>
  );
}

interface DrawingProps extends SeatPlanProps {
  readonly rectangle: ReturnType<typeof useRectangle>;
  readonly keys: ReturnType<typeof useSeatKeys>;
  readonly point: (seat: DrawnSeat | null) => void;
  readonly zoom: number;
  readonly isDrawing: boolean;
}

/**
 * What is pressed and has the focus; what moves with the pointer lies above it, so that the seats need not be painted
 * again.
 */
function Drawing({ locality, taken, picked, onToggle, rectangle, keys, point, zoom, isDrawing }: DrawingProps) {
  const { plan, seats, names, name } = locality;
  const { cursor, setCursor, onKeyDown } = keys;
  const last = useRef<number | null>(null);
  const drawnSeats = useDrawnSeats(locality, taken, picked, isFar(locality, zoom));
  useLayoutEffect(() => {
    if (cursor === null) return;
    document.getElementById(idOf(locality, cursor))?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [cursor]);

  const onClick = (press: MouseEvent): void => {
    if (rectangle.hasDrawn.current) return;
    const label = (press.target as Element).closest('[data-name]');
    const group = names[Number(label?.getAttribute('data-name') ?? -1)];
    if (group !== undefined) return onToggle(group.seats, !group.seats.every((id) => picked.has(id)));
    const seat = seatUnder(press, locality);
    if (seat === null) return;
    onToggle(press.shiftKey ? stretch(locality, seat.number, last.current) : [seat.id], !picked.has(seat.id));
    last.current = seat.number;
    setCursor(seat.number);
  };
  const viewBox = `${plan.box.x} ${plan.box.y} ${plan.box.width} ${plan.box.height}`;
  return (
    <div class={`sheet${zoom === 1 ? ' fit' : ''}`} style={{ width: `${zoom * 100}%` }}>
      <svg
        viewBox={viewBox}
        width="100%"
        class={isDrawing ? 'drawing' : ''}
        role="listbox"
        tabindex={0}
        aria-multiselectable="true"
        aria-activedescendant={cursor === null ? undefined : idOf(locality, cursor)}
        aria-label={`Seats of ${name}`}
        onClick={onClick}
        onKeyDown={onKeyDown}
        {...rectangle.handlers}
        onPointerMove={(step) => {
          rectangle.handlers.onPointerMove(step);
          point(rectangle.box === null ? seatUnder(step, locality) : null);
        }}
        onPointerLeave={() => point(null)}
      >
        {drawnSeats}
      </svg>
      <svg class="overlay" viewBox={viewBox} aria-hidden="true">
        {cursor !== null && <Ring seat={seats[cursor]!} radius={plan.radius * 1.45} />}
        {rectangle.box !== null && <rect class="rectangle" {...rectangle.box} />}
      </svg>
    </div>
  );
}

/** Whether seats are so small that nobody can read a letter on them. */
function isFar({ plan: { box, radius } }: DrawnLocality, zoom: number): boolean {
  const scale = (Math.min(innerWidth, FRAME_PIXELS_MAX) * zoom) / box.width;
  return radius * 2 * scale < LETTER_SEAT_PIXELS_MIN;
}

function seatUnder(pointer: MouseEvent, { seats }: DrawnLocality): DrawnSeat | null {
  const number = (pointer.target as Element).closest('[data-number]')?.getAttribute('data-number') ?? null;
  return number === null ? null : seats[Number(number)]!;
}

/** The seats of a row from the one pressed before to this one; this one alone when they are in different rows. */
function stretch({ plan: { rows, rowOf, seats } }: DrawnLocality, seat: number, before: number | null) {
  const row = rows[rowOf[seat]!]!;
  const [a, b] = [before === null ? -1 : row.indexOf(before), row.indexOf(seat)];
  const numbers = a === -1 ? [seat] : row.slice(Math.min(a, b), Math.max(a, b) + 1);
  return numbers.map((number) => seats[number]!.id);
}

interface ReadoutProps {
  readonly seat: DrawnSeat | null;
  readonly taken: SeatStates;
  /** The ids of the seats in the rectangle that is being drawn. */
  readonly within: readonly string[] | null;
}

function Readout({ seat, taken, within }: ReadoutProps) {
  if (within !== null) {
    const free = within.filter((id) => (taken.get(id) ?? 'AVAILABLE') === 'AVAILABLE').length;
    const blocked = within.filter((id) => taken.get(id) === 'BLOCKED').length;
    return (
      <p class="small readout">
        {countOf(within.length, 'seat')} in the rectangle: {number(free)} free, {number(blocked)} blocked
      </p>
    );
  }
  if (seat === null) return <p class="small readout quiet">Point at a seat to read it.</p>;
  return (
    <p class="small readout">
      {wordsOf(seat, taken.get(seat.id) ?? 'AVAILABLE')} · <code>{seat.id}</code>
    </p>
  );
}

/** Keeps the middle of the plan in the middle when it is zoomed. */
function useCentre(frame: { readonly current: HTMLDivElement | null }, zoom: number): void {
  const before = useRef(ZOOMS[0] as number);
  useLayoutEffect(() => {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = frame.current!;
    const factor = ZOOMS[zoom]! / before.current;
    frame.current!.scrollLeft = (scrollLeft + clientWidth / 2) * factor - clientWidth / 2;
    frame.current!.scrollTop = (scrollTop + clientHeight / 2) * factor - clientHeight / 2;
    before.current = ZOOMS[zoom]!;
  }, [zoom]);
}

interface ZoomButtonsProps {
  /** The index of the zoom in `ZOOMS`. */
  readonly zoom: number;
  readonly setZoom: (zoom: number) => void;
}

function ZoomButtons({ zoom, setZoom }: ZoomButtonsProps) {
  const button = (name: string, sign: string, next: number) => (
    <button
      type="button"
      class="button plain small-button"
      aria-label={name}
      disabled={ZOOMS[next] === undefined}
      onClick={() => setZoom(next)}
    >
      {sign}
    </button>
  );
  return (
    <span role="group" aria-label="Zoom">
      {button('Zoom out', '−', zoom - 1)}
      {button('Zoom in', '+', zoom + 1)}
    </span>
  );
}
