/**
 * Choosing numbered seats: the best ones found by the service, or picked on the plan.
 *
 * Owns what is shown of the plan and what is asked; what is picked belongs to the page.
 */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { EventPayload, SeatedLocality, Seating, TicketAvailability } from '#client/bodies.ts';
import type { SeatStates } from '#client/live.ts';
import { boxAround, grown } from '#client/seat-layout.ts';
import { seatWords, texts } from '../app/language.ts';
import { usePainted } from '../../hooks.ts';
import { announce, Loading } from '../parts/controls.tsx';
import { useFullScreen } from '../parts/full-screen.ts';
import { useColours, type Colours } from '../../seat-map/colours.ts';
import { Legend } from './legend.tsx';
import { SeatSymbols } from '../../seat-map/symbols.tsx';
import { planOf, type SeatPlan } from '../../seat-map/plan.ts';
import { aroundBlock } from '../../seat-map/moves.ts';
import type { Goal } from '../../seat-map/seat-map.tsx';
import { BestSeats } from './best-seats.tsx';
import { LoneSeats } from './lone-seats.tsx';
import { Areas, ChoiceMap } from '../../seat-choice/choice.tsx';
import { useSeatAppearances, type SeatAppearances } from '../../seat-choice/appearances.ts';
import { ALL_SEATS, isBackOf, type SeatFilter } from '../../seat-choice/filter.ts';
import { seatsInWords } from './seat-register.tsx';
import type { KnownSeats } from '../../seat-choice/words.ts';
import { SeatsTaken } from './seats-taken.tsx';
import { pickedAs, type PickedSeat } from '../../seat-choice/picked.ts';

interface SeatPickerProps {
  readonly event: EventPayload;
  readonly seating: Seating;
  readonly performanceId: string;
  readonly rows: readonly TicketAvailability[];
  /** The seats that are not free for the public. */
  readonly states: SeatStates;
  readonly picked: readonly PickedSeat[];
  /** Seats of the buyer's own hold, picked or not. */
  readonly own: ReadonlySet<string>;
  /** Picked seats that somebody else took. */
  readonly lost: readonly PickedSeat[];
  readonly register: KnownSeats;
  /** Whether the plan fills the screen. */
  readonly isFull: boolean;
  readonly onFull: (isFull: boolean) => void;
  readonly onPick: (seats: readonly PickedSeat[]) => void;
  readonly onLostSeen: () => void;
}

/** Space around seats that are shown closely, in plan units. */
const CLOSE_MARGIN = 60;

export function SeatPicker(props: SeatPickerProps) {
  const isPainted = usePainted(() => keptPlanOf(props.seating.localities[0]!));
  return isPainted ? <Picker {...props} /> : <Loading what={texts.event.loadingPlan} />;
}

const plans = new WeakMap<SeatedLocality, SeatPlan>();

function keptPlanOf(locality: SeatedLocality): SeatPlan {
  const plan = plans.get(locality) ?? planOf(locality);
  plans.set(locality, plan);
  return plan;
}

function Picker(props: SeatPickerProps) {
  const { event, seating, performanceId, rows, picked } = props;
  const [localityIndex, setLocality] = useState(0);
  const [goal, setGoal] = useState<Goal | null>(null);
  const [filter, setFilter] = useState(ALL_SEATS);
  const [kind, setKind] = useState<string | null>(null);
  const locality = seating.localities[localityIndex] ?? seating.localities[0]!;
  const plan = keptPlanOf(locality);
  // What stands below the plan comes after it.
  const isPainted = usePainted();
  const colours = useColours(plan);
  const pickedIds = useMemo(() => new Set(picked.map(({ seatId }) => seatId)), [picked]);
  const seats = useSeatAppearances(seatWords, props, plan, locality.id, pickedIds, filter);
  const showSeats = (ids: readonly string[]): void => {
    const shown = ids.flatMap((id) => plan.seats[plan.numberById.get(id) ?? -1] ?? []);
    if (shown.length > 0) setGoal({ box: grown(boxAround(shown), CLOSE_MARGIN), isNear: true });
  };
  const { standing, addBest } = useBestSeats(props, showSeats);
  const find = (next: SeatFilter): void => {
    setFilter(next);
    const isBack = isBackOf(plan, seats.typesBySeat, next);
    const found = isBack === null ? [] : plan.seats.filter((_, seat) => !isBack[seat]);
    setGoal({ box: found.length > 0 ? boxAround(found) : plan.box, isNear: false });
  };

  return (
    <div class="picker">
      <SeatSymbols />
      <Areas
        words={seatWords}
        seating={seating}
        shown={localityIndex}
        onShow={(index) => {
          setLocality(index);
          setFilter(ALL_SEATS);
        }}
      />
      <BestSeats
        event={event}
        performanceId={performanceId}
        rows={rows}
        localityId={locality.id}
        kind={kind}
        onKind={setKind}
        standing={standing}
        onSeats={addBest}
      />
      <PlanMap {...props} {...{ plan, colours, seats, goal, kind, showSeats }} name={locality.name} />
      {isPainted && (
        <Legend
          plan={plan}
          event={event}
          rows={rows}
          localityId={locality.id}
          colours={colours}
          seats={seats}
          filter={filter}
          onFilter={find}
          onBlock={(block) => setGoal({ box: aroundBlock(plan, block), isNear: true })}
        />
      )}
    </div>
  );
}

/**
 * Adds what the service suggests to what is chosen. It replaces what was suggested before, as far as that is still
 * chosen and not held, and says so; all else stays.
 */
function useBestSeats(
  { rows, picked, own, register, onPick }: SeatPickerProps,
  showSeats: (ids: readonly string[]) => void,
) {
  const suggested = useRef<ReadonlySet<string>>(new Set());
  const replaced = picked.filter(({ seatId }) => suggested.current.has(seatId) && !own.has(seatId));
  const kept = picked.filter((seat) => !replaced.includes(seat));
  return {
    standing: new Set(kept.map(({ seatId }) => seatId)),
    addBest(ids: readonly string[], ticketTypeId: string): void {
      suggested.current = new Set(ids);
      const gone = replaced.map(({ seatId }) => seatId).filter((id) => !ids.includes(id));
      onPick([...kept, ...pickedAs(rows, ticketTypeId, ids)]);
      const instead = gone.length === 0 ? '' : ` ${texts.plan.instead(seatsInWords(register, gone).join('; '))}`;
      announce(texts.plan.found(ids.length) + instead);
      showSeats(ids);
    },
  };
}

interface MapProps extends SeatPickerProps {
  /** The ticket type that was chosen above the plan. */
  readonly kind: string | null;
  readonly plan: SeatPlan;
  readonly colours: Colours;
  readonly seats: SeatAppearances;
  readonly goal: Goal | null;
  readonly name: string;
  readonly showSeats: (ids: readonly string[]) => void;
}

/** The plan with what is to say about the choice. */
function PlanMap(props: MapProps) {
  const { picked, register, onPick, plan, seats, showSeats, isFull } = props;
  const area = useFullScreen(isFull, props.onFull);
  const fits = (number: number, { ticketTypeId }: PickedSeat): boolean =>
    seats.typesBySeat[number]!.some(({ id }) => id === ticketTypeId);
  const isFree = (number: number): boolean => seats.appearances[number] === 'free';
  return (
    <div class={`map-area${isFull ? ' full' : ''}`} ref={area}>
      <SeatsTaken
        {...props}
        isFree={(number, as) => isFree(number) && fits(number, as)}
        onTake={(next) => {
          onPick(next);
          showSeats(next.map(({ seatId }) => seatId));
        }}
      />
      <ChoiceMap {...props} words={seatWords}>
        <LoneSeats {...{ plan, register, picked, isFree, fits, onPick }} />
      </ChoiceMap>
    </div>
  );
}
