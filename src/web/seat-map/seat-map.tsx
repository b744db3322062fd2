/**
 * The seat map: a plan that is shown, moved and picked from by pointer, touch or keyboard.
 *
 * Owns the view and what is pointed at; the look of each seat is given, and picks are reported by `onToggle`. The
 * picture is a canvas (`scene.ts`), the names for assistive technology lie over it (`seat-layer.ts`).
 *
 *  1. In a large hall a block is chosen first, and then its seats.
 *  2. Where seats are too small for a finger, a tap zooms in instead of picking.
 *  3. On a phone a tap on the plan within the page fills the screen with it, at the place that was tapped and large
 *     enough to pick from; one finger moves it then.
 *  4. Arrow keys move from seat to seat or block to block, Enter or Space picks, + and − zoom, 0 shows the whole plan,
 *     Escape closes the card.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { boxAround, seatsWithin, type Box, type LayoutPoint } from '#client/seat-layout.ts';
import { Camera, useCamera } from './camera.ts';
import type { Colours } from './colours.ts';
import type { BlockSummary } from './draw-blocks.ts';
import { useGestures, type RectangleDrawing } from './gestures.ts';
import { MapCard } from './card.tsx';
import { MapTools, type ToolWords } from './tools.tsx';
import { Minimap } from './minimap.tsx';
import { seatPixels, type Appearance } from './draw-plan.ts';
import {
  approach,
  aroundFree,
  closeCard,
  hover,
  leaveCard,
  leaveFocus,
  NOTHING,
  pressKey,
  step,
  tap,
  TOUCH_PIXELS_MIN,
  type Pointed,
  type Stage,
} from './moves.ts';
import type { SeatPlan } from './plan.ts';
import { inPlan } from './view.ts';
import { Scene } from './scene.ts';
import { createSeatLayer, SEAT_ELEMENTS_MAX, type SeatLayer } from './seat-layer.ts';

/** A part of the plan to be shown. With `isNear` its seats are visible even where the part is nearly the whole plan. */
export interface Goal {
  readonly box: Box;
  readonly isNear: boolean;
}

/** What the map itself says, in the language of the page. */
interface MapWords extends ToolWords {
  readonly seatsOf: (name: string) => string;
  readonly blocksOf: (name: string) => string;
  readonly help: { readonly seats: string; readonly blocks: string; readonly fingers: string };
  /** Where one finger moves over a plan that two fingers move. */
  readonly loneFinger: string;
}

interface SeatMapProps {
  readonly words: MapWords;
  readonly plan: SeatPlan;
  readonly appearances: readonly Appearance[];
  readonly summaries: readonly BlockSummary[];
  readonly colours: Colours;
  /** A seat, and a block, with price and state, as it is read aloud. */
  readonly describe: (seat: number, appearance: Appearance) => string;
  readonly describeBlock: (block: number) => string;
  /** The card of a seat, and whether it has something to press. */
  readonly seatCard: (
    seat: number,
    close: () => void,
  ) => { readonly body: ComponentChildren; readonly isActive: boolean };
  readonly onToggle: (seat: number) => void;
  /** A part of the plan to show; a new value moves the view. */
  readonly closeTo: Goal | null;
  /** For each seat, whether it steps back because others are looked for; null where all are. */
  readonly isBack: readonly boolean[] | null;
  readonly name: string;
  /** Whether the plan fills the screen. */
  readonly isFull: boolean;
  readonly onFull: (isFull: boolean) => void;
  /** What is to say about the choice, below the plan. */
  readonly children?: ComponentChildren;
  /** Where many seats are picked at once. */
  readonly picking?: PickingMany;
}

export interface PickingMany {
  /** Whether one finger draws rectangles; a mouse always does. */
  readonly isForFingers: boolean;
  /** The seats of the rectangle that is being drawn; null when it is no more. */
  readonly onDraw: (seats: readonly number[] | null) => void;
  readonly onRectangle: (seats: readonly number[], isAdded: boolean) => void;
  /** The seat that is pointed at now. */
  readonly onPoint: (seat: number | null) => void;
  readonly onPlace: (at: LayoutPoint) => void;
}

const HINT_MS = 1_800;
const PHONE = '(max-width: 40rem)';

export function SeatMap(props: SeatMapProps) {
  const { plan, appearances, summaries, colours, name, words, isFull, onFull } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<Pointed>(NOTHING);
  const [hint, showHint] = useHint();
  const { camera, layer } = usePicture(frame, props, pointed);
  const isFar = useCamera(camera, (now) => now.isFar);
  const isZoomed = useCamera(camera, (now) => now.isZoomed);
  const awaited = useAwaitedSeat(camera, layer);
  const seen = { plan, appearances, camera, layer, pointed, awaited };
  const { onToggle, picking } = props;
  const point = (next: Pointed): void => {
    setPointed(next);
    picking?.onPoint(next.seat);
  };
  const stage: Stage = { ...seen, point, onToggle, onPlace: picking?.onPlace };
  const rectangle = useRectangle(plan, camera, picking);
  const close = (): void => closeCard(stage, frame.current!);
  const card = pointed.seat !== null && props.seatCard(pointed.seat, close);
  useFilledScreen(props, camera, frame, () => point(NOTHING));
  const gestures = useGestures({
    frame,
    camera,
    isFull,
    hover: (at) => hover(stage, at, card && card.isActive),
    tap(at, isTouch) {
      if (isTouch && !isFull && picking === undefined && matchMedia(PHONE).matches) {
        approach(stage, at);
        onFull(true);
      } else tap(stage, at, isTouch);
    },
    onLoneFinger: showHint,
    rectangle: rectangle.drawing,
  });
  const readoutId = useId();
  const readout = readoutOf(props, pointed);
  const help = isFar ? words.help.blocks : words.help.seats;

  return (
    <div class="seat-map" part="map">
      <div
        ref={frame}
        part="frame"
        class={`seat-frame${isZoomed ? ' zoomed' : ''}${readout !== null ? ' on-seat' : ''}`}
        style={{ aspectRatio: `${plan.box.width} / ${plan.box.height}` }}
        role={isSilent(plan) ? 'application' : 'group'}
        aria-label={isFar ? words.blocksOf(name) : words.seatsOf(name)}
        aria-describedby={readoutId}
        tabIndex={0}
        onKeyDown={(press) => pressKey(stage, press)}
        onBlur={(blur) => leaveFocus(stage, blur)}
        {...gestures}
      />
      {rectangle.box !== null && <div class="map-rectangle" style={rectangle.box} />}
      {hint && (
        <p class="map-hint" part="hint">
          {words.loneFinger}
        </p>
      )}
      {readout !== null && (
        <MapCard
          camera={camera}
          frame={frame}
          at={pointed.seat !== null ? plan.seats[pointed.seat]! : plan.blocks[pointed.block!]!.middle}
          reach={plan.radius * 1.3}
          isActive={card && card.isActive}
          onLeave={(leave) => leaveCard(stage, leave)}
          onBlur={(blur) => leaveFocus(stage, blur)}
          onKeyDown={(press) => press.key === 'Escape' && close()}
        >
          {card ? card.body : <p class="card-title">{readout}</p>}
        </MapCard>
      )}
      <p id={readoutId} class="unseen" aria-live={isSilent(plan) ? 'polite' : 'off'}>
        {readout ?? help}
      </p>
      <div class="map-foot" part="foot">
        {props.children}
        <p class="map-help small quiet">
          {help} {!isFull && <span class="for-fingers">{words.help.fingers}</span>}
        </p>
        <div class="minimap-room">{isZoomed && <Minimap {...{ plan, appearances, summaries, colours, camera }} />}</div>
        <MapTools
          {...{ words, camera, isZoomed, isFull, onFull }}
          isByBlock={plan.isByBlock}
          canFill={picking === undefined}
          onStep={(factor) => step(stage, factor)}
        />
      </div>
    </div>
  );
}

/** The rectangle that is being drawn, in pixels of the frame. */
function useRectangle(plan: SeatPlan, camera: Camera, picking: PickingMany | undefined) {
  const [box, setBox] = useState<Readonly<Record<'left' | 'top' | 'width' | 'height', string>> | null>(null);
  if (picking === undefined) return { box, drawing: null };
  const seatsIn = (from: LayoutPoint, to: LayoutPoint): readonly number[] =>
    seatsWithin(plan, boxAround([inPlan(camera.view, from), inPlan(camera.view, to)]));
  const stop = (): void => {
    setBox(null);
    picking.onDraw(null);
  };
  const drawing: RectangleDrawing = {
    isForFingers: picking.isForFingers,
    draw(from, to) {
      const { x, y, width, height } = boxAround([from, to]);
      setBox({ left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
      picking.onDraw(seatsIn(from, to));
    },
    end(from, to, isAdded) {
      stop();
      picking.onRectangle(seatsIn(from, to), isAdded);
    },
    stop,
  };
  return { box, drawing };
}

/** Whether the plan has too many seats for elements of their own; the line below it is read out instead. */
const isSilent = (plan: SeatPlan): boolean => plan.seats.length > SEAT_ELEMENTS_MAX;

/** What is pointed at, as it is read aloud. */
function readoutOf({ appearances, describe, describeBlock }: SeatMapProps, { seat, block }: Pointed): string | null {
  if (seat !== null) return describe(seat, appearances[seat]!);
  return block === null ? null : describeBlock(block);
}

/**
 * Where the plan begins to fill the screen its seats are large enough for a finger, around the free one nearest to its
 * middle unless a place was tapped; back in the page all of it is seen, and no card, which would lie over the page.
 */
function useFilledScreen(
  { plan, appearances, isFull }: SeatMapProps,
  camera: Camera,
  frame: { readonly current: HTMLDivElement | null },
  closeCard: () => void,
): void {
  const wasFull = useRef(isFull);
  useLayoutEffect(() => {
    if (wasFull.current === isFull) return;
    wasFull.current = isFull;
    const element = frame.current!;
    camera.resize(element.clientWidth, element.clientHeight);
    if (!isFull) {
      closeCard();
      return camera.flyHome();
    }
    element.focus({ preventScroll: true });
    if (!camera.isHome || plan.isByBlock || !matchMedia(PHONE).matches) return;
    if (seatPixels(plan, camera.fitScale) < TOUCH_PIXELS_MIN) camera.flyTo(aroundFree(plan, appearances), true);
  }, [isFull]);
}

/** Says for a moment how the plan is moved. */
function useHint(): readonly [boolean, () => void] {
  const [isShown, setShown] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = (): void => {
    setShown(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setShown(false), HINT_MS);
  };
  return [isShown, show];
}

/** The picture and the names over it, kept as the plan, its appearances and the view are. */
function usePicture(frame: { readonly current: HTMLDivElement | null }, props: SeatMapProps, pointed: Pointed) {
  const { plan, appearances, summaries, colours, describe, describeBlock, closeTo, isBack } = props;
  const parts = useMemo(
    () => ({ camera: new Camera(plan), scene: new Scene(plan), layer: createSeatLayer(plan) }),
    [plan],
  );
  const { camera, scene, layer } = parts;
  useLayoutEffect(() => {
    const element = frame.current!;
    element.append(scene.canvas, layer.root);
    const stop = camera.follow(() => {
      scene.moveTo(camera.view, camera.width, camera.height, camera.fitScale, camera.aim?.scale ?? null);
      layer.moveTo(camera.view, camera.isFar);
    });
    const observer = new ResizeObserver(() => camera.resize(element.clientWidth, element.clientHeight));
    observer.observe(element);
    return () => {
      observer.disconnect();
      stop();
      scene.dispose();
      layer.dispose();
    };
  }, [parts]);
  useLayoutEffect(() => scene.colour(colours), [scene, colours]);
  useLayoutEffect(() => scene.show(appearances, summaries), [scene, appearances, summaries]);
  useLayoutEffect(
    () => layer.show(appearances, describe, describeBlock),
    [layer, appearances, describe, describeBlock],
  );
  useLayoutEffect(() => scene.point(pointed.seat, pointed.block), [scene, pointed]);
  useLayoutEffect(() => scene.stepBack(isBack), [scene, isBack]);
  useEffect(() => {
    if (closeTo === null || camera.width === 0) return;
    frame.current!.scrollIntoView({ block: 'nearest' });
    camera.flyTo(closeTo.box, closeTo.isNear);
  }, [closeTo]);
  return parts;
}

/** A seat that gets the focus once seats are shown, at the end of a flight. */
function useAwaitedSeat(camera: Camera, layer: SeatLayer): { current: number | null } {
  const awaited = useRef<number | null>(null);
  useEffect(
    () =>
      camera.follow(() => {
        if (awaited.current === null || camera.isFar) return;
        layer.focus(awaited.current);
        awaited.current = null;
      }),
    [camera, layer],
  );
  return awaited;
}
