/**
 * Elements without a picture over the plan: every seat and block has a name of its own for assistive technology and the
 * keyboard.
 *
 * Halls with more than `SEAT_ELEMENTS_MAX` seats have elements for their blocks alone; their seats are read from the
 * line below the plan.
 */
import type { LayoutPoint } from '#client/seat-layout.ts';
import { isOwn, type Appearance, type View } from './appearance.ts';
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
}

export const SEAT_ELEMENTS_MAX = 5_000;

export function createSeatLayer(plan: SeatPlan): SeatLayer {
  const { x, y, width, height } = plan.box;
  const root = svg('svg', { class: 'seat-layer', width, height, viewBox: [x, y, width, height].join(' ') });
  const [blockGroup, seatGroup] = [svg('g', {}), svg('g', {})];
  const hasElements = plan.seats.length <= SEAT_ELEMENTS_MAX;
  const seats = (hasElements ? plan.seats : []).map((at, seat) => seatElement(at, seat, plan.radius));
  const blocks = (plan.isByBlock ? plan.blocks : []).map(({ outline }, block) => blockElement(outline, block));
  blockGroup.append(...blocks);
  seatGroup.append(...seats);
  root.append(blockGroup, seatGroup);
  let shown: { readonly appearances: readonly Appearance[]; readonly nameOf: NameOf | null } = {
    appearances: [],
    nameOf: null,
  };
  let current: Element | null = null;
  const leave = (): void => {
    current?.setAttribute('tabindex', '-1');
    current = null;
  };

  return {
    root,
    show(appearances, nameOf, nameOfBlock) {
      blocks.forEach((element, block) => element.setAttribute('aria-label', nameOfBlock(block)));
      if (!hasElements) return;
      seats.forEach((element, seat) => {
        const appearance = appearances[seat]!;
        if (shown.appearances[seat] === appearance && shown.nameOf === nameOf) return;
        element.setAttribute('data-appearance', appearance);
        element.setAttribute('aria-label', nameOf(seat, appearance));
        element.setAttribute('aria-checked', String(isOwn(appearance)));
        if (appearance === 'free' || isOwn(appearance)) element.removeAttribute('aria-disabled');
        else element.setAttribute('aria-disabled', 'true');
      });
      shown = { appearances, nameOf };
    },
    moveTo(view, isFar) {
      root.style.transform = `matrix(${view.scale}, 0, 0, ${view.scale}, ${view.x + x * view.scale}, ${view.y + y * view.scale})`;
      blockGroup.setAttribute('display', isFar ? 'inline' : 'none');
      seatGroup.setAttribute('display', isFar ? 'none' : 'inline');
    },
    focus(seat) {
      leave();
      current = seats[seat] ?? null;
      current?.setAttribute('tabindex', '0');
      (current as SVGElement | null)?.focus({ preventScroll: true });
    },
    focusBlock: (block) => blocks[block]?.focus({ preventScroll: true }),
    blockOf: (target) => {
      const block = blocks.indexOf(target as SVGPolygonElement);
      return block < 0 ? null : block;
    },
    leave,
  };
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
