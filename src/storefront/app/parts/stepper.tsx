/** A number that is stepped up and down by two large buttons. */
import { MinusIcon, PlusIcon } from './icons.tsx';

interface StepperProps {
  /** What is counted, for assistive technology. */
  readonly label: string;
  readonly value: number;
  readonly max: number;
  readonly min?: number;
  readonly disabled?: boolean;
  readonly onChange: (value: number) => void;
}

export function Stepper({ label, value, max, min = 0, disabled = false, onChange }: StepperProps) {
  return (
    <div class="stepper" role="group" aria-label={label}>
      <button
        type="button"
        aria-label={`Fewer: ${label}`}
        disabled={disabled || value <= min}
        onClick={() => onChange(value - 1)}
      >
        <MinusIcon />
      </button>
      <output aria-live="polite">{value}</output>
      <button
        type="button"
        aria-label={`More: ${label}`}
        disabled={disabled || value >= max}
        onClick={() => onChange(value + 1)}
      >
        <PlusIcon />
      </button>
    </div>
  );
}
