/**
 * Colours of zones: the operator's own where it can be told from the ground (3 : 1), else one of six hues that stay
 * apart for every kind of colour vision (after Okabe and Ito), in light and dark.
 *
 * An operator's own colour chooses the nearest free hue, so that a plan keeps its character. States differ in shape
 * and pattern, never in colour alone.
 */
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

type Channels = readonly [number, number, number];

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
  const six = `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
  return contrast(six, ground) >= CONTRAST_MIN ? six : hue;
}

/** Of several colours the one that is read best on another. */
export function inkOn(colour: string, ...inks: readonly string[]): string {
  return inks.reduce((a, b) => (contrast(a, colour) >= contrast(b, colour) ? a : b));
}

/** The contrast of two colours by WCAG, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [bright, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}

/** The colour that results where a colour lies on a ground with the given opacity. */
export function mixed(colour: string, ground: string, share: number): string {
  const [a, b] = [channelsOf(colour) ?? [0, 0, 0], channelsOf(ground) ?? [0, 0, 0]];
  return `rgb(${a.map((channel, i) => Math.round(channel * share + b[i]! * (1 - share))).join(' ')})`;
}

function luminance(color: string): number {
  const [r, g, b] = (channelsOf(color) ?? [0, 0, 0]).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Reads a colour such as "#rrggbb" or "#rgb"; null for any other text. */
function channelsOf(color: string): Channels | null {
  const long = color.trim().replace(/^#(\w)(\w)(\w)$/, '#$1$1$2$2$3$3');
  const digits = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(long);
  return digits && [parseInt(digits[1]!, 16), parseInt(digits[2]!, 16), parseInt(digits[3]!, 16)];
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
