/** A hint that the choice leaves a single free seat beside it, with one press to avoid it. Nothing is refused. */
import { useState } from 'preact/hooks';
import { texts } from '../app/language.ts';
import { Notice } from '../../notice.tsx';
import { loneSeats } from '../../seat-map/adjacent.ts';
import type { SeatPlan } from '../../seat-map/plan.ts';
import { seatsInWords } from './seat-register.tsx';
import type { KnownSeats } from '../../seat-choice/words.ts';
import type { PickedSeat } from '../../seat-choice/picked.ts';

interface LoneSeatsProps {
  readonly plan: SeatPlan;
  readonly register: KnownSeats;
  readonly picked: readonly PickedSeat[];
  readonly isFree: (seat: number) => boolean;
  /** Whether a seat can be bought as the ticket of another one. */
  readonly fits: (seat: number, as: PickedSeat) => boolean;
  readonly onPick: (seats: readonly PickedSeat[]) => void;
}

export function LoneSeats({ plan, register, picked, isFree, fits, onPick }: LoneSeatsProps) {
  const [seenFor, setSeenFor] = useState('');
  const byNumber = new Map(picked.flatMap((seat) => [[plan.numberById.get(seat.seatId) ?? -1, seat] as const]));
  byNumber.delete(-1);
  const { lone, shifted } = loneSeats(plan, isFree, new Set(byNumber.keys()), (from, to) =>
    fits(to, byNumber.get(from)!),
  );
  const ids = lone.map((seat) => plan.seats[seat]!.id);
  if (lone.length === 0 || seenFor === ids.join()) return null;
  const shift = (moves: ReadonlyMap<number, number>): void =>
    onPick(
      picked.map((seat) => {
        const to = moves.get(plan.numberById.get(seat.seatId) ?? -1);
        return to === undefined ? seat : { ...seat, seatId: plan.seats[to]!.id };
      }),
    );
  return (
    <div class="map-note">
      <Notice tone="info">
        {texts.plan.lone.hint(seatsInWords(register, ids))}
        <div class="actions">
          {shifted !== null && (
            <button type="button" class="button small" onClick={() => shift(shifted)}>
              {texts.plan.lone.shift}
            </button>
          )}
          <button type="button" class="button small" onClick={() => setSeenFor(ids.join())}>
            {texts.plan.lone.keep}
          </button>
        </div>
      </Notice>
    </div>
  );
}
