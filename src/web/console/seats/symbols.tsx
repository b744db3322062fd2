/**
 * How seats and the shapes of a hall are drawn, for plan and legend alike.
 *
 * 1. Nothing is told by colour alone. The fill of a seat and the mark on it are its state, the letter and the edge its
 *    category; a wheelchair place is round, a seat with a restricted view has a corner cut off.
 */
import type { SeatState } from '#client/bodies.ts';
import type { Shape } from '#client/seat-layout.ts';
import type { Category } from './states.ts';

export const STATE_WORDS = { AVAILABLE: 'free', HELD: 'held', SOLD: 'sold', BLOCKED: 'blocked' } as const;

interface SeatSymbolProps {
  readonly x: number;
  readonly y: number;
  /** Half of its side. */
  readonly radius: number;
  readonly state: SeatState;
  readonly isPicked: boolean;
  /** Of its category. */
  readonly letter: string | null;
  readonly accessible: boolean;
  readonly restricted: boolean;
}

export function SeatSymbol({ x, y, radius: r, state, isPicked, letter, accessible, restricted }: SeatSymbolProps) {
  return (
    <>
      <SeatBody x={x} y={y} r={r} accessible={accessible} restricted={restricted} />
      <SeatSign x={x} y={y} r={r} state={state} isPicked={isPicked} letter={letter} />
    </>
  );
}

type Square = { readonly x: number; readonly y: number; readonly r: number };

function SeatBody({ x, y, r, accessible, restricted }: Square & Pick<SeatSymbolProps, 'accessible' | 'restricted'>) {
  const width = r * 0.26;
  if (accessible) return <circle class="body" cx={x} cy={y} r={r} stroke-width={width} />;
  if (restricted) {
    const outline = `M${x - r} ${y - r}h${r * 2}v${r * 2}h${-r}l${-r} ${-r}z`;
    return <path class="body" d={outline} stroke-width={width} stroke-linejoin="round" />;
  }
  return <rect class="body" x={x - r} y={y - r} width={r * 2} height={r * 2} rx={r * 0.45} stroke-width={width} />;
}

interface SeatSignProps extends Square {
  readonly state: SeatState;
  readonly isPicked: boolean;
  readonly letter: string | null;
}

function SeatSign({ x, y, r, state, isPicked, letter }: SeatSignProps) {
  const arm = r * 0.5;
  const width = r * 0.26;
  if (state === 'BLOCKED') {
    const cross = `M${x - arm} ${y - arm}l${arm * 2} ${arm * 2}m0 ${-arm * 2}l${-arm * 2} ${arm * 2}`;
    return <path class="mark" d={cross} stroke-width={width} />;
  }
  if (state === 'HELD') return <circle class="mark" cx={x} cy={y} r={arm * 0.8} stroke-width={width} />;
  if (state === 'SOLD') return <circle class="mark full" cx={x} cy={y} r={arm * 0.6} stroke-width={width} />;
  if (isPicked) {
    return (
      <path
        class="mark"
        d={`M${x - arm} ${y}l${arm * 0.7} ${arm * 0.7}l${arm * 1.2} ${-arm * 1.3}`}
        stroke-width={width}
      />
    );
  }
  if (letter === null) return null;
  return (
    <text class="letter" x={x} y={y} font-size={r * 1.1} aria-hidden="true">
      {letter}
    </text>
  );
}

/** The classes of a seat: its state, its category's hue, and whether it is picked. */
export function seatClass(state: SeatState, category: Category | null, isPicked: boolean): string {
  return `seat ${state}${category === null ? '' : ` hue-${category.hue}`}${isPicked ? ' picked' : ''}`;
}

/** A stage, court, wall or area of the hall. */
export function HallShape({ shape, size }: { readonly shape: Shape; readonly size: number }) {
  const { position: { x, y } = { x: 0, y: 0 }, rotation, text } = shape;
  return (
    <g
      class="hall-shape"
      transform={`translate(${x} ${y})${rotation ? ` rotate(${rotation})` : ''}`}
      aria-hidden="true"
    >
      <Outline shape={shape} />
      {text?.text && (
        <text x={text.position?.x ?? 0} y={text.position?.y ?? 0} font-size={Math.max(text.size ?? 0, size)}>
          {text.text}
        </text>
      )}
    </g>
  );
}

function Outline({ shape: { rectangle, circle, ellipse, polygon } }: { readonly shape: Shape }) {
  if (rectangle) return <rect width={rectangle.width} height={rectangle.height} rx={6} />;
  if (circle) return <circle r={circle.radius} />;
  if (ellipse) return <ellipse rx={ellipse.radius.x} ry={ellipse.radius.y} />;
  if (polygon) return <polygon points={polygon.points.map(({ x, y }) => `${x},${y}`).join(' ')} />;
  return null;
}
