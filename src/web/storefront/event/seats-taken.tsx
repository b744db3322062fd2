/** Says over the plan which chosen seats somebody else took, and offers others beside those that stay. */
import { texts } from '../app/language.ts';
import { adjacentSeats } from '../../seat-map/adjacent.ts';
import type { SeatPlan } from '../../seat-map/plan.ts';
import { Notice } from '../../notice.tsx';
import { seatsInWords } from './seat-register.tsx';
import type { KnownSeats } from '../../seat-choice/words.ts';
import type { PickedSeat } from '../../seat-choice/picked.ts';

interface SeatsTakenProps {
  readonly plan: SeatPlan;
  readonly register: KnownSeats;
  readonly picked: readonly PickedSeat[];
  readonly lost: readonly PickedSeat[];
  /** Whether a seat of the plan can be picked as the ticket of another one. */
  readonly isFree: (seat: number, as: PickedSeat) => boolean;
  readonly onTake: (seats: readonly PickedSeat[]) => void;
  readonly onLostSeen: () => void;
}

export function SeatsTaken(props: SeatsTakenProps) {
  const { register, lost, onTake, onLostSeen } = props;
  if (lost.length === 0) return null;
  const offer = offerOf(props);
  const wordsOf = (seats: readonly PickedSeat[]): string =>
    seatsInWords(
      register,
      seats.map(({ seatId }) => seatId),
    ).join('; ');
  return (
    <div class="taken">
      <Notice tone="warn">
        <b>{wordsOf(lost)}</b> {texts.basket.taken(lost.length)}
        <div class="actions">
          {offer !== null && (
            <button type="button" class="button primary" onClick={() => onTake(offer.seats)}>
              {texts.basket.takeInstead(wordsOf(offer.block))}
            </button>
          )}
          <button type="button" class="button" onClick={onLostSeen}>
            {offer === null ? texts.basket.chooseOthers : texts.basket.noThanks}
          </button>
        </div>
      </Notice>
    </div>
  );
}

/** A block of seats in place of the lost ones, and the whole choice with it. */
function offerOf({ plan, picked, lost, isFree }: SeatsTakenProps) {
  const [first] = lost;
  if (first === undefined) return null;
  const numbers = (seats: readonly PickedSeat[]): number[] =>
    seats.flatMap(({ seatId }) => plan.numberById.get(seatId) ?? []);
  const alike = picked.filter(({ ticketTypeId }) => ticketTypeId === first.ticketTypeId);
  const row = plan.rowOf[plan.numberById.get(first.seatId) ?? -1];
  const block = adjacentSeats(plan, (seat) => isFree(seat, first), numbers(lost), numbers(alike));
  if (block === null) return null;
  const seats = block.map((number): PickedSeat => ({ ...first, seatId: plan.seats[number]!.id }));
  const stays = picked.filter(
    (seat) => !alike.includes(seat) || plan.rowOf[plan.numberById.get(seat.seatId) ?? -1] !== row,
  );
  return { block: seats, seats: [...stays, ...seats] };
}
