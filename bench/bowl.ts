/** A bowl with a pitch in the middle: blocks in three tiers around it, each seat with a place of its own. */
import type { EventFile } from './events.ts';

const TIERS = [
  { id: 'L', name: 'Lower', zone: 'lower', color: '#b3261e', price: 8_900 },
  { id: 'M', name: 'Middle', zone: 'middle', color: '#1d3557', price: 5_900 },
  { id: 'U', name: 'Upper', zone: 'upper', color: '#f4d35e', price: 2_900 },
] as const;

const BLOCKS_A_TIER = 36;
const PITCH = 25;
/** Of the angle of a block, what is left free for the way to its seats. */
const WAY_SHARE = 0.09;

/** About so many seats; those of a row stand on an arc. */
export function bowl(seats: number): EventFile {
  const rowsInAll = Math.max(6, Math.round(Math.sqrt(seats / 21)));
  const inner = rowsInAll * PITCH * 2.2;
  let left = seats;
  const sections = TIERS.flatMap((tier, level) => {
    const first = inner + level * (rowsInAll / 3 + 3) * PITCH;
    return Array.from({ length: BLOCKS_A_TIER }, (_, block) => {
      const from = (block / BLOCKS_A_TIER) * Math.PI * 2;
      const angle = (Math.PI * 2 * (1 - WAY_SHARE)) / BLOCKS_A_TIER;
      const rows = Array.from({ length: Math.ceil(rowsInAll / 3) }, (_, row) => {
        const radius = first + row * PITCH;
        const count = Math.min(left, Math.floor((angle * radius) / PITCH));
        left -= count;
        return {
          label: String(row + 1),
          seats: Array.from({ length: count }, (_, seat) => {
            const at = from + (angle * (seat + 0.5)) / count;
            const [x, y] = [Math.round(Math.cos(at) * radius * 1.25), Math.round(Math.sin(at) * radius)];
            return { id: `${tier.id}${block + 1}-${row + 1}-${seat + 1}`, label: String(seat + 1), x, y };
          }),
        };
      }).filter((row) => row.seats.length > 0);
      return { id: `${tier.id}${block + 1}`, name: `${tier.name} ${block + 1}`, zone_key: tier.zone, rows };
    }).filter(({ rows }) => rows.length > 0);
  });
  return {
    id: 'evt_bowl',
    slug: 'bowl',
    name: 'The Bowl',
    currency: 'EUR',
    hold_minutes: 10,
    performances: [{ id: 'day', name: 'Day', starts_at: '2099-05-14T18:00:00Z', ends_at: '2099-05-14T21:00:00Z' }],
    localities: [
      {
        id: 'bowl',
        name: 'Bowl',
        seating: 'NUMBERED',
        focal_point: { x: 0, y: 0 },
        zones: TIERS.map(({ zone, name, color }) => ({ zone_key: zone, name: `${name} tier`, color })),
        sections,
        shapes: [
          {
            shape: 'rectangle',
            position: { x: -inner * 0.8, y: -inner * 0.5 },
            rectangle: { width: inner * 1.6, height: inner },
            rotation: 0,
            text: { position: { x: inner * 0.8, y: inner * 0.5 }, text: 'Pitch' },
          },
        ],
      },
    ],
    ticketTypes: TIERS.flatMap(({ zone, name }) => [
      { id: zone, name: `${name} tier`, locality_id: 'bowl', zone_keys: [zone] },
      {
        id: `${zone}-child`,
        name: `${name} tier, child`,
        description: 'Up to 14 years.',
        locality_id: 'bowl',
        zone_keys: [zone],
      },
    ]),
    sellingStages: [
      {
        id: 'general',
        name: 'General sale',
        prices: Object.fromEntries(
          TIERS.flatMap(({ zone, price }) => [
            [zone, price],
            [`${zone}-child`, price / 2],
          ]),
        ),
      },
    ],
  };
}
