/**
 * Pointer, wheel and touch on the plan: hover, tap, drag and pinch.
 *
 *  1. The page scrolls as usual: the wheel zooms only with Ctrl or ⌘, one finger scrolls the page and never moves the
 *     plan.
 *  2. Two fingers move and zoom the plan; a mouse drags it when it is zoomed in, and so does one finger where the plan
 *     fills the screen.
 *  3. Where rectangles are drawn, a mouse draws one instead of dragging, and one finger where that is asked for.
 */
import { useEffect, useRef } from 'preact/hooks';
import { distance, type LayoutPoint } from '#client/seat-layout.ts';
import type { Camera } from './camera.ts';

interface Gesturing {
  readonly frame: { readonly current: HTMLDivElement | null };
  readonly camera: Camera;
  /** Whether the plan fills the screen. */
  readonly isFull: boolean;
  hover(at: LayoutPoint | null): void;
  tap(at: LayoutPoint, isTouch: boolean): void;
  /** One finger moved over the zoomed plan. */
  onLoneFinger(): void;
  /** Draws rectangles (rule 3); null where the plan is dragged. */
  readonly rectangle: RectangleDrawing | null;
}

export interface RectangleDrawing {
  /** Whether one finger draws, too. */
  readonly isForFingers: boolean;
  /** From where the pointer was pressed to where it is. */
  draw(from: LayoutPoint, to: LayoutPoint): void;
  end(from: LayoutPoint, to: LayoutPoint, isAdded: boolean): void;
  stop(): void;
}

const DRAG_PIXELS_MIN = 5;

export function useGestures(given: Gesturing) {
  const latest = useRef(given);
  latest.current = given;
  const drag = useRef<{ readonly from: LayoutPoint; last: LayoutPoint; moved: number } | null>(null);
  const pinched = useRef(false);
  const local = (at: { readonly clientX: number; readonly clientY: number }): LayoutPoint => {
    const box = latest.current.frame.current!.getBoundingClientRect();
    return { x: at.clientX - box.left, y: at.clientY - box.top };
  };
  useWheelAndPinch(latest, pinched, local);
  const drawnBy = ({ pointerType }: PointerEvent): RectangleDrawing | null => {
    const { rectangle } = latest.current;
    return pointerType !== 'touch' || (rectangle?.isForFingers && !pinched.current) ? rectangle : null;
  };

  return {
    onPointerDown(press: PointerEvent) {
      if (press.button !== 0) return;
      if (press.isPrimary) pinched.current = false;
      drag.current = { from: local(press), last: local(press), moved: 0 };
    },
    onPointerMove(step: PointerEvent) {
      const { camera, isFull, hover, frame, onLoneFinger } = latest.current;
      const [here, dragged] = [local(step), drag.current];
      if (dragged === null) return step.pointerType === 'mouse' ? hover(here) : undefined;
      dragged.moved += distance(here, dragged.last);
      const by = { x: here.x - dragged.last.x, y: here.y - dragged.last.y };
      dragged.last = here;
      if (dragged.moved <= DRAG_PIXELS_MIN) return;
      const drawing = drawnBy(step);
      if (drawing !== null) {
        frame.current!.setPointerCapture(step.pointerId);
        return drawing.draw(dragged.from, here);
      }
      if (!camera.isZoomed) return;
      if (step.pointerType === 'touch' && (pinched.current || !isFull)) {
        return pinched.current ? undefined : onLoneFinger();
      }
      if (!frame.current!.hasPointerCapture(step.pointerId)) frame.current!.setPointerCapture(step.pointerId);
      camera.move({ ...camera.view, x: camera.view.x + by.x, y: camera.view.y + by.y });
    },
    onPointerUp(lift: PointerEvent) {
      const dragged = drag.current;
      drag.current = null;
      if (dragged === null || pinched.current) return latest.current.rectangle?.stop();
      if (dragged.moved > DRAG_PIXELS_MIN) return drawnBy(lift)?.end(dragged.from, local(lift), lift.shiftKey);
      latest.current.tap(local(lift), lift.pointerType === 'touch');
    },
    onPointerCancel() {
      latest.current.rectangle?.stop();
      // The page took the finger over to scroll.
      if (drag.current !== null && latest.current.camera.isZoomed && !pinched.current) latest.current.onLoneFinger();
      drag.current = null;
    },
    onPointerLeave(leave: PointerEvent) {
      if (leave.pointerType === 'mouse' && drag.current === null) latest.current.hover(null);
    },
  };
}

/** Handlers that must be able to keep the page from scrolling, which those of components are not. */
function useWheelAndPinch(
  latest: { readonly current: Gesturing },
  pinched: { current: boolean },
  local: (at: { readonly clientX: number; readonly clientY: number }) => LayoutPoint,
): void {
  useEffect(() => {
    const element = latest.current.frame.current!;
    let before: readonly [LayoutPoint, LayoutPoint] | null = null;
    const onWheel = (turn: WheelEvent): void => {
      if (!turn.ctrlKey && !turn.metaKey) return;
      turn.preventDefault();
      latest.current.camera.zoom(Math.exp(-turn.deltaY / 200), local(turn));
    };
    const onTouch = (touch: TouchEvent): void => {
      const [a, b] = touch.touches;
      if (a === undefined || b === undefined) {
        before = null;
        // The click that browsers add after a tap would press what the tap has just opened.
        if (touch.type === 'touchend' && touch.cancelable) touch.preventDefault();
        return;
      }
      if (touch.cancelable) touch.preventDefault();
      pinched.current = true;
      const now = [local(a), local(b)] as const;
      if (before !== null && touch.type === 'touchmove') {
        const { camera } = latest.current;
        const [from, to] = [middle(before), middle(now)];
        const { view } = camera;
        camera.move({ ...view, x: view.x + to.x - from.x, y: view.y + to.y - from.y });
        camera.zoom(distance(...now) / Math.max(distance(...before), 1), to);
      }
      before = now;
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    const touches = ['touchstart', 'touchmove', 'touchend', 'touchcancel'] as const;
    for (const type of touches) element.addEventListener(type, onTouch, { passive: false });
    return () => {
      element.removeEventListener('wheel', onWheel);
      for (const type of touches) element.removeEventListener(type, onTouch);
    };
  }, []);
}

const middle = ([a, b]: readonly [LayoutPoint, LayoutPoint]): LayoutPoint => ({
  x: (a.x + b.x) / 2,
  y: (a.y + b.y) / 2,
});
