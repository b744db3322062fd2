/**
 * What `@holdfast/seats` exports, and all that it promises to keep between minor versions. Importing it defines
 * `<holdfast-seats>`.
 */
import { HoldfastSeats, type SeatsChange, type SeatsReady } from './element.ts';
import type { ApiError } from '#client/api-error.ts';
import type { SaleSteering } from '#client/bodies.ts';

export { HoldfastSeats, type SeatsChange, type SeatsReady };

declare global {
  interface HTMLElementTagNameMap {
    'holdfast-seats': HoldfastSeats;
  }
  interface HTMLElementEventMap {
    /** Event and plan have come, or came anew because the organizer changed the event. */
    'holdfast-ready': CustomEvent<SeatsReady>;
    /** Seats were chosen or left, by the buyer, by the page, or because somebody else took them. */
    'holdfast-change': CustomEvent<SeatsChange>;
    /** Somebody else took chosen seats; `holdfast-change` follows. */
    'holdfast-taken': CustomEvent<{ readonly seatIds: readonly string[] }>;
    /** A seat was not chosen because `max` are. */
    'holdfast-limit': CustomEvent<{ readonly max: number }>;
    /** The organizer paused the sale, said something, or took it back: null then. */
    'holdfast-steering': CustomEvent<SaleSteering | null>;
    /** The event cannot be shown. */
    'holdfast-error': CustomEvent<ApiError>;
  }
}

if (customElements.get('holdfast-seats') === undefined) customElements.define('holdfast-seats', HoldfastSeats);
