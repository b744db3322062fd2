/** The seats, names and shapes of a plan. What does not depend on the pointer is rendered once. */
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { SeatState } from '#client/bodies.ts';
import type { SeatStates } from '#client/live.ts';
import type { DrawnLocality, DrawnSeat } from './states.ts';
import { HallShape, seatClass, SeatSymbol, STATE_WORDS } from './symbols.tsx';

/** The id of a seat's element. */
export function idOf({ id }: DrawnLocality, number: number): string {
  return `seat-${id}-${number}`;
}

/** Shapes, names and seats of the plan, rendered again only where a seat's state changes or it is picked. */
export function useDrawnSeats(locality: DrawnLocality, taken: SeatStates, picked: ReadonlySet<string>, isFar: boolean) {
  const { plan, names, seats } = locality;
  const drawn = useMemo(() => new Map<string, { readonly drawnAs: string; readonly vnode: VNode }>(), [locality]);
  const hall = useMemo(
    () => (
      <>
        {plan.shapes.map((shape, index) => (
          <HallShape key={index} shape={shape} size={plan.radius * 2} />
        ))}
        {names.map(({ text, x, y, of }, index) => (
          <text
            key={index}
            class={`name-of-${of}`}
            x={x}
            y={y}
            font-size={plan.radius * (of === 'section' ? 2.4 : 1.5)}
            data-name={index}
            aria-hidden="true"
          >
            {text}
          </text>
        ))}
      </>
    ),
    [locality],
  );
  return useMemo(
    () => (
      <>
        {hall}
        {seats.map((seat) => {
          const [state, isPicked] = [taken.get(seat.id) ?? 'AVAILABLE', picked.has(seat.id)];
          const drawnAs = `${state} ${isPicked} ${isFar}`;
          const before = drawn.get(seat.id);
          if (before?.drawnAs === drawnAs) return before.vnode;
          const vnode = (
            <Seat
              key={seat.id}
              id={idOf(locality, seat.number)}
              seat={seat}
              radius={plan.radius}
              state={state}
              isPicked={isPicked}
              isFar={isFar}
            />
          );
          drawn.set(seat.id, { drawnAs, vnode });
          return vnode;
        })}
      </>
    ),
    [locality, taken, picked, isFar],
  );
}

interface SeatProps {
  readonly id: string;
  readonly seat: DrawnSeat;
  readonly radius: number;
  readonly state: SeatState;
  readonly isPicked: boolean;
  readonly isFar: boolean;
}

function Seat({ id, seat, radius, state, isPicked, isFar }: SeatProps) {
  const isTaken = state === 'HELD' || state === 'SOLD';
  return (
    <g
      id={id}
      class={seatClass(state, seat.category, isPicked)}
      data-seat={seat.id}
      data-number={seat.number}
      data-state={state}
      role="option"
      aria-selected={isPicked}
      aria-disabled={isTaken || undefined}
      aria-label={wordsOf(seat, state)}
    >
      <SeatSymbol
        x={seat.x}
        y={seat.y}
        radius={radius}
        state={state}
        isPicked={isPicked}
        letter={isFar ? null : (seat.category?.letter ?? null)}
        accessible={seat.accessible}
        restricted={seat.restricted_view}
      />
    </g>
  );
}

export function wordsOf(
  { name, category, accessible, restricted_view: restricted }: DrawnSeat,
  state: SeatState,
): string {
  const kinds = [category?.name, accessible && 'wheelchair place', restricted && 'restricted view', STATE_WORDS[state]];
  return [name, ...kinds.filter((kind) => typeof kind === 'string')].join(', ');
}

export function Ring({ seat: { x, y }, radius: r }: { readonly seat: DrawnSeat; readonly radius: number }) {
  return <rect class="ring" x={x - r} y={y - r} width={r * 2} height={r * 2} rx={r * 0.4} stroke-width={r * 0.2} />;
}
