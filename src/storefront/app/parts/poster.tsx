/** A poster made of shapes and colours, which depend on the event's name alone. */
import type { JSX } from 'preact';

const SCHEMES = [
  ['#0b3d3a', '#2f8f83', '#f2c063', '#f6ead7'],
  ['#2a1f4d', '#7a5cc9', '#f08a5d', '#f7e7dc'],
  ['#5a1f2b', '#c4513f', '#f3b562', '#fbeedd'],
  ['#12304f', '#2f78b7', '#8fd0e0', '#f3efe4'],
  ['#22402a', '#6a9a4f', '#e8c15a', '#f5f0de'],
  ['#3b2c20', '#a8703c', '#e3b98a', '#f7eee0'],
] as const;

type Scheme = (typeof SCHEMES)[number];

export function Poster({ name }: { readonly name: string }) {
  const seed = hashOf(name);
  const scheme = SCHEMES[(seed >>> 5) % SCHEMES.length]!;
  const motif = MOTIFS[(seed >>> 17) % MOTIFS.length]!;
  return (
    <svg class="poster" viewBox="0 0 400 250" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <rect width="400" height="250" fill={scheme[0]} />
      {motif(scheme, seed)}
    </svg>
  );
}

type Motif = (scheme: Scheme, seed: number) => JSX.Element;

const arcs: Motif = ([, b, c, d], seed) => {
  const x = 60 + (seed % 280);
  return (
    <g>
      {Array.from({ length: 9 }, (_, i) => (
        <circle cx={x} cy={260} r={230 - i * 24} fill={[b, c, d, 'none'][i % 4]} opacity={0.35 + i * 0.07} />
      ))}
    </g>
  );
};

const waves: Motif = ([, b, c, d], seed) => (
  <g>
    <circle cx={280 - (seed % 120)} cy="86" r="46" fill={c} />
    {[0, 1, 2, 3].map((i) => {
      const y = 128 + i * 32;
      return (
        <path
          d={`M-80 ${y} q 60 -44 120 0 t 120 0 t 120 0 t 120 0 t 120 0 V 260 H -80 Z`}
          transform={`translate(${-((seed >>> (i * 3)) % 60)} 0)`}
          fill={i % 2 === 0 ? b : d}
          opacity={0.85 - i * 0.16}
        />
      );
    })}
  </g>
);

const stripes: Motif = ([, b, c, d], seed) => (
  <g transform={`rotate(${(seed % 5) * 9 - 18} 200 125)`}>
    {Array.from({ length: 11 }, (_, i) => {
      const width = 12 + ((seed >>> i) & 3) * 9;
      return (
        <rect
          x={-40 + i * 46}
          y={((seed >>> (i + 3)) & 3) * 34 - 40}
          width={width}
          height="420"
          fill={[b, c, d][i % 3]}
        />
      );
    })}
  </g>
);

const blocks: Motif = ([, b, c, d], seed) => (
  <g>
    {Array.from({ length: 24 }, (_, i) => {
      const pick = (seed >>> (i % 24)) & 7;
      const [x, y] = [(i % 8) * 50, 50 + Math.floor(i / 8) * 66.667];
      const fill = [b, c, d, b, 'none', 'none', c, 'none'][pick]!;
      return pick % 2 === 0 ? (
        <rect x={x} y={y} width="50" height="66.667" fill={fill} opacity="0.9" />
      ) : (
        <path d={`M${x} ${y + 66.667} A50 66.667 0 0 1 ${x + 50} ${y} V${y + 66.667} Z`} fill={fill} opacity="0.9" />
      );
    })}
  </g>
);

const beams: Motif = ([, b, c, d], seed) => (
  <g>
    {[0, 1, 2, 3, 4].map((i) => {
      const foot = 40 + i * 80;
      const lean = ((seed >>> (i * 4)) % 9) * 12 - 48;
      return (
        <path d={`M${foot} 0 L${foot + lean - 46} 250 H${foot + lean + 46} Z`} fill={[c, b, d][i % 3]} opacity="0.45" />
      );
    })}
    <rect y="206" width="400" height="44" fill={b} opacity="0.9" />
  </g>
);

const MOTIFS: readonly Motif[] = [arcs, waves, stripes, blocks, beams];

/** FNV-1a over the name's characters. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
