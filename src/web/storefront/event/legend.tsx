/**
 * The legend of a plan, and what leads to its zones and blocks. Seats are drawn as on the plan (`draw-seat.ts`), each
 * in a square of 20: filled when free, striped when held, a dot when sold, a cross when blocked, a check when the
 * buyer's own: framed while only chosen, filled when held. A wheel marks accessible seats, a cut corner a restricted
 * view.
 */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { EventPayload, TicketAvailability } from '#client/bodies.ts';
import { rangeText, type SeatAppearances } from '../../seat-choice/appearances.ts';
import { ACCESSIBLE, RESTRICTED, typesToFind, type SeatFilter } from '../../seat-choice/filter.ts';
import { rowFor, typesForSeat } from '../../seat-choice/picked.ts';
import { seatWords } from '../app/format.ts';
import { texts } from '../app/language.ts';
import type { Colours } from '../../seat-map/colours.ts';
import type { SeatPlan } from '../../seat-map/plan.ts';

export function SeatSymbols() {
  return (
    <svg class="symbols" width="0" height="0" aria-hidden="true">
      <defs>
        <symbol id="seat-free" viewBox="0 0 20 20">
          <rect class="s-fill" x="1" y="1" width="18" height="18" rx="5" />
        </symbol>
        <symbol id="seat-free-accessible" viewBox="0 0 20 20">
          <rect class="s-fill" x="1" y="1" width="18" height="18" rx="5" />
          <circle class="s-mark" cx="9.2" cy="12.4" r="3.9" />
          <path class="s-mark" d="M9.4 6.200v4.600h3.600l2.200 4h1.400" />
          <circle class="s-dot" cx="9.4" cy="4.300" r="1.500" />
        </symbol>
        <symbol id="seat-free-restricted" viewBox="0 0 20 20">
          <path class="s-fill" d="M6 1h8a5 5 0 0 1 5 5v8a5 5 0 0 1-5 5H10L1 10V6a5 5 0 0 1 5-5z" />
        </symbol>
        <symbol id="seat-mine" viewBox="0 0 20 20">
          <rect class="s-own" width="20" height="20" rx="6" />
          <path class="s-check" d="M5.200 10.400l3.300 3.300 6.500-7" />
        </symbol>
        <symbol id="seat-chosen" viewBox="0 0 20 20">
          <rect class="s-chosen" x="1.500" y="1.500" width="17" height="17" rx="5" />
          <path class="s-check" d="M5.200 10.400l3.300 3.300 6.500-7" />
        </symbol>
        <symbol id="seat-held" viewBox="0 0 20 20">
          <rect class="s-line" x="2" y="2" width="16" height="16" rx="4.500" />
          <path class="s-line" d="M3.500 12.500l9-9M5 17L17 5M9.500 17.500l8-8" />
        </symbol>
        <symbol id="seat-sold" viewBox="0 0 20 20">
          <circle class="s-gone" cx="10" cy="10" r="4" />
        </symbol>
        <symbol id="seat-blocked" viewBox="0 0 20 20">
          <path class="s-cross" d="M6 6l8 8M14 6l-8 8" />
        </symbol>
      </defs>
    </svg>
  );
}

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

/** A part of the legend that shows where it is; pressed again it does so no more. */
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

function Swatch({ symbol, fill }: { readonly symbol: string; readonly fill?: string | undefined }) {
  return (
    <svg class="swatch" width="18" height="18" viewBox="0 0 20 20" aria-hidden="true" style={{ '--hue': fill }}>
      <use href={`#seat-${symbol}`} width="20" height="20" />
    </svg>
  );
}
