/** How seats look: to a buyer, and at which size which details are drawn. */
import type { SeatLayout } from '#client/seat-layout.ts';

/**
 * How a seat looks to this buyer: the states of the API, `chosen` for picked seats, `mine` for those of them that are
 * held, `other` for seats not on sale.
 */
export type Appearance = 'free' | 'other' | 'held' | 'sold' | 'blocked' | 'chosen' | 'mine';

/** Where the plan lies on the screen: screen = plan × scale + (x, y), in CSS pixels. */
export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

/**
 * Sizes of a seat on the screen from which its number fits into it, the names of rows can be read, its form is seen.
 */
export const NUMBER_PIXELS_MIN = 22;
export const ROW_PIXELS_MIN = 9;
export const FORM_PIXELS_MIN = 5;

export const seatPixels = (plan: SeatLayout, scale: number): number => plan.radius * 2 * scale;

export const isOwn = (appearance: Appearance | undefined): boolean => appearance === 'chosen' || appearance === 'mine';

/** The end of a label such as "Row 12", as far as there is room for it. */
export const shortLabel = (label: string): string => (/\S+$/.exec(label)?.[0] ?? '').slice(0, 4);
