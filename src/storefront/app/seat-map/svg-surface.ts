/**
 * The seat map in SVG: every seat an element with a name of its own, for assistive technology and the keyboard.
 *
 * Seats are made once and then only change their symbol, name and state; drawing 2,000 of them takes about 30 ms.
 */
import { HUES } from './palette.ts';
import type { SeatPlan, Shape } from './plan.ts';
import { hitGrid, isNumbered, LABEL_PIXELS_MIN, nameSizeOf, numberIn, type Look, type Surface } from './surface.ts';

export function createSvgSurface(plan: SeatPlan): Surface {
  const root = svg('svg', { class: 'plan', role: 'group' });
  const scene = svg('g', {});
  root.append(scene);
  scene.append(...plan.shapes.map((shape) => shapeElement(shape)));
  const sections = plan.sections.map(({ name, box }) => {
    const size = plan.radius * 2.4;
    const text = svg('text', { class: 'section-name', x: box.x + box.width / 2, y: box.y - size, 'font-size': size });
    text.textContent = name;
    return text;
  });
  const seats = plan.seats.map((seat, number) => seatElement(plan, number, seat));
  const labels = svg('g', { class: 'seat-labels', 'aria-hidden': 'true' });
  const ring = svg('rect', { class: 'pointer', rx: plan.radius * 0.7, visibility: 'hidden' });
  scene.append(...sections, ...seats, labels, ring);
  const names = scene.querySelectorAll('.section-name, .hall-shape text');
  const at = hitGrid(plan);
  let shown: readonly Look[] = [];
  let scale = 1;
  let offset = { x: 0, y: 0 };
  /** Made when they are first large enough to read. */
  let numbers: readonly SVGTextElement[] = [];

  return {
    element: root,
    show(looks, nameOf) {
      looks.forEach((look, number) => {
        const element = seats[number]!;
        if (shown[number] === look) return;
        element.setAttribute('href', `#seat-${symbolOf(plan, number, look)}`);
        element.setAttribute('data-look', look);
        element.setAttribute('aria-label', nameOf(number));
        element.setAttribute('aria-checked', String(look === 'mine' || look === 'chosen'));
        if (look === 'free' || look === 'mine' || look === 'chosen') element.removeAttribute('aria-disabled');
        else element.setAttribute('aria-disabled', 'true');
        numbers[number]?.setAttribute('visibility', isNumbered(plan, number, look) ? 'visible' : 'hidden');
      });
      shown = looks;
    },
    place(view, width, height) {
      root.setAttribute('width', String(width));
      root.setAttribute('height', String(height));
      scene.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.scale})`);
      scale = view.scale;
      offset = view;
      const nameSize = nameSizeOf(plan, scale);
      for (const name of names) name.setAttribute('font-size', String(nameSize));
      const wantsLabels = plan.radius * 2 * scale >= LABEL_PIXELS_MIN;
      if (wantsLabels && numbers.length === 0) {
        numbers = plan.seats.map((_, number) => labelElement(plan, number, shown[number] ?? 'free'));
        labels.append(...numbers);
      }
      labels.setAttribute('display', wantsLabels ? 'inline' : 'none');
    },
    point(seat) {
      for (const element of root.querySelectorAll('[tabindex="0"]')) element.setAttribute('tabindex', '-1');
      ring.setAttribute('visibility', seat === null ? 'hidden' : 'visible');
      if (seat === null) return;
      const { x, y } = plan.seats[seat]!;
      const reach = plan.radius * 1.3;
      setAll(ring, { x: x - reach, y: y - reach, width: reach * 2, height: reach * 2 });
      seats[seat]!.setAttribute('tabindex', '0');
      seats[seat]!.focus({ preventScroll: true });
    },
    seatAt: (x, y) => at((x - offset.x) / scale, (y - offset.y) / scale),
    recolour() {},
    dispose: () => root.remove(),
  };
}

function seatElement(plan: SeatPlan, number: number, { x, y }: { readonly x: number; readonly y: number }) {
  const r = plan.radius;
  return svg('use', {
    class: `seat hue-${HUES[plan.zones[plan.zoneOf[number]!]?.hue ?? 0]}`,
    x: x - r,
    y: y - r,
    width: r * 2,
    height: r * 2,
    role: 'checkbox',
    tabindex: -1,
    'data-seat': number,
  });
}

function labelElement(plan: SeatPlan, number: number, look: Look): SVGTextElement {
  const { x, y } = plan.seats[number]!;
  const visibility = isNumbered(plan, number, look) ? 'visible' : 'hidden';
  const text = svg('text', { x, y, 'font-size': plan.radius * 0.78, visibility });
  text.textContent = numberIn(plan, number);
  return text;
}

/** Which symbol of the legend shows a seat. */
function symbolOf(plan: SeatPlan, number: number, look: Look): string {
  if (look === 'held' || look === 'sold' || look === 'blocked') return look;
  if (look === 'mine' || look === 'chosen') return look;
  const { accessible, restricted_view: restricted } = plan.seats[number]!;
  return `free${accessible ? '-accessible' : restricted ? '-restricted' : ''}`;
}

function setAll(element: Element, attributes: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
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

/** A stage, wall or area of the hall, in the page's own quiet colours. */
function shapeElement(shape: Shape): SVGGElement {
  const { x, y } = shape.position ?? { x: 0, y: 0 };
  const turn = shape.rotation ? ` rotate(${shape.rotation})` : '';
  const group = svg('g', { class: 'hall-shape', transform: `translate(${x} ${y})${turn}` });
  const outline = outlineOf(shape);
  if (outline !== null) group.append(outline);
  const { text } = shape;
  if (text?.text) {
    const at = text.position ?? { x: 0, y: 0 };
    const label = svg('text', { x: at.x, y: at.y });
    label.textContent = text.text;
    group.append(label);
  }
  return group;
}

function outlineOf({ rectangle, circle, ellipse, polygon }: Shape): SVGElement | null {
  if (rectangle) return svg('rect', { width: rectangle.width, height: rectangle.height, rx: 6 });
  if (circle) return svg('circle', { r: circle.radius });
  if (ellipse) return svg('ellipse', { rx: ellipse.radius.x, ry: ellipse.radius.y });
  if (polygon) return svg('polygon', { points: polygon.points.map(({ x, y }) => `${x},${y}`).join(' ') });
  return null;
}
