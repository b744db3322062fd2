/**
 * What the symbols of a plan mean: categories with their numbers of seats, states, and kinds of places that the plan
 * has.
 */
import type { SeatState } from '#client/bodies.ts';
import { number } from '../app/format.ts';
import type { Category, DrawnLocality } from './states.ts';
import { seatClass, SeatSymbol, STATE_WORDS } from './symbols.tsx';

interface SwatchProps {
  readonly state?: SeatState;
  readonly category?: Category | null;
  readonly isPicked?: boolean;
  readonly accessible?: boolean;
  readonly restricted?: boolean;
}

function Swatch({
  state = 'AVAILABLE',
  category = null,
  isPicked = false,
  accessible = false,
  restricted = false,
}: SwatchProps) {
  return (
    <svg class="swatch" viewBox="-10 -10 20 20" width="18" height="18" aria-hidden="true">
      <g class={seatClass(state, category, isPicked)}>
        <SeatSymbol
          x={0}
          y={0}
          radius={8}
          state={state}
          isPicked={isPicked}
          letter={category?.letter ?? null}
          accessible={accessible}
          restricted={restricted}
        />
      </g>
    </svg>
  );
}

export function SeatLegend({ locality: { categories, seats } }: { readonly locality: DrawnLocality }) {
  const countIn = (category: Category): number => seats.filter((seat) => seat.category === category).length;
  const accessible = seats.filter((seat) => seat.accessible).length;
  const restricted = seats.filter((seat) => seat.restricted_view).length;
  return (
    <ul class="seat-legend" aria-label="What the seats mean">
      {categories.map((category) => (
        <li key={category.letter}>
          <Swatch category={category} /> {category.name} <span class="quiet number">{number(countIn(category))}</span>
        </li>
      ))}
      {(['AVAILABLE', 'HELD', 'SOLD', 'BLOCKED'] as const).map((state) => (
        <li key={state}>
          <Swatch state={state} /> {STATE_WORDS[state]}
        </li>
      ))}
      <li>
        <Swatch isPicked /> picked
      </li>
      {accessible > 0 && (
        <li>
          <Swatch accessible /> wheelchair place <span class="quiet number">{number(accessible)}</span>
        </li>
      )}
      {restricted > 0 && (
        <li>
          <Swatch restricted /> restricted view <span class="quiet number">{number(restricted)}</span>
        </li>
      )}
    </ul>
  );
}
