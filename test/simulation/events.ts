/** The events of a simulated sale: small, so that everything sells out, and drawn for every seed. */
import { code, eventOf, hall, stage, ticketType } from '../fixtures/definitions.ts';
import type { Chance } from './chance.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';

export const START = Date.UTC(2027, 4, 7, 12);
export const MINUTE = 60_000;

const HALLS: readonly (readonly string[])[] = [
  ['....', '....'],
  ['...|..', 'zz..'],
  ['......'],
  ['zz', '..', '....|z'],
  ['aa..', '.a.z'],
  ['...a..', 'a|..z'],
];

/** An event with a floor and a hall, in one or two performances, with or without a waiting room, limits and quotas. */
export function drawEvent(chance: Chance, n: number, withRoom: boolean): EventDefinition {
  const maybe = (share: number, least: number, most: number): number | null =>
    chance.percent(share) ? chance.between(least, most) : null;
  const floor = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: chance.between(3, 12) } as const;
  const beer = { id: 'beer', name: 'Beer', price: 350, stock: maybe(70, 1, 4), maxPerTicket: 1 };
  const types = [
    ticketType('adult', 'floor', { barPerks: [beer], maxPerOrder: maybe(30, 2, 4), quota: maybe(40, 2, 8) }),
    ticketType('group', 'floor', { groupSize: 3 }),
    ticketType('guest', 'floor'),
    ticketType('seat', 'hall'),
    ticketType('side', 'hall', { zoneKeys: ['side'] }),
    ticketType('pair', 'hall', { groupSize: 2, quota: maybe(30, 2, 4) }),
    ticketType('wheel', 'hall', { accessible: true }),
  ];
  const prices = { adult: 1005, group: 2500, guest: 0, seat: 3333, side: 1999, pair: 5001, wheel: 1500 };
  const early = {
    ...stage('early', { adult: 805, seat: 2000 }, quotasOf(maybe(60, 1, 4))),
    endsAt: START + chance.between(1, 40) * MINUTE,
  };
  const holdMinutes = chance.pick([0.5, 2, 5]);
  const startsAt = chance.pick([START, START + 25 * MINUTE]);
  const date = (id: string, sortOrder: number, endsAt: number | null) =>
    ({ id, name: id, startsAt, endsAt, status: 'ON_SALE', sortOrder }) as const;
  const dates = [
    date('d1', 0, null),
    date('d2', 1, chance.percent(50) ? startsAt + chance.between(1, 50) * MINUTE : null),
  ];
  return eventOf([floor, hall(chance.pick(HALLS))], types, [early, stage('general', prices)], {
    id: `evt_${n}`,
    slug: `event-${n}`,
    holdMinutes,
    holdMaxMinutes: chance.pick([null, 0, holdMinutes * 2.5]),
    limitsAtHold: chance.percent(70),
    paymentMinutes: holdMinutes + chance.between(1, 6),
    maxInstallments: chance.between(1, 3),
    maxTicketsPerOrder: maybe(40, 3, 6),
    maxTicketsPerEmail: maybe(60, 3, 7),
    retentionDays: maybe(40, 0, 0),
    performances: chance.percent(40) ? dates.slice(0, 1) : dates,
    promoCodes: [
      code('HALF', { percentOff: 50, maxUses: chance.between(1, 3) }),
      code('TENTH', { percentOff: 10 }),
      code('ALL', { percentOff: 100, maxUses: 2 }),
      code('OVER', { percentOff: 10, endsAt: START + MINUTE }),
    ],
    ...drawBuyerChanges(chance),
    waitingRoom: withRoom,
    waitingRoomOpensAt: withRoom && chance.percent(50) ? START + opensIn(chance) : null,
    waitingRoomRate: chance.between(1, 5),
    waitingRoomMinutes: chance.between(2, 8),
    waitingRoomMaxAdmitted: chance.percent(30) ? chance.between(1, 4) : null,
  });
}

/** Soon, while entries that joined at the beginning still take part in the draw, or later. */
function opensIn(chance: Chance): number {
  return chance.percent(60) ? chance.between(1, 20) * 5_000 : chance.between(2, 8) * MINUTE;
}

function quotasOf(adult: number | null): Record<string, number> {
  return adult === null ? {} : { adult };
}

/** What buyers of an event may change, for which fee. */
function drawBuyerChanges(chance: Chance): Pick<EventDefinition, 'buyerChanges'> {
  if (chance.percent(40)) return {};
  const rule = (fee: number, feePercent: number) =>
    chance.percent(75) ? { untilMinutes: chance.pick([0, 10]), fee, feePercent, ticketTypeIds: null } : null;
  const buyerChanges = {
    cancel: rule(chance.pick([0, 99, 5_000]), chance.pick([0, 10])),
    change: rule(chance.pick([0, 0, 150]), chance.pick([0, 10])),
    attendees: rule(0, 0),
    withdrawalDays: chance.percent(20) ? 1 : 0,
  };
  return { buyerChanges };
}
