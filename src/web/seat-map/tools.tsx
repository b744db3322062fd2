/**
 * The buttons of the plan: closer, away, the whole hall, all of the screen, and each direction, for whoever cannot drag
 * or pinch.
 */
import { ArrowIcon, CloseIcon, FillIcon, FitIcon, MinusIcon, PlusIcon, pressedUnless } from '../buttons.tsx';
import type { Camera } from './camera.ts';

type Word =
  'zoom' | 'zoomIn' | 'zoomOut' | 'move' | 'left' | 'up' | 'down' | 'right' | 'whole' | 'allBlocks' | 'fill' | 'back';

export type ToolWords = Readonly<Record<Word, string>>;

interface MapToolsProps {
  readonly words: ToolWords;
  readonly camera: Camera;
  readonly isZoomed: boolean;
  readonly isByBlock: boolean;
  readonly isFull: boolean;
  readonly canFill: boolean;
  readonly onFull: (isFull: boolean) => void;
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

export function MapTools({ words: t, camera, isZoomed, isByBlock, isFull, canFill, onFull, onStep }: MapToolsProps) {
  return (
    <div class="map-tools" part="tools" role="group" aria-label={t.zoom}>
      <span class="map-ways" role="group" aria-label={t.move}>
        {DIRECTIONS.map(([direction, across, down]) => (
          <button
            type="button"
            class={`tool way-${direction}`}
            aria-label={t[direction]}
            {...pressedUnless(!isZoomed, () => camera.shift(across, down))}
          >
            <ArrowIcon />
          </button>
        ))}
      </span>
      <button type="button" class="tool" aria-label={t.zoomIn} onClick={() => onStep(STEP)}>
        <PlusIcon />
      </button>
      <button type="button" class="tool" aria-label={t.zoomOut} {...pressedUnless(!isZoomed, () => onStep(1 / STEP))}>
        <MinusIcon />
      </button>
      <button
        type="button"
        class="tool whole"
        aria-label={isByBlock ? undefined : t.whole}
        {...pressedUnless(!isZoomed, () => camera.flyHome())}
      >
        <FitIcon /> {isByBlock && <span>{t.allBlocks}</span>}
      </button>
      {canFill && (
        <button type="button" class="tool" aria-label={isFull ? t.back : t.fill} onClick={() => onFull(!isFull)}>
          {isFull ? <CloseIcon /> : <FillIcon />}
        </button>
      )}
    </div>
  );
}
