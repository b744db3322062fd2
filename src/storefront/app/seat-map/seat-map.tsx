/**
 * The seat map: a plan that is shown, moved and picked from by pointer, touch or keyboard.
 *
 * Owns the view and the pointed seat; the look of each seat is given, and picks are reported by `onToggle`. It draws on one
 * of two surfaces (`surface.ts`).
 *
 *  1. The page scrolls as usual: the wheel zooms only with Ctrl or ⌘, one finger pans only when zoomed in.
 *  2. Where seats are too small for a finger, a tap zooms in instead of picking.
 *  3. Arrow keys move from seat to seat, Enter or Space picks, + and − zoom, 0 shows the whole plan.
 */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { FitIcon, MinusIcon, PlusIcon } from '../parts/icons.tsx';
import { createCanvasSurface } from './canvas-surface.ts';
import type { Box, Point } from '#client/seat-layout.ts';
import { neighbourOf, type SeatPlan } from './plan.ts';
import { SVG_SEATS_MAX, type Look, type Surface, type View } from './surface.ts';
import { createSvgSurface } from './svg-surface.ts';
import { bounded, closeUp, fitted, revealing, zoomed } from './view.ts';

interface SeatMapProps {
  readonly plan: SeatPlan;
  readonly looks: readonly Look[];
  /** A seat with its price and state, as it is read aloud and shown below the plan. */
  readonly describe: (seat: number) => string;
  readonly onToggle: (seat: number) => void;
  /** Seats to show closely; a new value moves the view. */
  readonly closeTo: Box | null;
  readonly label: string;
}

const TOUCH_PIXELS_MIN = 17;
const MOUSE_PIXELS_MIN = 7;
const DRAG_PIXELS_MIN = 5;
const STEP = 1.5;
/** From this many times the fitting scale on, the plan counts as zoomed in. */
const ZOOMED_FROM = 1.02;
/** A seat's size in a close look. */
const CLOSE_PIXELS = 26;

export function SeatMap({ plan, looks, describe, onToggle, closeTo, label }: SeatMapProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const surface = useMemo<Surface>(
    () => (plan.seats.length <= SVG_SEATS_MAX ? createSvgSurface(plan) : createCanvasSurface(plan)),
    [plan],
  );
  const camera = useView(frame, plan, surface, closeTo);
  const { shown, fit, isZoomed, move, zoom, reset } = camera;
  useLayoutEffect(() => surface.show(looks, describe), [surface, looks, describe]);

  const pick = (seat: number | null, x: number, y: number, isTouch: boolean): void => {
    const pixels = plan.radius * 2 * shown.scale;
    if (pixels < (isTouch ? TOUCH_PIXELS_MIN : MOUSE_PIXELS_MIN)) {
      const target = isTouch ? 28 : 22;
      return move(zoomed(shown, target / pixels, { x, y }, fit));
    }
    if (seat === null) return;
    setPointed(seat);
    onToggle(seat);
  };
  const pointTo = (seat: number): void => {
    setPointed(seat);
    surface.point(seat);
    camera.reveal(plan.seats[seat]!);
  };
  const onKey = (key: KeyboardEvent): void => {
    if (key.altKey || key.ctrlKey || key.metaKey) return;
    if (/^(Arrow|Home$|End$)/.test(key.key)) {
      pointTo(pointed === null ? firstFree(looks) : neighbourOf(plan, pointed, key.key));
    } else if (key.key === 'Enter' || key.key === ' ') {
      if (pointed !== null) onToggle(pointed);
    } else if (key.key === '+' || key.key === '=') zoom(STEP);
    else if (key.key === '-') zoom(1 / STEP);
    else if (key.key === '0') reset();
    else return;
    key.preventDefault();
  };
  const gestures = useGestures(frame, { shown, fit, surface, zoom, move, pick, setPointed });
  const isCanvas = surface.element instanceof HTMLCanvasElement;

  return (
    <div class="seat-map">
      <div
        ref={frame}
        class={`seat-frame${isZoomed ? ' zoomed' : ''}`}
        style={{ aspectRatio: `${plan.box.width} / ${plan.box.height}` }}
        role={isCanvas ? 'application' : 'group'}
        aria-label={`${label}. Arrow keys move from seat to seat, Enter picks.`}
        aria-describedby="seat-readout"
        tabIndex={0}
        onKeyDown={onKey}
        onBlur={() => surface.point(null)}
        {...gestures}
      />
      <p id="seat-readout" class="seat-readout" aria-live={isCanvas ? 'polite' : 'off'}>
        {pointed === null ? 'Choose a seat to see its row and price.' : describe(pointed)}
      </p>
      <ZoomButtons {...camera} />
    </div>
  );
}

/** The view of the plan within the frame: it fits again when the frame changes its size, and moves to `closeTo`. */
function useView(
  frame: { readonly current: HTMLDivElement | null },
  plan: SeatPlan,
  surface: Surface,
  closeTo: Box | null,
) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [view, setView] = useState<View | null>(null);
  const fit = useMemo(() => fitted(plan.box, size.width || 1, size.height || 1), [plan, size]);
  const shown = view ?? fit;
  const move = (next: View): void => setView(bounded(next, plan.box, size.width, size.height));

  useLayoutEffect(() => {
    const element = frame.current!;
    element.append(surface.element);
    const observer = new ResizeObserver(() => {
      setSize({ width: element.clientWidth, height: element.clientHeight });
      setView(null);
    });
    observer.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', surface.recolour);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', surface.recolour);
      surface.dispose();
    };
  }, [surface]);
  useLayoutEffect(() => {
    if (size.width > 0) surface.place(shown, size.width, size.height);
  }, [surface, shown, size]);
  useEffect(() => {
    if (closeTo !== null && size.width > 0)
      move(closeUp(closeTo, size.width, size.height, fit, CLOSE_PIXELS / (plan.radius * 2)));
  }, [closeTo]);

  return {
    shown,
    fit,
    isZoomed: shown.scale > fit.scale * ZOOMED_FROM,
    move,
    /** Moves the view so far that a seat is visible. */
    reveal: (seat: Point): void => move(revealing(shown, seat, size.width, size.height)),
    /** Zooms about a point of the screen, the middle by default. */
    zoom: (factor: number, x = size.width / 2, y = size.height / 2): void => move(zoomed(shown, factor, { x, y }, fit)),
    /** Shows the whole plan. */
    reset: (): void => setView(null),
  };
}

function ZoomButtons({ isZoomed, zoom, reset }: Pick<ReturnType<typeof useView>, 'isZoomed' | 'zoom' | 'reset'>) {
  return (
    <div class="map-tools" role="group" aria-label="Zoom">
      <button type="button" class="tool" aria-label="Zoom in" onClick={() => zoom(STEP)}>
        <PlusIcon />
      </button>
      <button type="button" class="tool" aria-label="Zoom out" disabled={!isZoomed} onClick={() => zoom(1 / STEP)}>
        <MinusIcon />
      </button>
      <button type="button" class="tool" aria-label="Show the whole hall" disabled={!isZoomed} onClick={reset}>
        <FitIcon />
      </button>
    </div>
  );
}

function firstFree(looks: readonly Look[]): number {
  const own = looks.findIndex((look) => look === 'mine' || look === 'chosen');
  return Math.max(0, own >= 0 ? own : looks.indexOf('free'));
}

interface Gesturing {
  readonly shown: View;
  readonly fit: View;
  readonly surface: Surface;
  zoom(factor: number, x: number, y: number): void;
  move(view: View): void;
  pick(seat: number | null, x: number, y: number, isTouch: boolean): void;
  setPointed(seat: number): void;
}

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

/** Pointer handlers: hover, tap, drag and pinch. */
function useGestures(frame: { readonly current: HTMLDivElement | null }, context: Gesturing) {
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const drag = useRef({ moved: 0, pinched: false });
  const latest = useRef(context);
  latest.current = context;
  const local = ({ clientX, clientY }: { readonly clientX: number; readonly clientY: number }) => {
    const box = frame.current!.getBoundingClientRect();
    return { x: clientX - box.left, y: clientY - box.top };
  };

  useEffect(() => {
    const element = frame.current!;
    const onWheel = (turn: WheelEvent): void => {
      if (!turn.ctrlKey && !turn.metaKey) return;
      turn.preventDefault();
      const { x, y } = local(turn);
      latest.current.zoom(Math.exp(-turn.deltaY / 200), x, y);
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, []);

  return {
    onPointerDown(press: PointerEvent) {
      if (press.button !== 0) return;
      if (pointers.current.size === 0) drag.current = { moved: 0, pinched: false };
      pointers.current.set(press.pointerId, local(press));
    },
    onPointerMove(step: PointerEvent) {
      const { shown, fit, surface, move, zoom, setPointed } = latest.current;
      const here = local(step);
      const before = pointers.current.get(step.pointerId);
      if (before === undefined) {
        const seat = step.pointerType === 'mouse' ? surface.seatAt(here.x, here.y) : null;
        if (seat !== null) setPointed(seat);
        frame.current!.classList.toggle('on-seat', seat !== null);
        return;
      }
      pointers.current.set(step.pointerId, here);
      drag.current.moved += distance(here, before);
      if (pointers.current.size === 2) {
        const other = [...pointers.current].find(([id]) => id !== step.pointerId)![1];
        drag.current.pinched = true;
        const factor = distance(here, other) / Math.max(distance(before, other), 1);
        zoom(factor, (here.x + other.x) / 2, (here.y + other.y) / 2);
      } else if (drag.current.moved > DRAG_PIXELS_MIN && shown.scale > fit.scale * ZOOMED_FROM) {
        if (!frame.current!.hasPointerCapture(step.pointerId)) frame.current!.setPointerCapture(step.pointerId);
        move({ ...shown, x: shown.x + here.x - before.x, y: shown.y + here.y - before.y });
      }
    },
    onPointerUp(lift: PointerEvent) {
      if (!pointers.current.delete(lift.pointerId)) return;
      if (drag.current.moved > DRAG_PIXELS_MIN || drag.current.pinched) return;
      const { x, y } = local(lift);
      latest.current.pick(latest.current.surface.seatAt(x, y), x, y, lift.pointerType === 'touch');
    },
    onPointerCancel(end: PointerEvent) {
      pointers.current.delete(end.pointerId);
    },
  };
}
