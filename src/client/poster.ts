/**
 * A poster made of shapes and colours, which depend on the event's name alone, as SVG text: the service writes it into
 * the first HTML and the page draws the same one. All values in it are numbers and colours of this file.
 */

/** The box of the shapes. */
export const POSTER_BOX = '0 0 400 250';

const SCHEMES = [
  ['#0b3d3a', '#2f8f83', '#f2c063', '#f6ead7'],
  ['#2a1f4d', '#7a5cc9', '#f08a5d', '#f7e7dc'],
  ['#5a1f2b', '#c4513f', '#f3b562', '#fbeedd'],
  ['#12304f', '#2f78b7', '#8fd0e0', '#f3efe4'],
  ['#22402a', '#6a9a4f', '#e8c15a', '#f5f0de'],
  ['#3b2c20', '#a8703c', '#e3b98a', '#f7eee0'],
] as const;

type Scheme = (typeof SCHEMES)[number];

/** The shapes of an event's poster. */
export function posterShapes(name: string): string {
  const seed = hashOf(name);
  const scheme = SCHEMES[(seed >>> 5) % SCHEMES.length]!;
  const motif = MOTIFS[(seed >>> 17) % MOTIFS.length]!;
  return `<rect width="400" height="250" fill="${scheme[0]}"></rect>${motif(scheme, seed)}`;
}

type Motif = (scheme: Scheme, seed: number) => string;

const times = (count: number, shape: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => shape(i)).join('');

const arcs: Motif = ([, b, c, d], seed) => {
  const x = 60 + (seed % 280);
  return times(9, (i) => {
    const fill = [b, c, d, 'none'][i % 4];
    return `<circle cx="${x}" cy="260" r="${230 - i * 24}" fill="${fill}" opacity="${(0.35 + i * 0.07).toFixed(2)}"></circle>`;
  });
};

const waves: Motif = ([, b, c, d], seed) =>
  `<circle cx="${280 - (seed % 120)}" cy="86" r="46" fill="${c}"></circle>` +
  times(4, (i) => {
    const way = `M-80 ${128 + i * 32} q 60 -44 120 0 t 120 0 t 120 0 t 120 0 t 120 0 V 260 H -80 Z`;
    const shift = -((seed >>> (i * 3)) % 60);
    const opacity = (0.85 - i * 0.16).toFixed(2);
    return `<path d="${way}" transform="translate(${shift} 0)" fill="${i % 2 === 0 ? b : d}" opacity="${opacity}"></path>`;
  });

const stripes: Motif = ([, b, c, d], seed) => {
  const bars = times(11, (i) => {
    const [width, y] = [12 + ((seed >>> i) & 3) * 9, ((seed >>> (i + 3)) & 3) * 34 - 40];
    return `<rect x="${-40 + i * 46}" y="${y}" width="${width}" height="420" fill="${[b, c, d][i % 3]}"></rect>`;
  });
  return `<g transform="rotate(${(seed % 5) * 9 - 18} 200 125)">${bars}</g>`;
};

const blocks: Motif = ([, b, c, d], seed) =>
  times(24, (i) => {
    const pick = (seed >>> (i % 24)) & 7;
    const [x, y, w, h] = [(i % 8) * 50, 50 + Math.floor(i / 8) * 67, 50, 67];
    const fill = [b, c, d, b, 'none', 'none', c, 'none'][pick]!;
    return pick % 2 === 0
      ? `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}" opacity="0.9"></rect>`
      : `<path d="M${x} ${y + h} A${w} ${h} 0 0 1 ${x + w} ${y} V${y + h} Z" fill="${fill}" opacity="0.9"></path>`;
  });

const beams: Motif = ([, b, c, d], seed) =>
  times(5, (i) => {
    const foot = 40 + i * 80;
    const lean = ((seed >>> (i * 4)) % 9) * 12 - 48;
    return `<path d="M${foot} 0 L${foot + lean - 46} 250 H${foot + lean + 46} Z" fill="${[c, b, d][i % 3]}" opacity="0.45"></path>`;
  }) + `<rect y="206" width="400" height="44" fill="${b}" opacity="0.9"></rect>`;

const MOTIFS: readonly Motif[] = [arcs, waves, stripes, blocks, beams];

/** FNV-1a over the name's characters. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
