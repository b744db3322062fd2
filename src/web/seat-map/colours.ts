/**
 * The colours in which a plan is drawn, read from the page's style sheet, again whenever the scheme changes or the font
 * has come.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { inkOn } from '#client/contrast.ts';
import { HUES, zoneColour } from './palette.ts';
import type { SeatPlan } from './plan.ts';

/** Dispatched on the document when the page has another style sheet. */
export const RESTYLED = 'restyled';

export interface Colours {
  /** By zone: its colour, and what is written on it. */
  readonly zones: readonly { readonly fill: string; readonly ink: string }[];
  readonly ink: string;
  readonly quiet: string;
  readonly line: string;
  readonly faint: string;
  readonly surface: string;
  readonly sunken: string;
  readonly focus: string;
  readonly accent: string;
  /** How much larger than usual the buyer wants texts. */
  readonly rem: number;
}

/** `host` is the element whose style has the colours: the page, unless the plan is in a shadow. */
export function useColours(plan: SeatPlan, host: HTMLElement = document.documentElement): Colours {
  const [isDark, setDark] = useState(false);
  const [hasFont, setFont] = useState(false);
  const [style, setStyle] = useState(0);
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const follow = (): void => setDark(scheme.matches);
    follow();
    scheme.addEventListener('change', follow);
    return () => scheme.removeEventListener('change', follow);
  }, []);
  useEffect(() => {
    const follow = (): void => setStyle((n) => n + 1);
    document.addEventListener(RESTYLED, follow);
    return () => document.removeEventListener(RESTYLED, follow);
  }, []);
  useEffect(() => void document.fonts.ready.then(() => setFont(true)), []);
  return useMemo(() => coloursOf(plan, host), [plan, host, isDark, hasFont, style]);
}

function coloursOf(plan: SeatPlan, host: HTMLElement): Colours {
  const style = getComputedStyle(host);
  const value = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const [surface, ink] = [value('surface'), value('ink')];
  return {
    zones: plan.zones.map(({ color, hue }) => {
      const fill = zoneColour(color, value(`hue-${HUES[hue]}`), surface);
      return { fill, ink: inkOn(fill, surface, ink) };
    }),
    ink,
    surface,
    quiet: value('ink-quiet'),
    line: value('line-strong'),
    faint: value('line'),
    sunken: value('sunken'),
    focus: value('focus'),
    accent: value('accent'),
    rem: parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1,
  };
}
