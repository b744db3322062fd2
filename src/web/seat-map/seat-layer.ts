/**
 * Elements without a picture over the plan: every seat and block has a name of its own for assistive technology and the
 * keyboard.
 *
 *  1. Halls with more than `SEAT_ELEMENTS_MAX` seats have elements for their blocks alone; their seats are read from
 *     the line below the plan.
 *  2. Seats get their elements in slices of `SLICE`, each a task of its own, so that a slow phone answers a press
 *     meanwhile; at once where the focus is to go to one that has none yet.
 */
import type { LayoutPoint } from '#client/seat-layout.ts';
import { isOwn, type Appearance } from './draw-plan.ts';
import type { View } from './view.ts';
import type { SeatPlan } from './plan.ts';

type NameOf = (seat: number, appearance: Appearance) => string;

export interface SeatLayer {
  readonly root: SVGSVGElement;
  show(appearances: readonly Appearance[], nameOf: NameOf, nameOfBlock: (block: number) => string): void;
  moveTo(view: View, isFar: boolean): void;
  /** Leads the focus to a seat. */
  focus(seat: number): void;
  focusBlock(block: number): void;
  /** The block whose element has the focus; null for none. */
  blockOf(target: EventTarget | null): number | null;
  /** Leads the tabulator to the plan instead of a seat. */
  leave(): void;
  /** Makes no further elements. */
  dispose(): void;
}

export const SEAT_ELEMENTS_MAX = 5_000;

const SLICE = 150;

export function createSeatLayer(plan: SeatPlan): SeatLayer {
  const { x, y, width, height } = plan.box;
  const root = svg('svg', { class: 'seat-layer', width, height, viewBox: [x, y, width, height].join(' ') });
  const [blockGroup, seatGroup] = [svg('g', {}), svg('g', {})];
  const seats = new SeatElements(plan, seatGroup);
  const blocks = (plan.isByBlock ? plan.blocks : []).map(({ outline }, block) => blockElement(outline, block));
  blockGroup.append(...blocks);
  root.append(blockGroup, seatGroup);
  let current: SVGElement | null = null;
  const leave = (): void => {
    current?.setAttribute('tabindex', '-1');
    current = null;
  };

  return {
    root,
    show(appearances, nameOf, nameOfBlock) {
      blocks.forEach((element, block) => element.setAttribute('aria-label', nameOfBlock(block)));
      seats.show({ appearances, nameOf });
    },
    moveTo(view, isFar) {
      root.style.transform = `matrix(${view.scale}, 0, 0, ${view.scale}, ${view.x + x * view.scale}, ${view.y + y * view.scale})`;
      blockGroup.setAttribute('display', isFar ? 'inline' : 'none');
      seatGroup.setAttribute('display', isFar ? 'none' : 'inline');
    },
    focus(seat) {
      leave();
      current = seats.at(seat);
      current?.setAttribute('tabindex', '0');
      current?.focus({ preventScroll: true });
    },
    focusBlock: (block) => blocks[block]?.focus({ preventScroll: true }),
    blockOf: (target) => {
      const block = blocks.indexOf(target as SVGPolygonElement);
      return block < 0 ? null : block;
    },
    leave,
    dispose() {
      seats.dispose();
      root.remove();
    },
  };
}

interface ShownSeats {
  readonly appearances: readonly Appearance[];
  readonly nameOf: NameOf;
}

/** The elements of a plan's seats, made in slices from the first time that they are shown (rule 2). */
class SeatElements {
  readonly #plan: SeatPlan;
  readonly #group: SVGElement;
  readonly #count: number;
  readonly #elements: SVGRectElement[] = [];
  #shown: ShownSeats | null = null;
  #slice: ReturnType<typeof setTimeout> | undefined;

  constructor(plan: SeatPlan, group: SVGElement) {
    [this.#plan, this.#group] = [plan, group];
    this.#count = plan.seats.length <= SEAT_ELEMENTS_MAX ? plan.seats.length : 0;
  }

  show(next: ShownSeats): void {
    const before = this.#shown;
    this.#shown = next;
    for (const seat of this.#elements.keys()) {
      if (before!.appearances[seat] !== next.appearances[seat] || before!.nameOf !== next.nameOf) this.#write(seat);
    }
    this.#goOn();
  }

  /** The element of a seat; null in a hall without any. */
  at(seat: number): SVGRectElement | null {
    if (this.#shown !== null) this.#addUntil(Math.min(seat + 1, this.#count));
    return this.#elements[seat] ?? null;
  }

  dispose(): void {
    clearTimeout(this.#slice);
  }

  #goOn(): void {
    if (this.#elements.length === this.#count) return;
    this.#slice ??= setTimeout(() => {
      this.#slice = undefined;
      this.#addUntil(Math.min(this.#elements.length + SLICE, this.#count));
      this.#goOn();
    });
  }

  #addUntil(end: number): void {
    const first = this.#elements.length;
    for (let seat = first; seat < end; seat += 1) {
      this.#elements.push(seatElement(this.#plan.seats[seat]!, seat, this.#plan.radius));
      this.#write(seat);
    }
    this.#group.append(...this.#elements.slice(first));
  }

  #write(seat: number): void {
    const { appearances, nameOf } = this.#shown!;
    const [element, appearance] = [this.#elements[seat]!, appearances[seat]!];
    element.setAttribute('data-appearance', appearance);
    element.setAttribute('aria-label', nameOf(seat, appearance));
    element.setAttribute('aria-checked', String(isOwn(appearance)));
    if (appearance === 'free' || isOwn(appearance)) element.removeAttribute('aria-disabled');
    else element.setAttribute('aria-disabled', 'true');
  }
}

function seatElement({ x, y }: LayoutPoint, seat: number, r: number): SVGRectElement {
  const square = { x: x - r, y: y - r, width: r * 2, height: r * 2 };
  return svg('rect', { ...square, class: 'seat', role: 'checkbox', tabindex: -1, 'data-seat': seat });
}

function blockElement(outline: readonly LayoutPoint[], block: number): SVGPolygonElement {
  const points = outline.map(({ x, y }) => `${x},${y}`).join(' ');
  return svg('polygon', { points, class: 'block', role: 'button', tabindex: -1, 'data-block': block });
}

/** An SVG element with its attributes. */
function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number>>,
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
