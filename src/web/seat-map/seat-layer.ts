/**
 * Elements without a picture over the plan: every seat and block has a name of its own for assistive technology and the keyboard.
 *
 * Halls with more than `NAMED_SEATS_MAX` seats have elements for their blocks alone; their seats are read from the line below the
 * plan.
 */
import type { Point } from '#client/seat-layout.ts';
import { isOwn, type Look, type View } from './look.ts';
import type { SeatPlan } from './plan.ts';

type NameOf = (seat: number, look: Look) => string;

export interface SeatLayer {
  readonly root: SVGSVGElement;
  show(looks: readonly Look[], nameOf: NameOf, nameOfBlock: (block: number) => string): void;
  place(view: View, isFar: boolean): void;
  /** Leads the focus to a seat. */
  focus(seat: number): void;
  focusBlock(block: number): void;
  /** The block whose element has the focus; null for none. */
  blockOf(target: EventTarget | null): number | null;
  /** Leads the tabulator to the plan instead of a seat. */
  leave(): void;
}

export const NAMED_SEATS_MAX = 5_000;

export function createSeatLayer(plan: SeatPlan): SeatLayer {
  const { x, y, width, height } = plan.box;
  const root = svg('svg', { class: 'seat-layer', width, height, viewBox: [x, y, width, height].join(' ') });
  const [blockGroup, seatGroup] = [svg('g', {}), svg('g', {})];
  const isNamed = plan.seats.length <= NAMED_SEATS_MAX;
  const seats = (isNamed ? plan.seats : []).map((at, seat) => seatElement(at, seat, plan.radius));
  const blocks = (plan.isByBlock ? plan.blocks : []).map(({ outline }, block) => blockElement(outline, block));
  blockGroup.append(...blocks);
  seatGroup.append(...seats);
  root.append(blockGroup, seatGroup);
  let shown: { readonly looks: readonly Look[]; readonly nameOf: NameOf | null } = { looks: [], nameOf: null };
  let current: Element | null = null;
  const leave = (): void => {
    current?.setAttribute('tabindex', '-1');
    current = null;
  };

  return {
    root,
    show(looks, nameOf, nameOfBlock) {
      blocks.forEach((element, block) => element.setAttribute('aria-label', nameOfBlock(block)));
      if (!isNamed) return;
      seats.forEach((element, seat) => {
        const look = looks[seat]!;
        if (shown.looks[seat] === look && shown.nameOf === nameOf) return;
        element.setAttribute('data-look', look);
        element.setAttribute('aria-label', nameOf(seat, look));
        element.setAttribute('aria-checked', String(isOwn(look)));
        if (look === 'free' || isOwn(look)) element.removeAttribute('aria-disabled');
        else element.setAttribute('aria-disabled', 'true');
      });
      shown = { looks, nameOf };
    },
    place(view, isFar) {
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

function seatElement({ x, y }: Point, seat: number, r: number): SVGRectElement {
  const place = { x: x - r, y: y - r, width: r * 2, height: r * 2 };
  return svg('rect', { ...place, class: 'seat', role: 'checkbox', tabindex: -1, 'data-seat': seat });
}

function blockElement(outline: readonly Point[], block: number): SVGPolygonElement {
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
