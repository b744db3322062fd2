/** Icons: 20 × 20, drawn with the text's colour, hidden from assistive technology. */
import type { ComponentChildren } from 'preact';

function Icon({ children }: { readonly children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      {children}
    </svg>
  );
}

export const PlusIcon = () => (
  <Icon>
    <path d="M10 4.500v11M4.500 10h11" />
  </Icon>
);
export const MinusIcon = () => (
  <Icon>
    <path d="M4.500 10h11" />
  </Icon>
);
export const FitIcon = () => (
  <Icon>
    <path d="M3.500 7.500v-4h4M12.500 3.500h4v4M16.500 12.500v4h-4M7.500 16.500h-4v-4" />
  </Icon>
);
export const ClockIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="7" />
    <path d="M10 6v4.200l2.700 1.600" />
  </Icon>
);
export const ArrowIcon = () => (
  <Icon>
    <path d="M4 10h12M11 5l5 5-5 5" />
  </Icon>
);
export const BackIcon = () => (
  <Icon>
    <path d="M16 10H4M9 5l-5 5 5 5" />
  </Icon>
);
export const CloseIcon = () => (
  <Icon>
    <path d="M5 5l10 10M15 5L5 15" />
  </Icon>
);
export const InfoIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="7" />
    <path d="M10 9.500v4M10 6.600v.1" />
  </Icon>
);
export const CheckIcon = () => (
  <Icon>
    <path d="M4.500 10.500l3.700 3.700 7.300-8" />
  </Icon>
);
export const SparkIcon = () => (
  <Icon>
    <path d="M10 3l1.700 5.300L17 10l-5.300 1.700L10 17l-1.700-5.300L3 10l5.300-1.700z" />
  </Icon>
);
