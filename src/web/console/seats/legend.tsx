/** What the symbols of a plan mean: categories with their numbers of seats, states, and kinds of places that it has. */
import type { Colours } from '../../seat-map/colours.ts';
import { Swatch } from '../../seat-map/symbols.tsx';
import { number } from '../app/format.ts';
import type { PlannedLocality } from './states.ts';

interface LegendProps {
  readonly locality: PlannedLocality;
  readonly colours: Colours;
}

export function SeatLegend({ locality: { plan }, colours }: LegendProps) {
  const fill = colours.zones[0]?.fill;
  const accessible = plan.seats.filter((seat) => seat.accessible).length;
  const restricted = plan.seats.filter((seat) => seat.restricted_view).length;
  return (
    <ul class="seat-legend" aria-label="What the seats mean">
      {plan.zones.length > 1 &&
        plan.zones.map(({ key, name }, zone) => (
          <li key={key}>
            <Swatch symbol="free" fill={colours.zones[zone]?.fill} /> {name}{' '}
            <span class="quiet number">{number(plan.zoneOf.filter((each) => each === zone).length)}</span>
          </li>
        ))}
      {(['free', 'held', 'sold', 'blocked'] as const).map((symbol) => (
        <li key={symbol}>
          <Swatch symbol={symbol} fill={fill} /> {symbol}
        </li>
      ))}
      <li>
        <Swatch symbol="chosen" /> picked
      </li>
      {accessible > 0 && (
        <li>
          <Swatch symbol="free-accessible" fill={fill} /> wheelchair place{' '}
          <span class="quiet number">{number(accessible)}</span>
        </li>
      )}
      {restricted > 0 && (
        <li>
          <Swatch symbol="free-restricted" fill={fill} /> restricted view{' '}
          <span class="quiet number">{number(restricted)}</span>
        </li>
      )}
    </ul>
  );
}
