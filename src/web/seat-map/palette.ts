/**
 * Colours of zones: the operator's own where it can be told from the ground (3 : 1), else one of six hues that stay
 * apart for every kind of colour vision (after Okabe and Ito), in light and dark.
 *
 * An operator's own colour chooses the nearest free hue, so that a plan keeps its character. States differ in shape
 * and pattern, never in colour alone.
 */
import { channelsOf, contrast, hexOf, type Channels } from '#client/contrast.ts';

export const HUES = ['blue', 'orange', 'green', 'pink', 'sky', 'olive'] as const;

/** The contrast of a zone's colour with the ground below which our own hue takes its place. */
const CONTRAST_MIN = 3;

const REFERENCE: readonly Channels[] = [
  [0, 114, 178],
  [213, 94, 0],
  [0, 158, 115],
  [204, 121, 167],
  [86, 180, 233],
  [200, 180, 40],
];

/** The hue of each zone, by index into HUES; each is given once before any is given again. */
export function zonePalette(colors: readonly (string | null)[]): number[] {
  const given = new Set<number>();
  return colors.map((color) => {
    if (given.size >= HUES.length) given.clear();
    const wanted = color === null ? null : channelsOf(color);
    const free = HUES.map((_, hue) => hue).filter((hue) => !given.has(hue));
    const hue =
      wanted === null ? free[0]! : free.reduce((a, b) => (distance(wanted, a) <= distance(wanted, b) ? a : b));
    given.add(hue);
    return hue;
  });
}

/** A zone's own colour where it stands out from the ground enough, else the hue. */
export function zoneColour(own: string | null, hue: string, ground: string): string {
  const channels = own === null ? null : channelsOf(own);
  if (channels === null) return hue;
  const six = hexOf(channels);
  return contrast(six, ground) >= CONTRAST_MIN ? six : hue;
}

/** How far a colour is from a hue: by the direction in which it leaves grey, so that light and dark count little. */
function distance(color: Channels, hue: number): number {
  const [a, b] = [chroma(color), chroma(REFERENCE[hue]!)];
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

function chroma([r, g, b]: Channels): readonly [number, number] {
  const [u, v] = [r - g, (r + g) / 2 - b];
  const length = Math.hypot(u, v) || 1;
  return [u / length, v / length];
}
