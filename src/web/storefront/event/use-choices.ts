/**
 * The buyer's choice on the event page: how it changes, is held and released, and follows a hold that other tabs
 * change.
 *
 *  1. While a request is under way the hold is not merged in: its answer is, with what was asked as the base.
 *  2. The choice of the tab is stored at each change (`choices.ts`).
 *  3. A chosen seat that somebody else takes leaves the choice at once. Seats of the own hold, standing or just ended,
 *     are shown as held too and stay.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, Hold, HoldItemRequest, TicketAvailability } from '#client/bodies.ts';
import { rowKey, type SeatStates } from '#client/live.ts';
import { storePurchase } from '../app/storage.ts';
import { texts } from '../app/language.ts';
import { announce } from '../parts/controls.tsx';
import { choicesOf, merged, NO_CHOICES, recallChoice, storeChoice, type Choices, type ChoiceState } from './choices.ts';
import type { Pass } from './pass.tsx';
import type { KnownSeats } from '../../seat-choice/words.ts';
import { serviceNow } from '../app/service.ts';
import { itemsOf, NOTHING, type Selection } from './selection.ts';
import type { PickedSeat } from '../../seat-choice/picked.ts';
import { troubleOf, type HoldKeeper } from './use-hold.ts';

interface ChoiceProps {
  readonly event: EventPayload;
  readonly performanceId: string;
  readonly rows: readonly TicketAvailability[];
  /** The seats of this date that are not free. */
  readonly states: SeatStates;
  readonly keeper: HoldKeeper;
  readonly pass: Pass;
  readonly register: KnownSeats;
  /** Reads again what is on sale. */
  readonly reload: () => void;
}

/**
 * `selection` is the choice on the date that is shown, `items` that on all dates; `trouble` is the last refusal in
 * words.
 */
export function useChoices(props: ChoiceProps) {
  const { event, performanceId, keeper, pass, register, reload } = props;
  const { hold } = keeper;
  const { state, setState, latest, items } = useChoiceState(props);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [lost, setLost] = useState<readonly PickedSeat[]>([]);
  const { choices } = state;
  const lose = (seatIds: ReadonlySet<string>): void => {
    const seats = (choices[performanceId] ?? NOTHING).seats.filter(({ seatId }) => seatIds.has(seatId));
    setLost((old) => [...old, ...seats]);
    setState((old) => ({ ...old, choices: without(old.choices, seatIds) }));
  };
  const taken = takenSeats(props, state, useLapse(keeper.lapsed));
  useEffect(() => {
    if (taken.length > 0 && !keeper.isBusy) lose(new Set(taken));
  }, [taken.join(), keeper.isBusy]);

  const selectAll = (next: Choices): void => {
    setTrouble(null);
    setLost([]);
    setState((old) => ({ ...old, choices: next }));
  };
  const selectOn = (id: string, selection: Selection): void => selectAll({ ...choices, [id]: selection });
  const onError = (error: unknown): void => {
    setTrouble(troubleOf(error, event, register));
    if (isApiError(error, 'SEAT_TAKEN')) lose(new Set(error.detail['seat_ids'] as string[]));
    if (isApiError(error) && error.code.startsWith('QUEUE_PASS')) {
      storePurchase(event.id, { passId: undefined });
      pass.forget();
    }
    reload();
  };
  const holdItems = async (onHeld?: () => void): Promise<void> => {
    try {
      const placed = await keeper.request(items, onHeld === undefined ? 'HOLD' : 'CONTINUE');
      setTrouble(null);
      // What was chosen while the request was under way stays chosen; stored, because `onHeld` may leave the page.
      const next = merged({ choices: latest.current.choices, base: choices }, choicesOf(placed));
      setState(next);
      storeChoice(event.slug, { ...next, performanceId });
      announce(placed === null ? texts.basket.givenBack : heldInWords(placed));
      if (onHeld !== undefined && placed !== null) onHeld();
      else reload();
    } catch (error) {
      onError(error);
    }
  };
  const onReleased = (): void => {
    selectAll(NO_CHOICES);
    announce(texts.basket.givenBack);
  };
  return {
    selection: choices[performanceId] ?? NOTHING,
    choices,
    items,
    trouble,
    /** The chosen seats that somebody else took, until something is chosen again. */
    lost: lost.filter(({ seatId }) => !isOwn(hold, seatId)),
    forgetLost: (): void => setLost([]),
    select: (selection: Selection): void => selectOn(performanceId, selection),
    /** Holds what is chosen, then calls back. */
    hold: (onHeld?: () => void) => void holdItems(onHeld),
    release: () => void keeper.release().then(onReleased, onError),
    revert: () => selectAll(choicesOf(hold)),
    /** Leaves an item, or one of its seats. */
    drop(item: HoldItemRequest, seatId?: string, id = item.performance_id ?? performanceId): void {
      selectOn(id, withoutItem(choices[id] ?? NOTHING, item, seatId));
    },
  };
}

/** The choice, stored at each change and brought together with the hold, and its items. */
function useChoiceState({ event, performanceId, rows, keeper }: ChoiceProps) {
  const { hold } = keeper;
  const [state, setState] = useState<ChoiceState>(() => begun(event, keeper));
  const latest = useRef(state);
  latest.current = state;
  const { choices } = state;
  const items = useMemo(
    () => itemsOf(choices, performanceId, event, rows, hold),
    [choices, performanceId, event, rows, hold],
  );
  useEffect(() => storeChoice(event.slug, { ...state, performanceId }), [event.slug, state, performanceId]);
  useEffect(() => {
    if (!keeper.isBusy) setState((old) => followed(old, keeper));
  }, [hold, keeper.lapsed, keeper.isBusy]);
  return { state, setState, latest, items };
}

function heldInWords({ items, expires_at: end }: Hold): string {
  const tickets = items.reduce((sum, item) => sum + item.ticket_count, 0);
  const minutes = Math.max(1, Math.round((Date.parse(end) - serviceNow()) / 60_000));
  return texts.basket.held(tickets, minutes);
}

/**
 * For so long after a page learned that its hold ran out, the seats of it may still be shown as held: on a phone that
 * slept meanwhile, as long as the stream of seats has not come back.
 */
const LAPSE_SHOWN_MS = 10_000;

/** When this page learned of the hold that ran out, on the service's clock. */
function useLapse(lapsed: Hold | null): number {
  const learned = useRef({ id: '', at: 0 });
  if (lapsed !== null && lapsed.id !== learned.current.id) learned.current = { id: lapsed.id, at: serviceNow() };
  return learned.current.at;
}

/** The chosen seats of the shown date that somebody else holds or has bought (rule 3). */
function takenSeats(
  { performanceId, states, keeper }: ChoiceProps,
  { choices, base }: ChoiceState,
  lapseAt: number,
): readonly string[] {
  const { hold, lapsed } = keeper;
  const wasHeld = base[performanceId]?.seats ?? [];
  const hasJustLapsed = lapsed !== null && serviceNow() < lapseAt + LAPSE_SHOWN_MS;
  return (choices[performanceId] ?? NOTHING).seats
    .map(({ seatId }) => seatId)
    .filter((id) => states.has(id) && !isOwn(hold, id) && !wasHeld.some(({ seatId }) => seatId === id))
    .filter((id) => !(hasJustLapsed && isOwn(lapsed, id)));
}

function isOwn(hold: Hold | null, seatId: string): boolean {
  return hold !== null && hold.items.some((item) => item.seat_ids.includes(seatId));
}

/** The choice with which a page begins: what this tab has stored, else what is held, or was until it ran out. */
function begun(event: EventPayload, keeper: HoldKeeper): ChoiceState {
  const stored = recallChoice(event);
  if (stored !== null) return followed(stored, keeper);
  const choices = choicesOf(keeper.hold ?? keeper.lapsed);
  return { choices, base: choicesOf(keeper.hold) };
}

/** A choice after its hold changed elsewhere or ended. */
function followed(state: ChoiceState, { hold, lapsed }: HoldKeeper): ChoiceState {
  if (hold === null && lapsed !== null) return { choices: state.choices, base: NO_CHOICES };
  const held = choicesOf(hold);
  return JSON.stringify(held) === JSON.stringify(state.base) ? state : merged(state, held);
}

function withoutItem({ units, seats }: Selection, item: HoldItemRequest, seatId?: string): Selection {
  if (seatId !== undefined) return { units, seats: seats.filter((seat) => seat.seatId !== seatId) };
  const { [rowKey(item)]: _, ...otherUnits } = units;
  return { units: otherUnits, seats: seats.filter((seat) => seat.ticketTypeId !== item.ticket_type_id) };
}

function without(choices: Choices, seatIds: ReadonlySet<string>): Choices {
  return Object.fromEntries(
    Object.entries(choices).map(([id, { units, seats }]) => [
      id,
      { units, seats: seats.filter(({ seatId }) => !seatIds.has(seatId)) },
    ]),
  );
}
