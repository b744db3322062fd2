/**
 * Places a transition table so that nothing lies upon anything else: statuses in layers from left to right, and between them a layer
 * for the labels of arrows.
 *
 *  1. Triggers between the same two statuses share an arrow; a trigger that leads back to its own status has none.
 *  2. An arrow leads from layer to layer. In each layer that it passes it has a place of its own, so that neither a box nor the label
 *     of another arrow stands in its way. In the gaps between two layers there are only lines.
 *  3. An arrow that closes a circle is placed as if it led the other way, and drawn from right to left.
 */
import type { TransitionTable } from '#machines/compile.ts';

type Table = TransitionTable<string, string>;

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedStatus extends Box {
  readonly status: string;
}

export interface PlacedArrow {
  readonly from: string;
  readonly to: string;
  readonly triggers: readonly string[];
  readonly label: Box;
  /** From the status where it begins to the one where it ends; between two points it is straight where both have one height. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly statuses: readonly PlacedStatus[];
  readonly arrows: readonly PlacedArrow[];
}

const BOX_WIDTH = 136;
const BOX_HEIGHT_MIN = 38;
/** Between two arrows at the same side of a box. */
const PORT_GAP = 16;
const LINE_HEIGHT = 13;
const CHARACTER_WIDTH = 7;
const LAYER_GAP = 30;
const PLACE_GAP = 12;
const MARGIN = 24;
const SWEEPS = 24;

/** A place in a layer: a status, or where an arrow passes. */
interface Place {
  readonly layer: number;
  readonly width: number;
  readonly height: number;
  y: number;
  /** Neighbours in the layers before and after. */
  readonly before: Place[];
  readonly after: Place[];
}

interface Way {
  readonly from: string;
  readonly to: string;
  readonly triggers: readonly string[];
  /** From the left status to the right one. */
  readonly places: readonly Place[];
  readonly labelled: Place;
  readonly isBackward: boolean;
}

export function layoutOf(table: Table): Layout {
  const arrows = arrowsOf(table);
  const ranks = ranksOf(table, arrows);
  const statuses = new Map<string, Place>();
  for (const status of table.statuses) {
    const touching = arrows.filter(({ from, to }) => from === status || to === status).length;
    const height = Math.max(BOX_HEIGHT_MIN, (touching + 1) * PORT_GAP);
    statuses.set(status, placeAt(2 * ranks.get(status)!, BOX_WIDTH, height));
  }
  const ways = arrows.map((arrow) => wayOf(arrow, statuses, ranks));
  const layers: Place[][] = [];
  for (const place of [...statuses.values(), ...ways.flatMap(({ places }) => places.slice(1, -1))]) {
    (layers[place.layer] ??= []).push(place);
  }
  order(layers);
  spread(layers);
  return placed(table, layers, statuses, ways);
}

type Arrow = Pick<Way, 'from' | 'to' | 'triggers'>;

function arrowsOf(table: Table): Arrow[] {
  const byPair = new Map<string, { from: string; to: string; triggers: string[] }>();
  for (const { from, trigger, to } of table.transitions) {
    if (from === null || trigger === null || from === to) continue;
    const arrow = byPair.get(`${from} ${to}`) ?? { from, to, triggers: [] };
    arrow.triggers.push(trigger);
    byPair.set(`${from} ${to}`, arrow);
  }
  return [...byPair.values()];
}

/** The longest way from the beginning to each status, without the arrows that close a circle. */
function ranksOf(table: Table, arrows: readonly Arrow[]): ReadonlyMap<string, number> {
  const reached = new Set<string>();
  const sorted: string[] = [];
  const visit = (status: string): void => {
    if (reached.has(status)) return;
    reached.add(status);
    for (const { from, to } of arrows) if (from === status) visit(to);
    sorted.unshift(status);
  };
  for (const status of [table.initial, ...table.statuses]) visit(status);
  const place = new Map(sorted.map((status, index) => [status, index]));
  const ranks = new Map(sorted.map((status) => [status, 0]));
  for (const status of sorted) {
    for (const { from, to } of arrows) {
      const [left, right] = place.get(from)! < place.get(to)! ? [from, to] : [to, from];
      if (left === status) ranks.set(right, Math.max(ranks.get(right)!, ranks.get(left)! + 1));
    }
  }
  return ranks;
}

const placeAt = (layer: number, width: number, height: number): Place => {
  return { layer, width, height, y: 0, before: [], after: [] };
};

function wayOf(arrow: Arrow, statuses: ReadonlyMap<string, Place>, ranks: ReadonlyMap<string, number>): Way {
  const { from, to, triggers } = arrow;
  const isBackward = ranks.get(from)! > ranks.get(to)!;
  const [left, right] = (isBackward ? [to, from] : [from, to]).map((status) => statuses.get(status)!) as [Place, Place];
  const labelLayer = left.layer + 1;
  const label = placeAt(
    labelLayer,
    Math.max(...triggers.map(({ length }) => length)) * CHARACTER_WIDTH + 8,
    triggers.length * LINE_HEIGHT + 6,
  );
  const passed = Array.from({ length: right.layer - labelLayer - 1 }, (_, index) =>
    placeAt(labelLayer + 1 + index, 0, 8),
  );
  const places = [left, label, ...passed, right];
  for (const [index, place] of places.slice(1).entries()) {
    places[index]!.after.push(place);
    place.before.push(places[index]!);
  }
  return { ...arrow, places, labelled: label, isBackward };
}

// ── order and height ─────────────────────────────────────────────────────────────────────────────────────────────────

/** Orders each layer by the middle of its neighbours, to and fro, and keeps the order with the fewest crossings. */
function order(layers: Place[][]): void {
  let best = layers.map((layer) => [...layer]);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForward = sweep % 2 === 0;
    const walk = isForward ? layers.slice(1) : layers.slice(0, -1).reverse();
    for (const layer of walk) {
      const neighbours = layers[layer[0]!.layer + (isForward ? -1 : 1)]!;
      const middle = (place: Place): number => {
        const near = isForward ? place.before : place.after;
        if (near.length === 0) return layer.indexOf(place);
        return near.reduce((sum, each) => sum + neighbours.indexOf(each), 0) / near.length;
      };
      const wanted = new Map(layer.map((place) => [place, middle(place)]));
      layer.sort((one, other) => wanted.get(one)! - wanted.get(other)!);
    }
    if (crossings(layers) < crossings(best)) best = layers.map((layer) => [...layer]);
  }
  for (const [index, layer] of best.entries()) layers[index] = layer;
}

function crossings(layers: readonly (readonly Place[])[]): number {
  let count = 0;
  for (const [index, layer] of layers.slice(0, -1).entries()) {
    const next = layers[index + 1]!;
    const lines = layer.flatMap((place, at) => place.after.map((each) => [at, next.indexOf(each)] as const));
    for (const [a, b] of lines) for (const [c, d] of lines) if (a < c && b > d) count += 1;
  }
  return count;
}

/** Gives each place its height: near the middle of its neighbours, as far as the places beside it let it. */
function spread(layers: readonly (readonly Place[])[]): void {
  for (const layer of layers) settle(layer, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const layer of sweep % 2 === 0 ? layers : [...layers].reverse()) {
      settle(layer, (place) => {
        const near = [...place.before, ...place.after];
        return near.length === 0 ? place.y : near.reduce((sum, { y }) => sum + y, 0) / near.length;
      });
    }
  }
}

/** `y` is the middle of a place. Where places wish for the same height they share the way that each has to give. */
function settle(layer: readonly Place[], wish: (place: Place) => number): void {
  const groups: { places: Place[]; offsets: number[]; top: number; length: number }[] = [];
  const wishes = new Map(layer.map((place) => [place, wish(place)]));
  for (const place of layer) {
    let group = { places: [place], offsets: [place.height / 2], top: 0, length: place.height };
    const topOf = ({ places, offsets }: typeof group): number =>
      places.reduce((sum, each, index) => sum + wishes.get(each)! - offsets[index]!, 0) / places.length;
    group.top = topOf(group);
    for (
      let above = groups.at(-1);
      above !== undefined && above.top + above.length + PLACE_GAP > group.top;
      above = groups.at(-1)
    ) {
      groups.pop();
      const shift = above.length + PLACE_GAP;
      group = {
        places: [...above.places, ...group.places],
        offsets: [...above.offsets, ...group.offsets.map((offset) => offset + shift)],
        top: 0,
        length: shift + group.length,
      };
      group.top = topOf(group);
    }
    groups.push(group);
  }
  for (const { places, offsets, top } of groups)
    for (const [index, place] of places.entries()) place.y = top + offsets[index]!;
}

// ── coordinates ──────────────────────────────────────────────────────────────────────────────────────────────────────

function placed(
  table: Table,
  layers: readonly (readonly Place[])[],
  statuses: ReadonlyMap<string, Place>,
  ways: readonly Way[],
): Layout {
  const all = layers.flat();
  const top = Math.min(...all.map(({ y, height }) => y - height / 2)) - MARGIN;
  const height = Math.max(...all.map((place) => place.y + place.height / 2)) - top + MARGIN;
  const columns: { readonly x: number; readonly width: number }[] = [];
  let x = MARGIN + 16;
  for (const layer of layers) {
    const width = Math.max(...layer.map((place) => place.width));
    columns.push({ x, width });
    x += width + LAYER_GAP;
  }
  const boxOf = (place: Place): Box => {
    const column = columns[place.layer]!;
    const left = column.x + (column.width - place.width) / 2;
    return { x: left, y: place.y - place.height / 2 - top, width: place.width, height: place.height };
  };
  /** Where an arrow touches the side of a box: arrows at one side lie in the order of where they come from. */
  const portOf = (place: Place, neighbour: Place, side: 'before' | 'after'): number => {
    const sorted = [...place[side]].sort((one, other) => one.y - other.y);
    return place.y - top + (sorted.indexOf(neighbour) - (sorted.length - 1) / 2) * PORT_GAP;
  };
  const arrows = ways.map(({ from, to, triggers, places, labelled, isBackward }): PlacedArrow => {
    const [first, last] = [places[0]!, places.at(-1)!];
    const through = places.slice(1, -1).flatMap((place): [number, number][] => {
      const { x: left, width } = columns[place.layer]!;
      return [
        [left, place.y - top],
        [left + width, place.y - top],
      ];
    });
    const points: [number, number][] = [
      [columns[first.layer]!.x + BOX_WIDTH, portOf(first, places[1]!, 'after')],
      ...through,
      [columns[last.layer]!.x, portOf(last, places.at(-2)!, 'before')],
    ];
    return { from, to, triggers, label: boxOf(labelled), points: isBackward ? points.reverse() : points };
  });
  return {
    width: x - LAYER_GAP + MARGIN,
    height,
    statuses: table.statuses.map((status) => ({ status, ...boxOf(statuses.get(status)!) })),
    arrows,
  };
}
