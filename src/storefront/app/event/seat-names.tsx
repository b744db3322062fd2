/** The seats of a line, a row of the hall on each line. */
import { seatsInWords, type SeatRegister } from './seat-register.ts';

interface SeatNamesProps {
  readonly register: SeatRegister;
  readonly seatIds: readonly string[];
}

export function SeatNames({ register, seatIds }: SeatNamesProps) {
  return (
    <>
      {seatsInWords(register, seatIds).map((row) => (
        <p class="small seat-names">{row}</p>
      ))}
    </>
  );
}
