/**
 * A plan from which seats are chosen and left one by one, with cards and the question before a wheelchair place; and
 * the choice among plans.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { EventPayload, Seating, TicketAvailability } from '#client/bodies.ts';
import { companionSeat } from '../seat-map/adjacent.ts';
import { isOwn } from '../seat-map/draw-plan.ts';
import type { Colours } from '../seat-map/colours.ts';
import type { SeatPlan } from '../seat-map/plan.ts';
import { SeatMap, type Goal } from '../seat-map/seat-map.tsx';
import type { SeatAppearances } from './appearances.ts';
import { SeatCard, WheelchairQuestion } from './card.tsx';
import { pickedAs, type PickedSeat } from './picked.ts';
import { namesOfSeats, type KnownSeats, type SeatWords } from './words.ts';

interface ChoiceMapProps extends Choosing {
  readonly words: SeatWords;
  readonly event: EventPayload;
  readonly plan: SeatPlan;
  readonly name: string;
  readonly colours: Colours;
  readonly seats: SeatAppearances;
  /** A part of the plan to show; a new value moves the view. */
  readonly goal: Goal | null;
  readonly isFull: boolean;
  readonly onFull: (isFull: boolean) => void;
  /** What is to say about the choice, below the plan. */
  readonly children?: ComponentChildren;
}

export function ChoiceMap(props: ChoiceMapProps) {
  const { words, event, rows, plan, name, colours, seats, goal, isFull, onFull } = props;
  const { appearances, typesBySeat, summaries, describe, describeBlock, isBack } = seats;
  const choice = useSeatChoice(words, props, plan, seats);
  const cardOf = (seat: number, close: () => void) => (
    <SeatCard
      {...{ words, event, rows, plan, colours, seat }}
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
    <SeatMap
      words={words.plan}
      {...{ plan, appearances, colours, name, isBack, summaries, describe, describeBlock, isFull, onFull }}
      seatCard={(seat, close) => ({ isActive: choice.isActive(seat), body: cardOf(seat, close) })}
      onToggle={choice.toggle}
      closeTo={goal}
    >
      {props.children}
    </SeatMap>
  );
}

interface Choosing {
  readonly rows: readonly TicketAvailability[];
  readonly picked: readonly PickedSeat[];
  readonly register: KnownSeats;
  readonly onPick: (seats: readonly PickedSeat[]) => void;
  /** The ticket type that is wanted first, where a seat has several. */
  readonly kind: string | null;
}

function useSeatChoice(
  words: SeatWords,
  { rows, picked, register, onPick, kind }: Choosing,
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
          words={words}
          types={typesBySeat[seat]!}
          companion={companion === null ? null : namesOfSeats(words, register, [idOf(companion)]).join()}
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

interface AreasProps {
  readonly words: SeatWords;
  readonly seating: Seating;
  /** The index of the one that is shown. */
  readonly shown: number;
  readonly onShow: (index: number) => void;
}

/** The localities with numbered seats to choose from, where there are several. */
export function Areas({ words, seating, shown, onShow }: AreasProps) {
  if (seating.localities.length < 2) return null;
  return (
    <div class="tabs" part="areas" role="group" aria-label={words.plan.area}>
      {seating.localities.map(({ name }, index) => (
        <button type="button" aria-pressed={index === shown} onClick={() => onShow(index)}>
          {name}
        </button>
      ))}
    </div>
  );
}
