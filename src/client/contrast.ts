/** Colours as WCAG compares them; a colour that cannot be read counts as black. */

export type Channels = readonly [number, number, number];

/** The contrast of two colours by WCAG, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [bright, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}

/** The one of several colours that is read best on another. */
export function inkOn(colour: string, ...inks: readonly string[]): string {
  return inks.reduce((a, b) => (contrast(a, colour) >= contrast(b, colour) ? a : b));
}

/** The colour that results where a colour lies on a ground with the given opacity, as #rrggbb. */
export function mixed(colour: string, ground: string, share: number): string {
  const [a, b] = [channelsOf(colour) ?? BLACK, channelsOf(ground) ?? BLACK];
  const mix = (i: 0 | 1 | 2): number => Math.round(a[i] * share + b[i] * (1 - share));
  return hexOf([mix(0), mix(1), mix(2)]);
}

const BLACK: Channels = [0, 0, 0];

function luminance(color: string): number {
  const [r, g, b] = (channelsOf(color) ?? BLACK).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Reads a colour such as "#rrggbb" or "#rgb"; null for any other text. */
export function channelsOf(color: string): Channels | null {
  const long = color.trim().replace(/^#(\w)(\w)(\w)$/, '#$1$1$2$2$3$3');
  const digits = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(long);
  return digits && [parseInt(digits[1]!, 16), parseInt(digits[2]!, 16), parseInt(digits[3]!, 16)];
}

export function hexOf(channels: Channels): string {
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
