/** Parts of buttons: the attributes of a button that its own press may switch off, a button that is busy, and icons. */
import type { ComponentChildren } from 'preact';

/** Such a button keeps the focus, which `disabled` would take from it. */
export function pressedUnless(isOff: boolean, onPress: () => void) {
  return { 'aria-disabled': isOff, onClick: () => void (!isOff && onPress()) };
}

interface BusyButtonProps {
  readonly isBusy: boolean;
  /** Whether it cannot be pressed for another reason. */
  readonly isOff?: boolean;
  readonly class: string;
  /** Left out where it sends its form. */
  readonly onPress?: () => void;
  readonly describedBy?: string | undefined;
  readonly children: ComponentChildren;
}

/** A button whose work takes a moment: meanwhile it keeps its look and the focus, and shows a spinner. */
export function BusyButton({ isBusy, isOff = false, onPress, describedBy, children, ...rest }: BusyButtonProps) {
  const press = (click: MouseEvent): void => {
    if (isBusy || isOff) click.preventDefault();
    else onPress?.();
  };
  return (
    <button
      type={onPress === undefined ? 'submit' : 'button'}
      aria-busy={isBusy}
      aria-disabled={isBusy || isOff}
      aria-describedby={describedBy}
      onClick={press}
      {...rest}
    >
      {isBusy && <span class="spinner" />}
      {children}
    </button>
  );
}

/** 20 × 20, drawn with the text's colour, hidden from assistive technology. */
const icon = (lines: string) => () => (
  <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <path d={lines} />
  </svg>
);

const CIRCLE = 'M17 10a7 7 0 1 1-14 0a7 7 0 1 1 14 0z';

export const PlusIcon = icon('M10 4.500v11M4.500 10h11');
export const MinusIcon = icon('M4.500 10h11');
export const FillIcon = icon('M4 8V4h4M16 12v4h-4M4 4l5 5M16 16l-5-5');
export const FitIcon = icon('M3.500 7.500v-4h4M12.500 3.500h4v4M16.500 12.500v4h-4M7.500 16.500h-4v-4');
export const ClockIcon = icon(`${CIRCLE}M10 6v4.200l2.700 1.600`);
export const ArrowIcon = icon('M4 10h12M11 5l5 5-5 5');
export const BackIcon = icon('M16 10H4M9 5l-5 5 5 5');
export const CloseIcon = icon('M5 5l10 10M15 5L5 15');
export const InfoIcon = icon(`${CIRCLE}M10 9.500v4M10 6.600v.1`);
export const CheckIcon = icon('M4.500 10.500l3.700 3.700 7.300-8');
export const SparkIcon = icon('M10 3l1.700 5.300L17 10l-5.300 1.700L10 17l-1.700-5.300L3 10l5.300-1.700z');
