/**
 * What pointer and keyboard do on the plan: each function takes the plan as it is at the moment.
 */
import { boxAround, grown, neighbourOf, type Box, type LayoutPoint } from '#client/seat-layout.ts';
import { contains, nearest } from './blocks.ts';
import { middleOf, type Camera } from './camera.ts';
import { isOwn, seatPixels, type Appearance } from './draw-plan.ts';
import { nearestSeat, nextBlock, seatAt, type SeatPlan } from './plan.ts';
import { SEAT_ELEMENTS_MAX, type SeatLayer } from './seat-layer.ts';
import { inPlan, onScreen } from './view.ts';

/** What a seat or block is pointed at by; `by` decides where the focus goes and when the card closes. */
export interface Pointed {
  readonly seat: number | null;
  readonly block: number | null;
  readonly by: 'mouse' | 'touch' | 'key';
}

export interface Stage {
  readonly plan: SeatPlan;
  readonly appearances: readonly Appearance[];
  readonly camera: Camera;
  readonly layer: SeatLayer;
  readonly pointed: Pointed;
  /** A seat that gets the focus once seats are shown. */
  readonly awaited: { current: number | null };
  readonly point: (pointed: Pointed) => void;
  readonly onToggle: (seat: number) => void;
  /** A place of the plan without a seat was pressed. */
  readonly onPlace: ((at: LayoutPoint) => void) | undefined;
}

export const NOTHING: Pointed = { seat: null, block: null, by: 'key' };

export const TOUCH_PIXELS_MIN = 17;
const MOUSE_PIXELS_MIN = 7;
/** Sizes of a seat after a press on one that was too small. */
const TOUCH_PIXELS = 28;
const MOUSE_PIXELS = 22;
const STEP = 1.5;

export function tap(stage: Stage, at: LayoutPoint, isTouch: boolean): void {
  const { plan, camera, point, onToggle } = stage;
  const by = isTouch ? 'touch' : 'mouse';
  const { x, y } = inPlan(camera.view, at);
  if (camera.isFar) {
    const block = blockAt(plan, { x, y });
    return block === null ? undefined : enterBlock(stage, block, by);
  }
  const pixels = seatPixels(plan, camera.view.scale);
  if (pixels < (isTouch ? TOUCH_PIXELS_MIN : MOUSE_PIXELS_MIN)) {
    return camera.step((isTouch ? TOUCH_PIXELS : MOUSE_PIXELS) / pixels, { x, y });
  }
  const seat = seatAt(plan, x, y);
  point(seat === null ? NOTHING : { seat, block: null, by });
  if (seat !== null) onToggle(seat);
  else stage.onPlace?.({ x, y });
}

/** Flies to what was tapped: a block, or a place whose seats are large enough for a finger then. */
export function approach(stage: Stage, at: LayoutPoint): void {
  const { plan, camera, point } = stage;
  const place = inPlan(camera.view, at);
  if (!camera.isFar) {
    point(NOTHING);
    return camera.flyTo({ ...place, width: 0, height: 0 }, true);
  }
  const block = blockAt(plan, place);
  if (block !== null) enterBlock(stage, block, 'touch');
}

/** `isHeld` keeps a card with something to press until another seat is pointed at. */
export function hover({ plan, camera, pointed, point }: Stage, at: LayoutPoint | null, isHeld: boolean): void {
  const here = at && inPlan(camera.view, at);
  const block = here !== null && camera.isFar ? blockAt(plan, here) : null;
  const seat = here === null || camera.isFar ? null : seatAt(plan, here.x, here.y);
  if (seat === null && block === null) {
    if (pointed.by === 'mouse' && !isHeld) point(NOTHING);
  } else if (seat !== pointed.seat || block !== pointed.block) point({ seat, block, by: 'mouse' });
}

export function pressKey(stage: Stage, press: KeyboardEvent): void {
  const { plan, appearances, camera, layer, pointed, point, onToggle } = stage;
  if (press.altKey || press.ctrlKey || press.metaKey) return;
  if (/^(Arrow|Home$|End$)/.test(press.key)) {
    if (camera.isFar) {
      const block = nextBlock(plan, pointed.block, press.key);
      point({ seat: null, block, by: 'key' });
      layer.focusBlock(block);
    } else {
      const { seat } = pointed;
      pointTo(stage, seat === null ? firstSeen(plan, appearances, camera) : neighbourOf(plan, seat, press.key));
    }
  } else if (press.key === 'Enter' || press.key === ' ') {
    const block = layer.blockOf(press.target) ?? pointed.block;
    if (camera.isFar && block !== null) enterBlock(stage, block, 'key');
    else if (pointed.seat !== null) onToggle(pointed.seat);
  } else if (press.key === '+' || press.key === '=') step(stage, STEP);
  else if (press.key === '-') step(stage, 1 / STEP);
  else if (press.key === '0') camera.flyHome();
  else if (press.key === 'Escape' && (pointed.seat ?? pointed.block) !== null) point(NOTHING);
  else return;
  press.preventDefault();
}

/** Zooms to where the seats are: the buyer's own that are seen, else the free one nearest to the middle. */
export function step({ plan, appearances, camera }: Stage, factor: number): void {
  const own = appearances.flatMap((appearance, seat) =>
    isOwn(appearance) && isSeen(plan, camera, seat) ? [plan.seats[seat]!] : [],
  );
  const middle = middleOf(camera);
  if (own.length > 0) {
    const { x, y, width, height } = boxAround(own);
    return camera.step(factor, { x: x + width / 2, y: y + height / 2 });
  }
  const free = nearestSeat(plan, middle, (seat) => appearances[seat] === 'free');
  camera.step(factor, free === null ? middle : plan.seats[free]!);
}

function enterBlock(stage: Stage, block: number, by: Pointed['by']): void {
  if (by === 'key') return pointTo(stage, firstFree(stage.plan.blocks[block]!.seats, stage.appearances));
  stage.point({ ...NOTHING, by });
  stage.camera.flyTo(aroundBlock(stage.plan, block), true);
}

/** Leads the keyboard to a seat, in a large hall by way of its block. */
function pointTo({ plan, camera, layer, awaited, point }: Stage, seat: number): void {
  point({ seat, block: null, by: 'key' });
  if (camera.isFar) {
    awaited.current = seat;
    return camera.flyTo(aroundBlock(plan, plan.blockOf[seat]!), true);
  }
  layer.focus(seat);
  camera.reveal(plan.seats[seat]!);
}

// ── the focus ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Closes the card and leads the focus back to the plan. */
export function closeCard({ plan, layer, pointed: { seat }, point }: Stage, frame: HTMLElement): void {
  point(NOTHING);
  if (seat !== null && plan.seats.length <= SEAT_ELEMENTS_MAX) layer.focus(seat);
  else frame.focus({ preventScroll: true });
}

/** The pointer left the card: it closes unless it has the focus, or the pointer is over the plan. */
export function leaveCard({ point }: Stage, { pointerType, currentTarget, relatedTarget }: PointerEvent): void {
  const card = currentTarget as HTMLElement;
  // The page knows only the host of a shadow tree.
  const isInside = card.contains((card.getRootNode() as Document | ShadowRoot).activeElement);
  const isOver = (relatedTarget as Element | null)?.closest?.('.seat-frame') != null;
  if (pointerType === 'mouse' && !isInside && !isOver) point(NOTHING);
}

/** The focus left the plan and its card: a card that the keyboard opened closes. */
export function leaveFocus({ layer, pointed, point }: Stage, { currentTarget, relatedTarget }: FocusEvent): void {
  const map = (currentTarget as HTMLElement).closest('.seat-map')!;
  const next = relatedTarget as Element | null;
  if (next !== null && map.contains(next) && next.closest('.seat-frame, .map-card') !== null) return;
  layer.leave();
  if (pointed.by === 'key' && next !== null) point(NOTHING);
}

// ── what is where ────────────────────────────────────────────────────────────────────────────────────────────────────

export const aroundBlock = (plan: SeatPlan, block: number): Box => grown(plan.blocks[block]!.box, plan.radius * 3);

/** The free seat that is nearest to the middle of the plan. */
export function aroundFree(plan: SeatPlan, appearances: readonly Appearance[]): Box {
  const { x, y, width, height } = plan.box;
  const middle = { x: x + width / 2, y: y + height / 2 };
  const free = nearestSeat(plan, middle, (seat) => appearances[seat] === 'free');
  return { ...(free === null ? middle : plan.seats[free]!), width: 0, height: 0 };
}

function blockAt(plan: SeatPlan, point: LayoutPoint): number | null {
  const reach = plan.radius * 2;
  const found = plan.blocks.findIndex(({ box, outline }) => {
    const { x, y, width, height } = grown(box, reach);
    if (point.x < x || point.y < y || point.x > x + width || point.y > y + height) return false;
    return contains(outline, point) || nearest(outline, point) <= reach;
  });
  return found < 0 ? null : found;
}

/** One of some seats: the buyer's own, else the free one in their middle, else the first. */
function firstFree(seats: readonly number[], appearances: readonly Appearance[]): number {
  const own = seats.find((seat) => isOwn(appearances[seat]));
  const free = seats.filter((seat) => appearances[seat] === 'free');
  return own ?? free[0] ?? seats[0]!;
}

/** Where the keyboard begins: at the buyer's own seats, else at the first free one that is seen. */
function firstSeen(plan: SeatPlan, appearances: readonly Appearance[], camera: Camera): number {
  const seen = [...plan.seats.keys()].filter((seat) => isSeen(plan, camera, seat));
  return firstFree(seen.length > 0 ? seen : [0], appearances);
}

function isSeen(plan: SeatPlan, { view, width, height }: Camera, seat: number): boolean {
  const { x, y } = onScreen(view, plan.seats[seat]!);
  return x > 0 && y > 0 && x < width && y < height;
}
