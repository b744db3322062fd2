/**
 * The symbols of seats for legends, drawn as on the plan (`draw-plan.ts`), each in a square of 20: filled when free,
 * striped when held, a dot when sold, a cross when blocked, a check when one's own: framed while only chosen, filled
 * when held. A wheel marks accessible seats, a cut corner a restricted view.
 */
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

export function Swatch({ symbol, fill }: { readonly symbol: string; readonly fill?: string | undefined }) {
  return (
    <svg class="swatch" width="18" height="18" viewBox="0 0 20 20" aria-hidden="true" style={{ '--hue': fill }}>
      <use href={`#seat-${symbol}`} width="20" height="20" />
    </svg>
  );
}
