/** The plan of a locality, each seat in its state; told apart by mark as well as by colour. */
import { useRef, useState } from 'preact/hooks';
import type { DrawnLocality, DrawnSeat, SeatState } from '../seats.ts';

interface SeatPlanProps {
  readonly locality: DrawnLocality;
  readonly taken: ReadonlyMap<string, SeatState>;
  readonly picked: ReadonlySet<string>;
  readonly onToggle: (ids: readonly string[], isPicked: boolean) => void;
}

const ZOOMS = [1, 1.6, 2.5, 4] as const;
const WORDS = { AVAILABLE: 'free', HELD: 'held', SOLD: 'sold', BLOCKED: 'blocked' } as const;

export function SeatPlan({ locality, taken, picked, onToggle }: SeatPlanProps) {
  const [zoom, setZoom] = useState(0);
  const [pointed, setPointed] = useState<DrawnSeat | null>(null);
  const last = useRef<string | null>(null);
  const { box, radius, seats, names, name } = locality;
  const seatById = new Map(seats.map((seat) => [seat.id, seat]));
  const stateOf = (id: string): SeatState => taken.get(id) ?? 'AVAILABLE';

  const seatUnder = (pointer: MouseEvent): DrawnSeat | null =>
    seatById.get((pointer.target as Element).closest('[data-seat]')?.getAttribute('data-seat') ?? '') ?? null;
  const click = (pointer: MouseEvent): void => {
    const seat = seatUnder(pointer);
    if (seat === null) return;
    const isPicked = !picked.has(seat.id);
    onToggle(pointer.shiftKey ? stretch(seat, last.current) : [seat.id], isPicked);
    last.current = seat.id;
  };

  return (
    <section class="card plan">
      <div class="heading">
        <h3>{name}</h3>
        <span role="group" aria-label="Zoom">
          <button
            type="button"
            class="button plain"
            aria-label="Zoom out"
            disabled={zoom === 0}
            onClick={() => setZoom(zoom - 1)}
          >
            −
          </button>
          <button
            type="button"
            class="button plain"
            aria-label="Zoom in"
            disabled={zoom === ZOOMS.length - 1}
            onClick={() => setZoom(zoom + 1)}
          >
            +
          </button>
        </span>
      </div>
      <div class="plan-frame">
        <svg
          viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
          width={`${ZOOMS[zoom]! * 100}%`}
          role="group"
          aria-label={`Seats of ${name}`}
          onClick={click}
          onPointerMove={(pointer) => setPointed(seatUnder(pointer))}
          onPointerLeave={() => setPointed(null)}
        >
          {names.map(({ text, x, y, of }, index) => (
            <text key={index} class={`name-of-${of}`} x={x} y={y} font-size={radius * (of === 'section' ? 2.4 : 1.5)}>
              {text}
            </text>
          ))}
          {seats.map((seat) => (
            <Seat key={seat.id} seat={seat} radius={radius} state={stateOf(seat.id)} isPicked={picked.has(seat.id)} />
          ))}
        </svg>
      </div>
      <p class="small readout">
        {pointed === null ? (
          <span class="quiet">Point at a seat to read it.</span>
        ) : (
          <>
            {pointed.name} · {WORDS[stateOf(pointed.id)]} · <code>{pointed.id}</code>
          </>
        )}
      </p>
    </section>
  );
}

/** The seats from the one clicked before up to this one, where both are of one row. */
function stretch(seat: DrawnSeat, before: string | null): readonly string[] {
  const [a, b] = [before === null ? -1 : seat.row.indexOf(before), seat.row.indexOf(seat.id)];
  return a === -1 ? [seat.id] : seat.row.slice(Math.min(a, b), Math.max(a, b) + 1);
}

interface SeatProps {
  readonly seat: DrawnSeat;
  readonly radius: number;
  readonly state: SeatState;
  readonly isPicked: boolean;
}

function Seat({ seat: { id, x, y, name }, radius: r, state, isPicked }: SeatProps) {
  const arm = r * 0.5;
  return (
    <g
      class={`seat ${state}${isPicked ? ' picked' : ''}`}
      data-seat={id}
      data-state={state}
      aria-label={`${name}, ${WORDS[state]}${isPicked ? ', picked' : ''}`}
    >
      <rect x={x - r} y={y - r} width={r * 2} height={r * 2} rx={r * 0.45} stroke-width={r * 0.24} />
      {state === 'BLOCKED' && (
        <path
          class="mark"
          d={`M${x - arm} ${y - arm}l${arm * 2} ${arm * 2}m0 ${-arm * 2}l${-arm * 2} ${arm * 2}`}
          stroke-width={r * 0.26}
        />
      )}
      {state === 'HELD' && <circle class="mark" cx={x} cy={y} r={arm * 0.8} stroke-width={r * 0.26} />}
    </g>
  );
}
