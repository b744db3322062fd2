/**
 * Where the plan is looked at, outside of the components, because it changes with every frame of a movement.
 *
 *  1. Flights take a moment; who wants less motion is there at once.
 *  2. A view that shows the whole plan, or a part that was flown to, keeps showing it when the screen changes its size;
 *     others keep their upper left corner, so that a seat stays under the pointer.
 */
import { useEffect, useReducer } from 'preact/hooks';
import type { Box, LayoutPoint } from '#client/seat-layout.ts';
import { seatScale } from './draw-blocks.ts';
import type { SeatPlan } from './plan.ts';
import { between, bounded, closeUp, fitted, inPlan, onScreen, revealing, zoomed, type View } from './view.ts';

const FLIGHT_MS = 420;
/** From this many times the fitting scale on, the plan counts as zoomed in. */
const ZOOMED_FROM = 1.02;
/** A part of the plan that fits at less than so many times the scale of all of it counts as all of it. */
const ALL_FROM = 1.4;
/** A seat's size in a close look, and at most. */
const CLOSE_PIXELS = 26;
const PIXELS_MAX = 46;

export class Camera {
  readonly #plan: SeatPlan;
  readonly #listeners = new Set<() => void>();
  #size = { width: 0, height: 0 };
  #view: View = { scale: 1, x: 0, y: 0 };
  #fit: View = this.#view;
  #aim: View | null = null;
  #frame = 0;
  /** What was flown to, until the view is moved. */
  #goal: { readonly box: Box; readonly isNear: boolean } | null = null;

  constructor(plan: SeatPlan) {
    this.#plan = plan;
  }

  get view(): View {
    return this.#view;
  }

  /** Where a flight ends. */
  get aim(): View | null {
    return this.#aim;
  }

  get width(): number {
    return this.#size.width;
  }

  get height(): number {
    return this.#size.height;
  }

  /** The scale at which all of the plan is seen. */
  get fitScale(): number {
    return this.#fit.scale;
  }

  /** Whether all of the plan is seen, also at the end of a flight. */
  get isHome(): boolean {
    return this.#isWhole(this.#aim ?? this.#view);
  }

  get isZoomed(): boolean {
    return !this.#isWhole(this.#view);
  }

  /** Whether blocks are chosen from, not seats. */
  get isFar(): boolean {
    return this.#view.scale < this.#seatScale * 0.999;
  }

  resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    const [isFirst, wasWhole, goal] = [this.width === 0, this.isHome, this.#goal];
    this.#size = { width, height };
    this.#fit = fitted(this.#plan.box, width || 1, height || 1);
    if (isFirst) this.#show(this.#fit);
    else if (wasWhole) this.#fly(this.#fit);
    else if (goal !== null) this.flyTo(goal.box, goal.isNear);
    else this.move(this.#view);
  }

  move(next: View): void {
    this.#land();
    this.#show(next);
  }

  /** Zooms about a point of the screen. */
  zoom(factor: number, about: LayoutPoint): void {
    this.move(zoomed(this.#view, factor, about, this.#bounds));
  }

  /** Flies one step closer or away, towards a point of the plan. */
  step(factor: number, towards: LayoutPoint): void {
    const from = this.#aim ?? this.#view;
    const there = onScreen(from, towards);
    const next = zoomed(from, factor, there, this.#bounds);
    // Half of the way to the middle of the screen with each step.
    const share = factor > 1 ? 0.5 : 0;
    const across = (this.width / 2 - there.x) * share;
    this.#fly({ ...next, x: next.x + across, y: next.y + (this.height / 2 - there.y) * share });
  }

  /**
   * Flies to a part of the plan: to where its seats are seen, unless it is nearly all of the plan and `isNear` does not
   * ask for it.
   */
  flyTo(box: Box, isNear: boolean): void {
    const { width, height } = this.#size;
    const low = Math.max(this.#fit.scale, this.#seatScale * 1.02);
    const isAll = !isNear && fitted(box, width, height).scale < this.#fit.scale * ALL_FROM;
    const high = Math.max(low, CLOSE_PIXELS / (this.#plan.radius * 2));
    this.#fly(isAll ? this.#fit : closeUp(box, width, height, [low, high]));
    this.#goal = { box, isNear };
  }

  flyHome(): void {
    this.#fly(this.#fit);
  }

  /** Moves by a share of the screen. */
  shift(across: number, down: number): void {
    const from = this.#aim ?? this.#view;
    this.#fly({ ...from, x: from.x - across * this.width, y: from.y - down * this.height });
  }

  /** Moves so far that a point is visible. */
  reveal(point: LayoutPoint): void {
    const from = this.#aim ?? this.#view;
    const next = revealing(from, point, this.width, this.height);
    if (next.x !== from.x || next.y !== from.y) this.#fly(next);
  }

  /** Calls back whenever the view changes; returns how to stop. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get #seatScale(): number {
    return seatScale(this.#plan, this.#fit.scale);
  }

  get #bounds(): readonly [number, number] {
    const closest = Math.max(this.#fit.scale * 3, PIXELS_MAX / (this.#plan.radius * 2), this.#seatScale * 1.5);
    return [this.#fit.scale, closest];
  }

  #isWhole({ scale }: View): boolean {
    return scale <= this.#fit.scale * ZOOMED_FROM;
  }

  #within(view: View): View {
    return this.#isWhole(view) ? this.#fit : bounded(view, this.#plan.box, this.width, this.height);
  }

  #show(next: View): void {
    this.#view = this.#within(next);
    for (const listener of this.#listeners) listener();
  }

  #land(): void {
    cancelAnimationFrame(this.#frame);
    this.#aim = null;
    this.#goal = null;
  }

  #fly(to: View): void {
    this.#land();
    const end = this.#within(to);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches || document.hidden) return this.#show(end);
    this.#aim = end;
    const from = this.#view;
    let began: number | null = null;
    const step = (now: number): void => {
      began ??= now;
      const share = Math.min(1, (now - began) / FLIGHT_MS);
      if (share === 1) {
        this.#aim = null;
        return this.#show(end);
      }
      this.#frame = requestAnimationFrame(step);
      this.#view = between(from, end, share * share * (3 - 2 * share), this.width, this.height);
      for (const listener of this.#listeners) listener();
    };
    this.#frame = requestAnimationFrame(step);
  }
}

/** Renders a component again when what it reads of the camera changes. */
export function useCamera<Value>(camera: Camera, read: (camera: Camera) => Value): Value {
  const [, renderAgain] = useReducer<number, void>((n) => n + 1, 0);
  const value = read(camera);
  useEffect(() => {
    let last = value;
    return camera.follow(() => {
      const next = read(camera);
      if (next === last) return;
      last = next;
      renderAgain();
    });
  }, [camera]);
  return value;
}

/** The middle of what is seen, on the plan. */
export const middleOf = ({ aim, view, width, height }: Camera): LayoutPoint =>
  inPlan(aim ?? view, { x: width / 2, y: height / 2 });
