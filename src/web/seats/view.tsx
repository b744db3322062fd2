/** What the element shows: the areas, what the organizer says, and the plan from which seats are chosen. */
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { useEscape } from '../hooks.ts';
import { Areas, ChoiceMap } from '../seat-choice/choice.tsx';
import { useSeatAppearances } from '../seat-choice/appearances.ts';
import { ALL_SEATS } from '../seat-choice/filter.ts';
import type { PickedSeat } from '../seat-choice/picked.ts';
import { knownSeats, type SeatWords } from '../seat-choice/words.ts';
import { SteeringNotice } from '../seat-choice/steering.tsx';
import { useColours } from '../seat-map/colours.ts';
import { planOf } from '../seat-map/plan.ts';
import type { ShownSale } from './follow.ts';

interface SeatsViewProps {
  readonly words: SeatWords;
  readonly sale: ShownSale;
  readonly picked: readonly PickedSeat[];
  /** The seats of the buyer's own hold. */
  readonly own: ReadonlySet<string>;
  /** The element, whose style has the colours. */
  readonly host: HTMLElement;
  readonly onPick: (seats: readonly PickedSeat[]) => void;
}

export function SeatsView({ words, sale, picked, own, host, onPick }: SeatsViewProps) {
  const { event, seating, rows, states, steering } = sale;
  const [shown, setShown] = useState(0);
  const [isFull, setFull] = useState(false);
  const locality = seating.localities[shown] ?? seating.localities[0]!;
  const plan = useMemo(() => planOf(locality), [locality]);
  const colours = useColours(plan, host);
  const register = useMemo(() => knownSeats(words, seating), [words, seating]);
  const pickedIds = useMemo(() => new Set(picked.map(({ seatId }) => seatId)), [picked]);
  const seats = useSeatAppearances(words, { event, rows, states, own }, plan, locality.id, pickedIds, ALL_SEATS);
  useFilledWindow(isFull, setFull);
  return (
    <div class="picker" lang={words.language}>
      <Areas {...{ words, seating, shown }} onShow={setShown} />
      {steering !== null && (
        <div part="steering">
          <SteeringNotice words={words} steering={steering} hasHold={own.size > 0} />
        </div>
      )}
      <div class={`map-area${isFull ? ' full' : ''}`}>
        <ChoiceMap
          {...{ words, event, rows, plan, colours, seats, picked, register, onPick, isFull }}
          key={locality.id}
          name={locality.name}
          kind={null}
          goal={null}
          onFull={setFull}
        />
      </div>
    </div>
  );
}

/** While the plan fills the window the page under it does not scroll; Escape closes it. */
function useFilledWindow(isFull: boolean, onFull: (isFull: boolean) => void): void {
  useEscape(isFull, () => onFull(false));
  useLayoutEffect(() => {
    if (!isFull) return;
    const { style } = document.documentElement;
    const before = style.overflow;
    style.overflow = 'hidden';
    return () => {
      style.overflow = before;
    };
  }, [isFull]);
}
