/** The buttons of the plan: closer, away, the whole hall, and each direction, for whoever cannot drag or pinch. */
import { texts } from '../language.ts';
import { pressedUnless } from '../parts/controls.tsx';
import { ArrowIcon, FitIcon, MinusIcon, PlusIcon } from '../parts/icons.tsx';
import type { Camera } from './camera.ts';

interface MapToolsProps {
  readonly camera: Camera;
  readonly isZoomed: boolean;
  readonly isByBlock: boolean;
  /** Zooms towards the seats that matter most now. */
  readonly onStep: (factor: number) => void;
}

const STEP = 1.5;
const SHIFT = 0.35;

const DIRECTIONS = [
  ['left', -SHIFT, 0],
  ['up', 0, -SHIFT],
  ['down', 0, SHIFT],
  ['right', SHIFT, 0],
] as const;

export function MapTools({ camera, isZoomed, isByBlock, onStep }: MapToolsProps) {
  const t = texts.plan;
  return (
    <div class="map-tools" role="group" aria-label={t.zoom}>
      {isZoomed && (
        <span class="map-ways" role="group" aria-label={t.move}>
          {DIRECTIONS.map(([direction, across, down]) => (
            <button
              type="button"
              class={`tool way-${direction}`}
              aria-label={t[direction]}
              onClick={() => camera.shift(across, down)}
            >
              <ArrowIcon />
            </button>
          ))}
        </span>
      )}
      <button type="button" class="tool" aria-label={t.zoomIn} onClick={() => onStep(STEP)}>
        <PlusIcon />
      </button>
      <button type="button" class="tool" aria-label={t.zoomOut} {...pressedUnless(!isZoomed, () => onStep(1 / STEP))}>
        <MinusIcon />
      </button>
      <button
        type="button"
        class="tool whole"
        aria-label={t.whole}
        {...pressedUnless(!isZoomed, () => camera.flyHome())}
      >
        <FitIcon /> {isByBlock && <span aria-hidden="true">{t.allBlocks}</span>}
      </button>
    </div>
  );
}
