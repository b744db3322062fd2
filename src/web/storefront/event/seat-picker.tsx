/**
 * Choosing numbered seats: the best ones found by the service, or picked on the plan.
 *
 * Owns what is shown of the plan and what is asked; what is picked belongs to the page.
 */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { EventPayload, Seating, TicketAvailability } from '#client/bodies.ts';
import type { SeatStates } from '#client/live.ts';
import { boxAround, grown } from '#client/seat-layout.ts';
import { texts } from '../app/language.ts';
import { usePainted } from '../../hooks.ts';
import { announce, Loading } from '../parts/controls.tsx';
import { useFullScreen } from '../parts/full-screen.ts';
import { companionSeat } from '../../seat-map/adjacent.ts';
import { useColours, type Colours } from '../../seat-map/colours.ts';
import { Legend, SeatSymbols } from './legend.tsx';
import { isOwn } from '../../seat-map/appearance.ts';
import { planOf, type SeatPlan } from '../../seat-map/plan.ts';
import { aroundBlock } from '../../seat-map/moves.ts';
import { SeatMap, type Goal } from '../../seat-map/seat-map.tsx';
import { BestSeats } from './best-seats.tsx';
import { LoneSeats } from './lone-seats.tsx';
import { SeatCard, WheelchairQuestion } from './seat-card.tsx';
import { useSeatAppearances, type SeatAppearances } from './seat-appearance.ts';
import { ALL_SEATS, isBackOf, type SeatFilter } from './seat-filter.ts';
import { seatsInWords, type KnownSeats } from './seat-register.tsx';
import { SeatsTaken } from './seats-taken.tsx';
import { pickedAs, type PickedSeat } from './selection.ts';

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
  return usePainted() ? <Picker {...props} /> : <Loading what={texts.event.loadingPlan} />;
}

function Picker(props: SeatPickerProps) {
  const { event, seating, performanceId, rows, picked } = props;
  const [localityIndex, setLocality] = useState(0);
  const [goal, setGoal] = useState<Goal | null>(null);
  const [filter, setFilter] = useState(ALL_SEATS);
  const [kind, setKind] = useState<string | null>(null);
  const locality = seating.localities[localityIndex] ?? seating.localities[0]!;
  const plan = useMemo(() => planOf(locality), [locality]);
  const colours = useColours(plan);
  const pickedIds = useMemo(() => new Set(picked.map(({ seatId }) => seatId)), [picked]);
  const seats = useSeatAppearances(props, plan, locality.id, pickedIds, filter);
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

/** The plan with its cards and what is to say about the choice. */
function PlanMap(props: MapProps) {
  const { event, rows, picked, register, onPick, plan, colours, seats, goal, name, showSeats, isFull } = props;
  const area = useFullScreen(isFull, props.onFull);
  const { appearances, typesBySeat } = seats;
  const choice = useSeatChoice(props, plan, seats);
  const fits = (number: number, { ticketTypeId }: PickedSeat): boolean =>
    typesBySeat[number]!.some(({ id }) => id === ticketTypeId);
  const isFree = (number: number): boolean => appearances[number] === 'free';
  const cardOf = (seat: number, close: () => void) => (
    <SeatCard
      {...{ event, rows, plan, colours, seat }}
      appearance={appearances[seat]!}
      types={typesBySeat[seat]!}
      chosenId={choice.pickedAt(seat)?.ticketTypeId ?? null}
      onKind={(ticketTypeId) => choice.setKind(seat, ticketTypeId)}
      onRemove={() => {
        choice.remove(seat);
        close();
      }}
      onClose={close}
      question={choice.question(seat, close)}
    />
  );
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
      <SeatMap
        words={texts.plan}
        {...{ plan, appearances, colours, name }}
        isBack={seats.isBack}
        summaries={seats.summaries}
        describe={seats.describe}
        describeBlock={seats.describeBlock}
        seatCard={(seat, close) => ({ isActive: choice.isActive(seat), body: cardOf(seat, close) })}
        onToggle={choice.toggle}
        closeTo={goal}
        isFull={isFull}
        onFull={props.onFull}
      >
        <LoneSeats {...{ plan, register, picked, isFree, fits, onPick }} />
      </SeatMap>
    </div>
  );
}

/** The localities to choose from, where there are several. */
function Areas({ seating, shown, onShow }: { seating: Seating; shown: number; onShow: (index: number) => void }) {
  if (seating.localities.length < 2) return null;
  return (
    <div class="tabs" role="group" aria-label={texts.plan.area}>
      {seating.localities.map(({ name }, index) => (
        <button type="button" aria-pressed={index === shown} onClick={() => onShow(index)}>
          {name}
        </button>
      ))}
    </div>
  );
}

/** Choosing and leaving seats one by one, with the question that comes before a wheelchair place. */
function useSeatChoice(
  { rows, picked, register, onPick, kind }: MapProps,
  plan: SeatPlan,
  { appearances, typesBySeat }: SeatAppearances,
) {
  const [asked, setAsked] = useState<number | null>(null);
  const idOf = (seat: number): string => plan.seats[seat]!.id;
  const pickedAt = (seat: number): PickedSeat | undefined => picked.find(({ seatId }) => seatId === idOf(seat));
  const isFree = (seat: number): boolean => appearances[seat] === 'free' && !plan.seats[seat]!.accessible;
  /** What somebody who comes along can sit in. */
  const openType = (seat: number) =>
    typesBySeat[seat]!.find(({ accessible, group_size: size }) => !accessible && size === 1);
  const remove = (seat: number): void => onPick(picked.filter(({ seatId }) => seatId !== idOf(seat)));
  const take = (seat: number, ticketTypeId: string, companion: number | null): void => {
    setAsked(null);
    const along = companion === null ? [] : pickedAs(rows, openType(companion)!.id, [idOf(companion)]);
    onPick([...picked, ...pickedAs(rows, ticketTypeId, [idOf(seat)]), ...along]);
  };
  return {
    pickedAt,
    remove,
    /** Whether the card of a seat has something to press. */
    isActive: (seat: number): boolean =>
      seat === asked ||
      (isOwn(appearances[seat]) && (typesBySeat[seat]!.length > 1 || matchMedia('(max-width: 40rem)').matches)),
    setKind(seat: number, ticketTypeId: string): void {
      const [changed] = pickedAs(rows, ticketTypeId, [idOf(seat)]);
      onPick(picked.map((each) => (each.seatId === idOf(seat) ? changed! : each)));
    },
    toggle(seat: number): void {
      setAsked(null);
      if (pickedAt(seat) !== undefined) return remove(seat);
      if (appearances[seat] !== 'free') return;
      const types = typesBySeat[seat]!;
      if (types.some(({ accessible }) => accessible)) return setAsked(seat);
      const wanted = [kind, picked.at(-1)?.ticketTypeId].flatMap((id) => types.find((type) => type.id === id) ?? []);
      take(seat, (wanted[0] ?? types[0]!).id, null);
    },
    question(seat: number, close: () => void) {
      if (seat !== asked) return null;
      const companion = companionSeat(plan, seat, (each) => isFree(each) && openType(each) !== undefined);
      const leave = (): void => {
        setAsked(null);
        close();
      };
      return (
        <WheelchairQuestion
          types={typesBySeat[seat]!}
          companion={companion === null ? null : seatsInWords(register, [idOf(companion)]).join()}
          onTake={(ticketTypeId, isAccompanied) => {
            take(seat, ticketTypeId, isAccompanied ? companion : null);
            close();
          }}
          onClose={leave}
        />
      );
    },
  };
}
