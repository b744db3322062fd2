/**
 * The card at the pointed seat or block: beside it on a desktop, within the window; at the lower edge on a phone, where
 * CSS puts it and the page moves so far that the seat stays in sight.
 */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Camera } from './camera.ts';
import type { LayoutPoint } from '#client/seat-layout.ts';
import { onScreen } from './view.ts';

interface MapCardProps {
  readonly camera: Camera;
  readonly frame: { readonly current: HTMLElement | null };
  /** What the card belongs to: a point of the plan, and how far it reaches on the plan. */
  readonly at: LayoutPoint;
  readonly reach: number;
  /** Whether it has something to press; else the pointer goes through it. */
  readonly isActive: boolean;
  readonly onLeave: (leave: PointerEvent) => void;
  readonly onKeyDown: (key: KeyboardEvent) => void;
  readonly onBlur: (blur: FocusEvent) => void;
  readonly children: ComponentChildren;
}

const GAP = 10;
const SHEET = '(max-width: 40rem)';

export function MapCard(props: MapCardProps) {
  const { camera, frame, at, reach, isActive, children } = props;
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const move = (): void => {
      const [element, box] = [card.current!, frame.current!.getBoundingClientRect()];
      const seat = onScreen(camera.view, at);
      const [x, y] = [box.left + seat.x, box.top + seat.y];
      const isSeen = seat.x > -1 && seat.y > -1 && seat.x < box.width + 1 && seat.y < box.height + 1;
      element.classList.toggle('off', !isSeen);
      if (matchMedia(SHEET).matches) {
        element.style.left = element.style.top = '';
        return;
      }
      const [wide, high] = [element.offsetWidth, element.offsetHeight];
      const away = reach * camera.view.scale + GAP;
      const isAbove = y - away - high >= GAP;
      const top = isAbove ? y - away - high : y + away;
      element.style.left = `${within(x - wide / 2, innerWidth - wide)}px`;
      element.style.top = `${within(top, innerHeight - high)}px`;
    };
    move();
    const resized = new ResizeObserver(move);
    resized.observe(card.current!);
    const stop = camera.follow(move);
    addEventListener('scroll', move, { passive: true });
    addEventListener('resize', move);
    return () => {
      stop();
      resized.disconnect();
      removeEventListener('scroll', move);
      removeEventListener('resize', move);
    };
  }, [camera, at.x, at.y, reach]);
  useLayoutEffect(() => {
    if (!matchMedia(SHEET).matches) return;
    const seat = frame.current!.getBoundingClientRect().top + onScreen(camera.aim ?? camera.view, at).y;
    const hidden = seat + GAP * 3 - card.current!.getBoundingClientRect().top;
    if (hidden > 0) scrollBy({ top: hidden });
  }, [at.x, at.y]);

  return (
    <div
      ref={card}
      part="card"
      class={`map-card${isActive ? ' active' : ''}`}
      onPointerLeave={props.onLeave}
      onKeyDown={props.onKeyDown}
      onBlur={props.onBlur}
    >
      {children}
    </div>
  );
}

/** Keeps a card within the window. */
const within = (at: number, end: number): number => Math.max(GAP, Math.min(at, end - GAP));
