/** SVG elements, and the outlines of a hall among them. */
import type { Shape } from './plan.ts';

/** An SVG element with its attributes. */
export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number>>,
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** A stage, wall or area of the hall, in the page's own quiet colours. */
export function shapeElement(shape: Shape): SVGGElement {
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
