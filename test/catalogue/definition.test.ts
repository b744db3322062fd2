import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../property.ts';
import { checkDefinition } from '#catalogue/definition.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { smallestEvent, smallHall } from '../fixtures/events.ts';

function definitionOf(json: unknown): EventDefinition {
  const checked = checkDefinition(json);
  assert.ok('definition' in checked, JSON.stringify(checked));
  return checked.definition;
}

function problemPaths(json: unknown): string[] {
  const checked = checkDefinition(json);
  assert.ok('problems' in checked, 'there should be problems');
  return checked.problems.map((problem) => problem.path);
}

describe('A definition', () => {
  it('has no control characters in its names and texts, but line feeds in its description', () => {
    definitionOf({ ...smallestEvent, description: 'First line\nsecond' });
    assert.deepEqual(problemPaths({ ...smallestEvent, name: 'A\nB', description: 'a\u001bb' }), [
      '/name',
      '/description',
    ]);
    const [type] = smallestEvent.ticketTypes;
    assert.deepEqual(problemPaths({ ...smallestEvent, ticketTypes: [{ ...type, entry_cutoff: 'a\u0085' }] }), [
      '/ticketTypes/0/entry_cutoff',
    ]);
  });

  it('has at most 200,000 rows of availability, and says how many it has', () => {
    const many = (count: number, make: (id: string) => object) =>
      Array.from({ length: count }, (_, n) => make(`n${n}`));
    const event = (types: number) => ({
      ...smallestEvent,
      performances: many(100, (id) => ({ id })),
      ticketTypes: many(types, (id) => ({ id })),
      sellingStages: many(50, (id) => ({ id, prices: { n0: 100 } })),
    });
    definitionOf(event(40));
    const checked = checkDefinition(event(41));
    assert.deepEqual('problems' in checked && checked.problems, [
      {
        path: '/performances',
        message: 'are too many: 100 dates × 41 ticket types × 50 stages are 205000, at most 200000 are allowed',
      },
    ]);
  });

  it('needs only id, slug, name, currency, a performance, a locality, a ticket type and a stage with a price', () => {
    assert.deepEqual(definitionOf(smallestEvent), {
      id: 'evt_small',
      slug: 'small',
      name: 'Small',
      description: '',
      status: 'PUBLISHED',
      currency: 'EUR',
      timezone: 'UTC',
      paymentProvider: 'provider_a',
      maxInstallments: 1,
      holdMinutes: 10,
      holdMaxMinutes: 0,
      limitsAtHold: false,
      paymentMinutes: 30,
      waitingRoom: false,
      waitingRoomOpensAt: null,
      waitingRoomRate: 100,
      waitingRoomMinutes: 10,
      waitingRoomInactivitySeconds: 120,
      waitingRoomPauseWhenSoldOut: false,
      waitingRoomMaxAdmitted: null,
      maxTicketsPerOrder: null,
      maxTicketsPerEmail: null,
      requireIndividualData: false,
      refunds: 'MANUAL',
      retentionDays: null,
      performances: [{ id: 'd1', name: 'Small', startsAt: null, endsAt: null, status: 'ON_SALE', sortOrder: 0 }],
      localities: [{ id: 'floor', name: 'floor', seating: 'GENERAL', capacity: 10 }],
      ticketTypes: [
        {
          id: 'adult',
          name: 'adult',
          description: '',
          localityId: 'floor',
          zoneKeys: null,
          groupSize: 1,
          maxPerOrder: null,
          quota: null,
          accessible: false,
          entryCutoff: null,
          lateFee: null,
          minConsumption: null,
          barPerks: [],
        },
      ],
      sellingStages: [
        {
          id: 'general',
          name: 'general',
          startsAt: null,
          endsAt: null,
          sortOrder: 0,
          prices: { adult: 1000 },
          quotas: {},
        },
      ],
      promoCodes: [],
    });
  });

  it('has a payment window of hold_minutes and twenty more, at least thirty', () => {
    assert.equal(definitionOf({ ...smallestEvent, hold_minutes: 0.05 }).paymentMinutes, 30);
    assert.equal(definitionOf({ ...smallestEvent, hold_minutes: 25 }).paymentMinutes, 45);
  });

  it('reads times with any offset as the same instant', () => {
    const [performance] = definitionOf({
      ...smallestEvent,
      performances: [{ id: 'd1', starts_at: '2027-05-07T20:00:00+02:00', ends_at: '2027-05-07T18:00:00.001Z' }],
    }).performances;
    assert.equal(performance?.startsAt, Date.UTC(2027, 4, 7, 18));
    assert.equal(performance?.endsAt, Date.UTC(2027, 4, 7, 18, 0, 0, 1));
  });

  it('may have notes in fields that begin with x_, anywhere', () => {
    const noted = { ...smallestEvent, x_note: 'ask Ada', performances: [{ id: 'd1', x_weather: { rain: true } }] };
    assert.deepEqual(definitionOf(noted), definitionOf(smallestEvent));
  });

  it('reads null in a limit as no limit', () => {
    const { sellingStages, maxTicketsPerOrder } = definitionOf({
      ...smallestEvent,
      max_tickets_per_order: null,
      sellingStages: [
        { id: 'a', prices: { adult: 1 }, quotas: null },
        { id: 'b', prices: { adult: 2 }, quotas: { adult: null } },
      ],
    });
    assert.equal(maxTicketsPerOrder, null);
    assert.deepEqual(
      sellingStages.map((stage) => stage.quotas),
      [{}, {}],
    );
  });
});

type Change = (event: typeof smallestEvent) => unknown;

const hallEvent = { ...smallestEvent, localities: [smallHall] };
const withType =
  (ticketType: object): Change =>
  (event) => ({ ...event, ticketTypes: [{ id: 'adult', ...ticketType }] });
const withStage =
  (stage: object): Change =>
  (event) => ({
    ...event,
    sellingStages: [{ id: 'general', prices: { adult: 1 }, ...stage }],
  });
const withCode =
  (code: object): Change =>
  (event) => ({
    ...event,
    promoCodes: [{ code: 'EARLY', percent_off: 10, ...code }],
  });
const withLocality =
  (locality: object): Change =>
  (event) => ({ ...event, localities: [{ id: 'floor', ...locality }] });
const withRows = (...rows: object[]): Change => withLocality({ sections: [{ id: 'A', rows }] });

const badDefinitions: readonly (readonly [title: string, change: Change, ...paths: string[]])[] = [
  ['is not an object', () => [], ''],
  ['is null', () => null, ''],
  [
    'is empty',
    () => ({}),
    '/id',
    '/slug',
    '/name',
    '/currency',
    '/performances',
    '/localities',
    '/ticketTypes',
    '/sellingStages',
  ],
  [
    'has lists without an item',
    (e) => ({ ...e, performances: [], sellingStages: [] }),
    '/performances',
    '/sellingStages',
  ],
  ['has an id that no address could carry', (e) => ({ ...e, id: 'a/b' }), '/id'],
  ['has a slug with a space', (e) => ({ ...e, slug: 'a b' }), '/slug'],
  ['has a currency that is none', (e) => ({ ...e, currency: 'eur' }), '/currency'],
  ['has a time zone that is none', (e) => ({ ...e, timezone: 'Europe/Atlantis' }), '/timezone'],
  ['has a status that is none', (e) => ({ ...e, status: 'published' }), '/status'],
  ['has a number as text', (e) => ({ ...e, hold_minutes: '10' }), '/hold_minutes'],
  ['holds for no time', (e) => ({ ...e, hold_minutes: 0 }), '/hold_minutes'],
  ['ends payment with the hold', (e) => ({ ...e, hold_minutes: 15, payment_minutes: 15 }), '/payment_minutes'],
  ['has a ceiling below its window', (e) => ({ ...e, hold_max_minutes: 9 }), '/hold_max_minutes'],
  ['has a ceiling below zero', (e) => ({ ...e, hold_max_minutes: -1 }), '/hold_max_minutes'],
  ['leaves it open when limits count', (e) => ({ ...e, limits_at_hold: null }), '/limits_at_hold'],
  ['keeps personal data for no day', (e) => ({ ...e, retention_days: 0 }), '/retention_days'],
  ['keeps personal data for over ten years', (e) => ({ ...e, retention_days: 3651 }), '/retention_days'],
  ['keeps personal data for a day and a half', (e) => ({ ...e, retention_days: 1.5 }), '/retention_days'],
  [
    'lets buyers cancel tickets of a type that it has not',
    (e) => ({ ...e, buyer_changes: { cancel: { ticket_type_ids: ['none'] } } }),
    '/buyer_changes/cancel/ticket_type_ids/0',
  ],
  [
    'takes more than all of a credit as a fee',
    (e) => ({ ...e, buyer_changes: { change: { fee_percent: 101 } } }),
    '/buyer_changes/change/fee_percent',
  ],
  ['has no door at all', (e) => ({ ...e, doors: [] }), '/doors'],
  ['has two doors of one id', (e) => ({ ...e, doors: [{ id: 'a' }, { id: 'a' }] }), '/doors/1/id'],
  ['has a door for no type', (e) => ({ ...e, doors: [{ id: 'a', ticket_type_ids: [] }] }), '/doors/0/ticket_type_ids'],
  [
    'has a door for a type that it has not',
    (e) => ({ ...e, doors: [{ id: 'a' }, { id: 'b', ticket_type_ids: ['none'] }] }),
    '/doors/1/ticket_type_ids/0',
  ],
  ['names a door at length', (e) => ({ ...e, doors: [{ id: 'a', name: 'x'.repeat(101) }] }), '/doors/0/name'],
  ['lets tickets enter again now and then', (e) => ({ ...e, reentry: 'SOMETIMES' }), '/reentry'],
  ['names no address of its terms', (e) => ({ ...e, legal: { terms_url: 'javascript:alert(1)' } }), '/legal/terms_url'],
  ['has a tax above all of a price', (e) => ({ ...e, legal: { vat_percent: 101 } }), '/legal/vat_percent'],
  ['shows a picture of another host', (e) => ({ ...e, picture: 'https://cdn.example/a.jpg' }), '/picture'],
  ['shows a picture above its folder', (e) => ({ ...e, picture: '../secret.png' }), '/picture'],
  ['shows a drawing that may carry scripts', (e) => ({ ...e, picture: 'a.svg' }), '/picture'],
  ['has a venue without a name', (e) => ({ ...e, venue: { city: 'Erfurt' } }), '/venue/name'],
  ['is in a country by its name', (e) => ({ ...e, venue: { name: 'Hall', country: 'Germany' } }), '/venue/country'],
  ['lets people in two days before', (e) => ({ ...e, doors_minutes: 2880 }), '/doors_minutes'],
  [
    'lets people in after the start',
    (e) => ({
      ...e,
      performances: [{ id: 'd', starts_at: '2027-05-07T18:00:00Z', doors_at: '2027-05-07T18:00:01Z' }],
    }),
    '/performances/0/doors_at',
  ],
  [
    'has a line-up at no time of the day',
    (e) => ({ ...e, lineup: [{ name: 'Ada', time: '24:00' }, { time: '21:00' }] }),
    '/lineup/0/time',
    '/lineup/1/name',
  ],
  ['has thirteen installments', (e) => ({ ...e, max_installments: 13 }), '/max_installments'],
  ['lets in half a person more', (e) => ({ ...e, waiting_room_rate: 1.5 }), '/waiting_room_rate'],
  ['lets in nobody', (e) => ({ ...e, waiting_room_rate: 0 }), '/waiting_room_rate'],
  ['opens its room at no time', (e) => ({ ...e, waiting_room_opens_at: 'noon' }), '/waiting_room_opens_at'],
  [
    'opens its room at a leap second',
    (e) => ({ ...e, waiting_room_opens_at: '2027-06-30T23:59:60Z' }),
    '/waiting_room_opens_at',
  ],
  [
    'has a time without an offset',
    (e) => ({ ...e, performances: [{ id: 'd', starts_at: '2027-05-07T18:00:00' }] }),
    '/performances/0/starts_at',
  ],
  [
    'ends before it starts',
    (e) => ({ ...e, performances: [{ id: 'd', starts_at: '2027-05-07T18:00:00Z', ends_at: '2027-05-07T18:00:00Z' }] }),
    '/performances/0/ends_at',
  ],
  ['has two dates of one id', (e) => ({ ...e, performances: [{ id: 'd' }, { id: 'd' }] }), '/performances/1/id'],
  [
    'has an id that every object answers to',
    (e) => ({ ...e, performances: [{ id: 'constructor' }] }),
    '/performances/0/id',
  ],
  ['has an id with half a character', (e) => ({ ...e, performances: [{ id: 'd\ud83c' }] }), '/performances/0/id'],
  [
    'has a date that is no object',
    (e) => ({ ...e, performances: [{ id: 'd' }, 7, { id: 'd' }] }),
    '/performances/1',
    '/performances/2/id',
  ],
  ['has general places without number', withLocality({}), '/localities/0/capacity'],
  ['has fewer places than none', withLocality({ capacity: -1 }), '/localities/0/capacity'],
  ['has half a place', withLocality({ capacity: 0.5 }), '/localities/0/capacity'],
  ['has numbered places without seats', withLocality({ seating: 'NUMBERED', capacity: 5 }), '/localities/0/sections'],
  [
    'has general places with seats',
    withLocality({ seating: 'GENERAL', capacity: 5, sections: smallHall.sections }),
    '/localities/0/sections',
  ],
  [
    'has a plan and sections',
    withLocality({ sections: smallHall.sections, seating_plan: { zones: [], categories: [] } }),
    '/localities/0/seating_plan',
  ],
  [
    'names a plan by a path where none can be followed',
    withLocality({ seating_plan: 'hall.json' }),
    '/localities/0/seating_plan',
  ],
  [
    'has two sections of one id',
    withLocality({
      sections: [
        { id: 'A', rows: [{ seats: [{ id: 'x' }] }] },
        { id: 'A', rows: [{ seats: [{ id: 'y' }] }] },
      ],
    }),
    '/localities/0/sections/1/id',
  ],
  [
    'has a row without seats',
    withRows({ seats: 0 }, { seats: [] }, {}),
    '/localities/0/sections/0/rows/0/seats',
    '/localities/0/sections/0/rows/1/seats',
    '/localities/0/sections/0/rows/2/seats',
  ],
  [
    'has an aisle behind the last seat',
    withRows({ seats: 6, aisle_after: [3, 6] }),
    '/localities/0/sections/0/rows/0/aisle_after/1',
  ],
  [
    'has an accessible seat beyond the row',
    withRows({ seats: 6, accessible: [7] }),
    '/localities/0/sections/0/rows/0/accessible/0',
  ],
  [
    'has one seat twice in a row',
    withRows({ seats: [{ id: 's' }, { id: 's' }] }),
    '/localities/0/sections/0/rows/0/seats/1/id',
  ],
  [
    'has two rows of one label',
    withRows({ label: '1', seats: 2 }, { label: '1', seats: 2 }),
    '/localities/0/sections/0/rows/1/seats',
  ],
  [
    'has one seat in two localities',
    (e) => ({
      ...e,
      localities: [
        { ...smallHall, id: 'a' },
        { ...smallHall, id: 'b' },
      ],
      ticketTypes: [{ id: 'adult', locality_id: 'a' }],
    }),
    '/localities/1/sections/0/rows/0/seats',
    '/localities/1/sections/0/rows/1/seats',
    '/localities/1/sections/1/rows/0/seats',
  ],
  [
    'has more seats than an event may',
    withLocality({ sections: [{ id: 'A', rows: Array.from({ length: 101 }, () => ({ seats: 2000 })) }] }),
    '/localities/0/sections/0/rows/100/seats',
  ],
  [
    'has a zone listed twice',
    withLocality({ sections: smallHall.sections, zones: [{ zone_key: 'A' }, { zone_key: 'A' }] }),
    '/localities/0/zones/1/zone_key',
  ],
  [
    'has a type without a locality to be guessed',
    (e) => ({
      ...e,
      localities: [
        { id: 'a', capacity: 1 },
        { id: 'b', capacity: 1 },
      ],
    }),
    '/ticketTypes/0/locality_id',
  ],
  ['has a type of an unknown locality', withType({ locality_id: 'roof' }), '/ticketTypes/0/locality_id'],
  ['has zones where nothing is numbered', withType({ zone_keys: ['A'] }), '/ticketTypes/0/zone_keys'],
  [
    'has a type of an unknown zone',
    () => ({ ...hallEvent, ticketTypes: [{ id: 'adult', zone_keys: ['A', 'Z'] }] }),
    '/ticketTypes/0/zone_keys/1',
  ],
  [
    'has a type of no zone',
    () => ({ ...hallEvent, ticketTypes: [{ id: 'adult', zone_keys: [] }] }),
    '/ticketTypes/0/zone_keys',
  ],
  ['has groups of nobody', withType({ group_size: 0 }), '/ticketTypes/0/group_size'],
  ['has two types of one id', (e) => ({ ...e, ticketTypes: [{ id: 'adult' }, { id: 'adult' }] }), '/ticketTypes/1/id'],
  ['has a perk without a price', withType({ barPerks: [{ id: 'beer' }] }), '/ticketTypes/0/barPerks/0/price'],
  [
    'has one perk twice in a type',
    withType({ barPerks: ['Beer', 'Ale'].map((name) => ({ id: 'beer', name, price: 1 })) }),
    '/ticketTypes/0/barPerks/1/id',
  ],
  ['has no price at all', withStage({ prices: {} }), '/sellingStages'],
  ['has a price for an unknown type', withStage({ prices: { adult: 1, 'a/b': 1 } }), '/sellingStages/0/prices/a~1b'],
  ['has a price in text', withStage({ prices: { adult: '4500' } }), '/sellingStages/0/prices/adult'],
  ['has a price below nothing', withStage({ prices: { adult: -1 } }), '/sellingStages/0/prices/adult'],
  ['has a quota for an unknown type', withStage({ quotas: { child: 1 } }), '/sellingStages/0/quotas/child'],
  [
    'has a stage that ends first',
    withStage({ starts_at: '2027-02-01T00:00:00Z', ends_at: '2027-01-01T00:00:00Z' }),
    '/sellingStages/0/ends_at',
  ],
  [
    'has two stages of one id',
    (e) => ({ ...e, sellingStages: [...e.sellingStages, ...e.sellingStages] }),
    '/sellingStages/1/id',
  ],
  [
    'has a code twice, but for capitals',
    (e) => ({
      ...e,
      promoCodes: [
        { code: 'early', percent_off: 1 },
        { code: 'EARLY', amount_off: 1 },
      ],
    }),
    '/promoCodes/1/code',
  ],
  ['has a code with two discounts', withCode({ amount_off: 100 }), '/promoCodes/0/amount_off'],
  ['has a code with a control character', withCode({ code: 'A\u0001B' }), '/promoCodes/0/code'],
  ['has a code with a space at its end', withCode({ code: 'EARLY ' }), '/promoCodes/0/code'],
  ['has a code without a discount', withCode({ percent_off: null }), '/promoCodes/0/percent_off'],
  ['has a code of no percent', withCode({ percent_off: 0 }), '/promoCodes/0/percent_off'],
  ['has a code of over a hundred percent', withCode({ percent_off: 101 }), '/promoCodes/0/percent_off'],
  [
    'has a code for an unknown type',
    withCode({ ticket_type_ids: ['adult', 'child'] }),
    '/promoCodes/0/ticket_type_ids/1',
  ],
  [
    'has problems of shape and of reference at once',
    (e) => ({ ...e, currency: 5, ticketTypes: [{ id: 'adult', locality_id: 'roof' }], promoCodes: [{ code: 'X' }] }),
    '/currency',
    '/ticketTypes/0/locality_id',
    '/promoCodes/0/percent_off',
  ],
];

describe('A definition is refused with the path of each problem when it', () => {
  for (const [title, change, ...paths] of badDefinitions) {
    it(title, () => assert.deepEqual(problemPaths(change(smallestEvent)).sort(), paths.sort()));
  }
});

describe('Problems', () => {
  it('say what must be there instead', () => {
    const checked = checkDefinition({ ...smallestEvent, currency: 'euro', status: 'LIVE', slug: 3 });
    assert.deepEqual('problems' in checked && checked.problems, [
      {
        path: '/slug',
        message: 'must be 1 to 100 letters, digits, dots, hyphens, underscores or tildes, the first a letter or digit',
      },
      { path: '/status', message: 'must be one of PUBLISHED, DRAFT' },
      { path: '/currency', message: 'must be three capital letters, such as EUR' },
    ]);
  });

  const hall = (row: object, seat: object = {}) => ({
    ...smallestEvent,
    localities: [{ id: 'hall', sections: [{ id: 'A', rows: [row, { seats: [seat] }] }] }],
  });
  const unknown: readonly (readonly [event: object, path: string, message: string])[] = [
    [{ ...smallestEvent, max_ticket_per_email: 1 }, '/max_ticket_per_email', 'did you mean max_tickets_per_email?'],
    [{ ...smallestEvent, tickettypes: [] }, '/tickettypes', 'did you mean ticketTypes?'],
    [{ ...smallestEvent, venue: { name: 'Arena', town: 'Ulm' } }, '/venue/town', 'names that begin with x_'],
    [hall({ seats: 2, aisle: [1] }), '/localities/0/sections/0/rows/0/aisle', 'did you mean aisle_after?'],
    [hall({ seats: 2 }, { acessible: true }), '/localities/0/sections/0/rows/1/seats/0/acessible', 'accessible?'],
    [
      withType({ barPerks: [{ id: 'beer', price: 5, 'a/b': 1 }] })(smallestEvent) as object,
      '/ticketTypes/0/barPerks/0/a~1b',
      'x_',
    ],
    [withStage({ price: { adult: 1 } })(smallestEvent) as object, '/sellingStages/0/price', 'did you mean prices?'],
    [withCode({ uses: 4 })(smallestEvent) as object, '/promoCodes/0/uses', 'unknown field'],
    [{ ...smallestEvent, ['y'.repeat(100_000)]: 1 }, `/${'y'.repeat(100_000)}`, 'unknown field; notes'],
  ];
  it('name a field that the definition does not have, and the nearest that it has', () => {
    for (const [event, path, message] of unknown) {
      const checked = checkDefinition(event);
      const [problem, ...more] = 'problems' in checked ? checked.problems : [];
      assert.deepEqual([problem?.path, more.length], [path, 0]);
      assert.match(problem!.message, /^unknown field; /);
      assert.ok(problem!.message.includes(message), problem!.message);
    }
  });

  const inWords: readonly (readonly [event: object, message: string])[] = [
    [{ ...smallestEvent, name: '' }, 'must not be empty'],
    [{ ...smallestEvent, name: 'n'.repeat(301) }, 'must have at most 300 characters'],
    [{ ...smallestEvent, name: 5 }, 'must be a text of 1 to 300 characters without control characters'],
    [{ ...smallestEvent, waiting_room: 'no' }, 'must be true or false'],
    [{ ...smallestEvent, hold_minutes: 0 }, 'must be more than 0'],
    [{ ...smallestEvent, max_installments: 0 }, 'must be from 1 to 12'],
    [{ ...smallestEvent, max_installments: 13 }, 'must be at most 12'],
    [{ ...smallestEvent, max_tickets_per_order: 1.5 }, 'must be a whole number or null'],
    [{ ...smallestEvent, performances: [] }, 'must not be an empty list'],
    [{ ...smallestEvent, performances: {} }, 'must be a list'],
    [{ ...smallestEvent, venue: 'Arena' }, 'must be an object or null'],
    [{ ...smallestEvent, lineup: Array.from({ length: 201 }, () => ({ name: 'N' })) }, 'must have at most 200 items'],
    [withType({ zone_keys: ['A', 'A'] })({ ...hallEvent } as never) as object, 'must not have "A" twice'],
    [{ ...smallestEvent, timezone: 'Berlin' }, 'must be a time zone of the IANA list, such as Europe/Berlin'],
    [
      { ...smallestEvent, timezone: 'Europe/Berln' },
      'must be a time zone of the IANA list; did you mean Europe/Berlin?',
    ],
    [
      withType({ locality_id: 'flor' })(smallestEvent as never) as object,
      '"flor" is not a locality of the event; did you mean floor?',
    ],
    [
      { ...smallestEvent, waiting_room_opens_at: 'soon' },
      'must be a time with its offset (RFC 3339), such as 2027-05-07T18:00:00Z',
    ],
    [
      { ...smallestEvent, promoCodes: [{ code: ' X', amount_off: 1 }] },
      'must be a text of 1 to 100 characters without control characters or space at its ends',
    ],
    [hall({ seats: 'four' }), 'must be a whole number or a list'],
  ];
  it('are said in words, one for each mistake', () => {
    for (const [event, message] of inWords) {
      const checked = checkDefinition(event);
      assert.deepEqual('problems' in checked && checked.problems.map((problem) => problem.message), [message]);
    }
  });

  it('are bounded in number', () => {
    const promoCodes = Array.from({ length: 5_000 }, () => 'EARLY');
    assert.equal(problemPaths({ ...smallestEvent, promoCodes }).length, 1_000);
    const doubled = Array.from({ length: 5_000 }, () => ({ code: 'EARLY', percent_off: 5 }));
    assert.equal(problemPaths({ ...smallestEvent, promoCodes: doubled }).length, 1_000);
  });

  it('are found in any JSON value, which stays unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (json) => {
        const before = JSON.stringify(json);
        assert.ok('problems' in checkDefinition(json));
        assert.equal(JSON.stringify(json), before);
      }),
    );
  });

  it('are found in an event of which any part is any JSON value', () => {
    const event = { ...hallEvent, promoCodes: [{ code: 'EARLY', percent_off: 5 }] };
    const parts = partsOf(event);
    fc.assert(
      fc.property(fc.constantFrom(...parts), fc.jsonValue(), (part, value) => {
        const changed = replaced(event, part, value);
        const checked = checkDefinition(changed);
        assert.ok('definition' in checked || checked.problems.length > 0);
      }),
      { numRuns: 500 },
    );
  });

  it('name a shape that is nested too deep, without a stack overflow', () => {
    let shape: Record<string, unknown> = {};
    for (let depth = 0; depth < 50_000; depth++) shape = { shape };
    const localities = [{ ...smallHall, shapes: [shape] }];
    assert.deepEqual(problemPaths({ ...smallestEvent, localities }), ['/localities/0/shapes/0']);
  });
});

/** The way to every part of a JSON value. */
function partsOf(json: unknown): string[][] {
  if (typeof json !== 'object' || json === null) return [[]];
  return [[], ...Object.entries(json).flatMap(([key, part]) => partsOf(part).map((way) => [key, ...way]))];
}

function replaced(json: unknown, [key, ...way]: string[], value: unknown): unknown {
  if (key === undefined) return value;
  const copy: unknown = Array.isArray(json) ? [...json] : { ...(json as object) };
  const fields = copy as Record<string, unknown>;
  fields[key] = replaced(fields[key], way, value);
  return copy;
}
