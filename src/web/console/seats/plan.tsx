/**
 * The plan of a locality, of which operators pick many seats: the shop's plan with rectangles.
 *
 *  1. A rectangle replaces what was picked; with Shift it adds to it. Shift with an arrow key draws one from the seat
 *     where Shift was pressed first. A mouse always draws; a finger where that is switched on.
 *  2. A press on the name of a row picks its seats; with Shift, a press picks those of the row from the one before.
 */
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { SeatState } from '#client/bodies.ts';
import type { SeatStates } from '#client/live.ts';
import { distance, seatsBetween } from '#client/seat-layout.ts';
import { plan as planTexts } from '#texts/en/plan.ts';
import type { Appearance } from '../../seat-map/draw-plan.ts';
import { useColours } from '../../seat-map/colours.ts';
import type { SeatPlan } from '../../seat-map/plan.ts';
import { SeatMap, type PickingMany } from '../../seat-map/seat-map.tsx';
import { countOf, number } from '../app/format.ts';
import { SeatLegend } from './legend.tsx';
import { STATE_WORDS, type PlannedLocality } from './states.ts';

interface PlanProps {
  readonly locality: PlannedLocality;
  readonly taken: SeatStates;
  readonly picked: ReadonlySet<string>;
  /** Picks seats, or takes them back. */
  readonly onToggle: (ids: readonly string[], isPicked: boolean) => void;
  /** Picks these seats beside those of `base`, and no others. */
  readonly onSelect: (ids: readonly string[], base: ReadonlySet<string>) => void;
}

const NONE: ReadonlySet<string> = new Set();
const NAME_REACH_RADII = 1.6;
const APPEARANCES = { AVAILABLE: 'free', HELD: 'held', SOLD: 'sold', BLOCKED: 'blocked' } as const;
const WORDS = {
  ...planTexts,
  help: { ...planTexts.help, seats: 'Press seats, or draw a rectangle around them.' },
};

export function PickedPlan(props: PlanProps) {
  const { locality, taken, picked, onToggle } = props;
  const { plan, name } = locality;
  const [isDrawing, setDrawing] = useState(false);
  const [within, setWithin] = useState<readonly number[] | null>(null);
  const colours = useColours(plan);
  const shown = useShownSeats(props);
  const { handlers, picking, toggle } = usePicking(props, isDrawing, setWithin);
  return (
    <section class="card">
      <div class="heading">
        <h2>{name}</h2>
        <button
          type="button"
          class="button plain small-button for-touch"
          aria-pressed={isDrawing}
          onClick={() => setDrawing(!isDrawing)}
        >
          Draw rectangle
        </button>
      </div>
      <SeatLegend locality={locality} colours={colours} />
      <div class={`map-area${isDrawing ? ' drawing' : ''}`} {...handlers}>
        <SeatMap
          words={WORDS}
          {...{ plan, colours, name, picking, ...shown }}
          seatCard={(seat) => ({ isActive: false, body: <Card {...{ plan, seat, taken }} /> })}
          onToggle={toggle}
          closeTo={null}
          isBack={null}
          isFull={false}
          onFull={() => {}}
        />
      </div>
      <p class="small readout" role="status">
        {within !== null && rectangleInWords(plan, within, taken)}
      </p>
      <Sections plan={plan} picked={picked} onToggle={onToggle} />
    </section>
  );
}

/** How seats and blocks look and read. */
function useShownSeats({ locality: { plan }, taken, picked }: PlanProps) {
  const appearances = useMemo(
    () =>
      plan.seats.map(({ id }): Appearance => (picked.has(id) ? 'chosen' : APPEARANCES[taken.get(id) ?? 'AVAILABLE'])),
    [plan, taken, picked],
  );
  const summaries = useMemo(
    () =>
      plan.blocks.map(({ seats }) => {
        const free = seats.filter((seat) => !taken.has(plan.seats[seat]!.id)).length;
        const zone = plan.zoneOf[seats[0]!]!;
        const words = { price: '', shortPrice: '', accessible: '', free: `${number(free)} free` };
        return { ...words, zone, isFull: free === 0, isBack: false };
      }),
    [plan, taken],
  );
  const describe = useCallback(
    (seat: number) => wordsOf(plan, seat, taken.get(plan.seats[seat]!.id) ?? 'AVAILABLE'),
    [plan, taken],
  );
  const describeBlock = useCallback(
    (block: number) => `${plan.blocks[block]!.name}, ${summaries[block]!.free}`,
    [plan, summaries],
  );
  return { appearances, summaries, describe, describeBlock };
}

/** What pointer and keyboard pick: the handlers around the plan, and those that it calls. */
function usePicking(
  { locality: { plan }, picked, onToggle, onSelect }: PlanProps,
  isForFingers: boolean,
  onDraw: (seats: readonly number[] | null) => void,
) {
  const pointed = useRef<number | null>(null);
  const last = useRef<number | null>(null);
  const isShift = useRef(false);
  /** The seat that was pointed at before a key, and the one where Shift was pressed first with what was picked then. */
  const before = useRef<number | null>(null);
  const anchor = useRef<{ readonly seat: number; readonly base: ReadonlySet<string> } | null>(null);
  const idsOf = (seats: readonly number[]): readonly string[] => seats.map((seat) => plan.seats[seat]!.id);
  const toggle = (seat: number): void => {
    const seats = isShift.current ? stretch(plan, seat, last.current) : [seat];
    onToggle(idsOf(seats), !picked.has(plan.seats[seat]!.id));
    last.current = seat;
  };
  const onKeyDown = (key: KeyboardEvent): void => {
    if ((key.ctrlKey || key.metaKey) && key.key.toLowerCase() === 'a') onSelect(idsOf([...plan.seats.keys()]), NONE);
    else if (key.key === 'Escape') onSelect([], NONE);
    else if (key.shiftKey && key.key.startsWith('Arrow') && pointed.current !== null) {
      anchor.current ??= { seat: before.current ?? pointed.current, base: picked };
      const { seat, base } = anchor.current;
      return onSelect(idsOf(seatsBetween(plan, seat, pointed.current)), base);
    } else {
      if (key.key !== 'Shift') anchor.current = null;
      return;
    }
    key.preventDefault();
  };
  const picking: PickingMany = {
    isForFingers,
    onDraw,
    onRectangle: (seats, isAdded) => onSelect(idsOf(seats), isAdded ? picked : NONE),
    onPoint: (seat) => {
      pointed.current = seat;
    },
    onPlace(at) {
      const found = plan.rowNames.find((each) => distance(each, at) <= plan.radius * NAME_REACH_RADII);
      if (found === undefined) return;
      const ids = idsOf(plan.rows[found.row]!);
      onToggle(ids, !ids.every((id) => picked.has(id)));
    },
  };
  const note = ({ shiftKey }: MouseEvent | KeyboardEvent): void => {
    isShift.current = shiftKey;
    before.current = pointed.current;
  };
  return { toggle, picking, handlers: { onPointerUpCapture: note, onKeyDownCapture: note, onKeyDown } };
}

/** The seats of a row from the one pressed before to this one; this one alone when they are in different rows. */
function stretch({ rows, rowOf }: SeatPlan, seat: number, before: number | null): readonly number[] {
  const row = rows[rowOf[seat]!]!;
  const [a, b] = [before === null ? -1 : row.indexOf(before), row.indexOf(seat)];
  return a === -1 ? [seat] : row.slice(Math.min(a, b), Math.max(a, b) + 1);
}

function wordsOf(plan: SeatPlan, number: number, state: SeatState): string {
  const { accessible, restricted_view: restricted, seat_label: label } = plan.seats[number]!;
  return [
    plan.sectionNames[number],
    `row ${plan.rowLabels[number]}`,
    `seat ${label}`,
    plan.zones.length > 1 && plan.zones[plan.zoneOf[number]!]!.name,
    accessible && 'wheelchair place',
    restricted && 'restricted view',
    STATE_WORDS[state],
  ]
    .filter((part) => typeof part === 'string')
    .join(', ');
}

function rectangleInWords(plan: SeatPlan, within: readonly number[], taken: SeatStates): string {
  const states = within.map((seat) => taken.get(plan.seats[seat]!.id) ?? 'AVAILABLE');
  const count = (wanted: SeatState): string => number(states.filter((state) => state === wanted).length);
  return `${countOf(within.length, 'seat')} in the rectangle: ${count('AVAILABLE')} free, ${count('BLOCKED')} blocked`;
}

interface CardProps {
  readonly plan: SeatPlan;
  readonly seat: number;
  readonly taken: SeatStates;
}

function Card({ plan, seat, taken }: CardProps) {
  const { id } = plan.seats[seat]!;
  return (
    <p class="card-title">
      {wordsOf(plan, seat, taken.get(id) ?? 'AVAILABLE')} · <code>{id}</code>
    </p>
  );
}

/** Whole sections, to be picked or taken back at once. */
function Sections({ plan, picked, onToggle }: Pick<PlanProps, 'picked' | 'onToggle'> & { readonly plan: SeatPlan }) {
  if (plan.blocks.length < 2) return null;
  return (
    <details>
      <summary>Pick whole sections</summary>
      <div class="plan-sections">
        {plan.blocks.map(({ name, seats }) => {
          const ids = seats.map((seat) => plan.seats[seat]!.id);
          const isPicked = ids.every((id) => picked.has(id));
          return (
            <button type="button" class="button plain small-button" onClick={() => onToggle(ids, !isPicked)}>
              {name}
            </button>
          );
        })}
      </div>
    </details>
  );
}
