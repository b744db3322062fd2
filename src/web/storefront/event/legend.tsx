/** The legend of a plan, and what leads to its zones and blocks. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { EventPayload, TicketAvailability } from '#client/bodies.ts';
import { rangeText, type SeatAppearances } from '../../seat-choice/appearances.ts';
import { ACCESSIBLE, RESTRICTED, typesToFind, type SeatFilter } from '../../seat-choice/filter.ts';
import { rowFor, typesForSeat } from '../../seat-choice/picked.ts';
import { seatWords, texts } from '../app/language.ts';
import { Swatch } from '../../seat-map/symbols.tsx';
import type { Colours } from '../../seat-map/colours.ts';
import type { SeatPlan } from '../../seat-map/plan.ts';

interface LegendProps {
  readonly plan: SeatPlan;
  readonly event: EventPayload;
  readonly rows: readonly TicketAvailability[];
  readonly localityId: string;
  readonly colours: Colours;
  readonly seats: Pick<SeatAppearances, 'summaries' | 'typesBySeat'>;
  readonly filter: SeatFilter;
  readonly onFilter: (filter: SeatFilter) => void;
  readonly onBlock: (block: number) => void;
}

export function Legend(props: LegendProps) {
  const { plan, colours } = props;
  const t = texts.plan.legend;
  const fill = colours.zones[0]?.fill;
  return (
    <div class="legends">
      <Zones {...props} />
      <Kinds {...props} />
      {plan.isByBlock && <Blocks {...props} />}
      <ul class="legend" aria-label={t.seats}>
        {(['free', 'chosen', 'mine', 'held', 'sold', 'blocked'] as const).map((state) => (
          <li key={state}>
            <Swatch symbol={state} fill={fill} /> {t[state]}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The price categories; pressing one shows where it is. */
function Zones({ plan, event, rows, localityId, colours, filter, onFilter }: LegendProps) {
  const priceOf = (key: string): string => {
    const types = typesForSeat(event.ticketTypes, rows, { locality: localityId, zone: key, accessible: false });
    const prices = types.filter((type) => type.group_size === 1).map((type) => rowFor(rows, type.id)!.price);
    if (prices.length === 0) return '';
    return rangeText(seatWords, { low: Math.min(...prices), high: Math.max(...prices) }, event.currency);
  };
  if (plan.zones.length < 2) return null;
  return (
    <ul class="legend" aria-label={texts.plan.legend.prices}>
      {plan.zones.map(({ key, name }, index) => (
        <li key={key}>
          <Chip
            isPressed={filter.zone === index}
            onPress={(isPressed) => onFilter({ ...filter, zone: isPressed ? index : null })}
          >
            <Swatch symbol="free" fill={colours.zones[index]?.fill} /> {name} <b>{priceOf(key)}</b>
          </Chip>
        </li>
      ))}
    </ul>
  );
}

/** What is special about some seats, and the ticket types of some; pressing one shows where they are. */
function Kinds({ plan, seats, colours, filter, onFilter }: LegendProps) {
  const t = texts.plan.legend;
  const kinds = useMemo(
    () => [
      ...(plan.seats.some(({ accessible }) => accessible)
        ? [{ kind: ACCESSIBLE, name: t.wheelchair, symbol: 'free-accessible' }]
        : []),
      ...(plan.seats.some((seat) => seat.restricted_view)
        ? [{ kind: RESTRICTED, name: t.restricted, symbol: 'free-restricted' }]
        : []),
      ...typesToFind(plan, seats.typesBySeat).map(({ id, name }) => ({ kind: id, name, symbol: null })),
    ],
    [plan, seats.typesBySeat],
  );
  if (kinds.length === 0) return null;
  return (
    <ul class="legend" aria-label={t.kinds}>
      {kinds.map(({ kind, name, symbol }) => (
        <li key={kind}>
          <Chip
            isPressed={filter.kind === kind}
            onPress={(isPressed) => onFilter({ ...filter, kind: isPressed ? kind : null })}
          >
            {symbol !== null && <Swatch symbol={symbol} fill={colours.zones[0]?.fill} />} {name}
          </Chip>
        </li>
      ))}
    </ul>
  );
}

interface ChipProps {
  readonly isPressed: boolean;
  readonly onPress: (isPressed: boolean) => void;
  readonly children: ComponentChildren;
}

/** A part of the legend that shows where it is; a second press ends that. */
function Chip({ isPressed, onPress, children }: ChipProps) {
  return (
    <button type="button" class="legend-zone" aria-pressed={isPressed} onClick={() => onPress(!isPressed)}>
      {children}
    </button>
  );
}

/** A list of the blocks with what is left in them. Pressing one shows it on the plan. */
function Blocks({ plan, seats: { summaries }, colours, onBlock }: LegendProps) {
  return (
    <ul class="legend block-list" aria-label={texts.plan.legend.blocks} tabIndex={0}>
      {plan.blocks.map(({ name }, block) => (
        <li key={block}>
          <button type="button" class="legend-zone" onClick={() => onBlock(block)}>
            <b>{name}</b> {summaries[block]!.price} <span class="quiet">{summaries[block]!.free}</span>
            {summaries[block]!.accessible !== '' && (
              <span class="quiet legend-places">
                <Swatch symbol="free-accessible" fill={colours.zones[summaries[block]!.zone]?.fill} />
                {summaries[block]!.accessible}
              </span>
            )}
          </button>
        </li>
      ))}
    </ul>
  );
}
