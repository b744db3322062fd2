/** The plan of a locality. The state of a seat shows in its mark as well as in its colour. */
import { useRef, useState } from 'preact/hooks';
import type { SeatState } from '#client/bodies.ts';
import type { SeatStates } from '#client/live.ts';
import type { DrawnLocality, DrawnSeat } from '../seats.ts';

interface SeatPlanProps {
  readonly locality: DrawnLocality;
  readonly taken: SeatStates;
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
  const onClick = (pointer: MouseEvent): void => {
    const seat = seatUnder(pointer);
    if (seat === null) return;
    onToggle(pointer.shiftKey ? stretch(seat, last.current) : [seat.id], !picked.has(seat.id));
    last.current = seat.id;
  };

  return (
    <section class="card plan">
      <div class="heading">
        <h3>{name}</h3>
        <ZoomButtons zoom={zoom} setZoom={setZoom} />
      </div>
      <div class="plan-frame">
        <svg
          viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
          width={`${ZOOMS[zoom]! * 100}%`}
          role="group"
          aria-label={`Seats of ${name}`}
          onClick={onClick}
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

interface ZoomButtonsProps {
  /** The index of the zoom in `ZOOMS`. */
  readonly zoom: number;
  readonly setZoom: (zoom: number) => void;
}

function ZoomButtons({ zoom, setZoom }: ZoomButtonsProps) {
  const button = (name: string, sign: string, next: number) => (
    <button
      type="button"
      class="button plain"
      aria-label={name}
      disabled={ZOOMS[next] === undefined}
      onClick={() => setZoom(next)}
    >
      {sign}
    </button>
  );
  return (
    <span role="group" aria-label="Zoom">
      {button('Zoom out', '−', zoom - 1)}
      {button('Zoom in', '+', zoom + 1)}
    </span>
  );
}

/** The seats of a row from the one clicked before to this one; this one alone when they are in different rows. */
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
