/** The localities with numbered seats to choose from, where there are several. */
import type { Seating } from '#client/bodies.ts';
import type { SeatWords } from './words.ts';

interface AreasProps {
  readonly words: SeatWords;
  readonly seating: Seating;
  /** The index of the one that is shown. */
  readonly shown: number;
  readonly onShow: (index: number) => void;
}

export function Areas({ words, seating, shown, onShow }: AreasProps) {
  if (seating.localities.length < 2) return null;
  return (
    <div class="tabs" part="areas" role="group" aria-label={words.plan.area}>
      {seating.localities.map(({ name }, index) => (
        <button type="button" aria-pressed={index === shown} onClick={() => onShow(index)}>
          {name}
        </button>
      ))}
    </div>
  );
}
