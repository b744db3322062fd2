/**
 * What a box office shows of what it keeps: plain data in replies, twins of the API's bodies before they are printed.
 */
import type { HoldStatus } from '#machines/hold.ts';

/** What a repeat of a marked request is answered from. */
export type IdempotentAnswer =
  { readonly of: 'HOLD'; readonly hold: HoldView } | { readonly of: 'ORDER'; readonly orderId: string };

/** A hold as the API shows it. */
export interface HoldView {
  readonly id: string;
  readonly eventId: string;
  readonly status: HoldStatus;
  readonly expiresAt: number;
  readonly orderId: string | null;
  readonly items: readonly HoldItemView[];
}

export interface HoldItemView {
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly performanceId: string;
  readonly quantity: number;
  readonly ticketCount: number;
  readonly seatIds: readonly string[];
  readonly seatLabels: readonly string[];
}
