/**
 * How seats of a plan are picked: with a press, a rectangle drawn with the pointer, and the keyboard.
 *
 * 1. A rectangle replaces what was picked; with Shift it adds to it. Shift with an arrow key draws one from the seat
 *    where Shift was pressed first.
 * 2. A finger scrolls the plan; it draws rectangles where `isDrawing` says so.
 */
import { useRef, useState } from 'preact/hooks';
import { neighbourOf, seatsBetween, seatsWithin, type Box, type LayoutPoint } from '#client/seat-layout.ts';
import type { DrawnLocality } from './states.ts';

export interface PickingProps {
  readonly locality: DrawnLocality;
  readonly picked: ReadonlySet<string>;
  /** Picks seats, or takes them back. */
  readonly onToggle: (ids: readonly string[], isPicked: boolean) => void;
  /** Picks these seats beside those of `base`, and no others. */
  readonly onSelect: (ids: readonly string[], base: ReadonlySet<string>) => void;
}

const NONE: ReadonlySet<string> = new Set();
const DRAG_PIXELS_MIN = 5;

interface Drag {
  readonly pointer: number;
  readonly at: LayoutPoint;
  readonly from: LayoutPoint;
}

/**
 * Handlers of the pointer for the plan's drawing; `box` is the rectangle that is being drawn, `within` the ids of its
 * seats.
 */
export function useRectangle({ locality, picked, onSelect }: PickingProps, isDrawing: boolean) {
  const drag = useRef<Drag | null>(null);
  /** A press that ends a rectangle is no press on a seat. */
  const hasDrawn = useRef(false);
  const [box, setBox] = useState<Box | null>(null);
  const end = (): void => {
    drag.current = null;
    setBox(null);
  };
  return {
    box,
    within: box === null ? null : idsOf(locality, seatsWithin(locality.plan, box)),
    hasDrawn,
    handlers: {
      onPointerDown(press: PointerEvent): void {
        hasDrawn.current = false;
        if (press.button !== 0 || (press.pointerType === 'touch' && !isDrawing)) return;
        drag.current = { pointer: press.pointerId, at: { x: press.clientX, y: press.clientY }, from: pointOf(press) };
      },
      onPointerMove(step: PointerEvent): void {
        const begun = drag.current;
        if (begun === null || begun.pointer !== step.pointerId) return;
        const moved = Math.hypot(step.clientX - begun.at.x, step.clientY - begun.at.y);
        if (!hasDrawn.current && moved < DRAG_PIXELS_MIN) return;
        if (!hasDrawn.current) (step.currentTarget as Element).setPointerCapture(step.pointerId);
        hasDrawn.current = true;
        setBox(boxOf(begun.from, pointOf(step)));
      },
      onPointerUp(lift: PointerEvent): void {
        const begun = drag.current;
        if (begun !== null && hasDrawn.current) {
          const within = seatsWithin(locality.plan, boxOf(begun.from, pointOf(lift)));
          onSelect(idsOf(locality, within), lift.shiftKey ? picked : NONE);
        }
        end();
      },
      onPointerCancel: end,
    },
  };
}

/** The seat that the keyboard has reached, and the handler of its keys. */
export function useSeatKeys({ locality, picked, onToggle, onSelect }: PickingProps) {
  const [cursor, setCursor] = useState<number | null>(null);
  /** Where Shift was pressed first, and what was picked then. */
  const anchor = useRef<{ readonly seat: number; readonly base: ReadonlySet<string> } | null>(null);
  const { plan } = locality;

  const move = (key: KeyboardEvent): void => {
    const from = cursor ?? 0;
    const to = cursor === null ? 0 : neighbourOf(plan, from, key.key);
    if (key.shiftKey) {
      anchor.current ??= { seat: from, base: picked };
      onSelect(idsOf(locality, seatsBetween(plan, anchor.current.seat, to)), anchor.current.base);
    } else {
      anchor.current = null;
    }
    setCursor(to);
  };
  const onKeyDown = (key: KeyboardEvent): void => {
    if (plan.seats.length === 0 || key.altKey) return;
    if (key.ctrlKey || key.metaKey) {
      if (key.key.toLowerCase() !== 'a') return;
      onSelect(
        plan.seats.map(({ id }) => id),
        NONE,
      );
    } else if (/^(Arrow(Up|Down|Left|Right)|Home|End)$/.test(key.key)) {
      move(key);
    } else if (key.key === ' ' || key.key === 'Enter') {
      anchor.current = null;
      if (cursor === null) setCursor(0);
      else onToggle(idsOf(locality, [cursor]), !picked.has(plan.seats[cursor]!.id));
    } else if (key.key === 'Escape') {
      anchor.current = null;
      onSelect([], NONE);
    } else return;
    key.preventDefault();
  };
  return { cursor, setCursor, onKeyDown };
}

function idsOf({ plan }: DrawnLocality, numbers: readonly number[]): readonly string[] {
  return numbers.map((number) => plan.seats[number]!.id);
}

function boxOf(a: LayoutPoint, b: LayoutPoint): Box {
  return { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) };
}

/** Where the pointer is, in units of the plan. */
function pointOf({ currentTarget, clientX, clientY }: PointerEvent): LayoutPoint {
  const matrix = (currentTarget as SVGSVGElement).getScreenCTM()!.inverse();
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(matrix);
  return { x, y };
}
