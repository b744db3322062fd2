import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../property.ts';
import { checkDefinition } from '#catalogue/definition.ts';
import { readCatalogue, samplesFolder } from '#catalogue/files.ts';
import { toEventFile } from '#catalogue/event-fields.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';

function readBack(definition: EventDefinition): unknown {
  const checked = checkDefinition(JSON.parse(JSON.stringify(toEventFile(definition))));
  return 'definition' in checked ? checked.definition : checked.problems;
}

/** Any of the given fields, each there or not. */
const some = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record<T, never>(fields, { requiredKeys: [] });

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
/** Without `webUrl`, which makes the table that `anyText` goes without. */
const address = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), fc.string({ maxLength: 12 }))
  .map(([scheme, domain, place]) => new URL(`${scheme}://${domain}/${encodeURIComponent(place)}`).href);
const label = text.filter((value) => !/[\u0000-\u001f\u007f]/.test(value) && value.length <= 100);
const coordinate = fc.integer({ min: -5000, max: 5000 }).map((value) => value / 4 + 0);
const point = fc.record({ x: coordinate, y: coordinate });
const cap = fc.option(fc.integer({ min: 1, max: 500 }));
const minutes = fc.integer({ min: 1, max: 400 }).map((value) => value / 8);
const time = fc
  .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const times = fc
  .uniqueArray(time, { minLength: 2, maxLength: 2 })
  .map((pair) => pair.sort())
  .chain(([starts_at, ends_at]) =>
    some({ starts_at: fc.constant(starts_at ?? null), ends_at: fc.constant(ends_at ?? null) }),
  );
const color = fc.option(fc.constantFrom('#123456', 'teal', 'rgb(1, 2, 3)'));
const zoneKey = fc.constantFrom('red', 'blue', 'green');

const seat = some({
  label,
  x: coordinate,
  y: coordinate,
  zone_key: zoneKey,
  accessible: fc.boolean(),
  restricted_view: fc.boolean(),
});
const row = fc
  .tuple(
    fc.oneof(fc.integer({ min: 2, max: 9 }), fc.array(seat, { minLength: 2, maxLength: 6 })),
    fc.array(fc.constant(1)),
  )
  .map(([seats, aisle_after]) => ({ seats, aisle_after, accessible: [1] }));

/** Ids of rows and seats by their places, so that none is there twice. */
function numbered(sections: readonly (readonly (typeof row extends fc.Arbitrary<infer Row> ? Row : never)[])[]) {
  return sections.map((rows, s) => ({
    id: `s${s}`,
    rows: rows.map((each, r) => ({
      ...each,
      label: `r${r}`,
      seats: Array.isArray(each.seats)
        ? each.seats.map((part, place) => ({ ...part, id: `${s}/${r}/${place}` }))
        : each.seats,
    })),
  }));
}

const hall = fc
  .tuple(
    some({
      name: text,
      focal_point: fc.option(point),
      zones: fc.uniqueArray(fc.record({ zone_key: zoneKey, color }), { selector: (zone) => zone.zone_key }),
      shapes: fc.array(fc.dictionary(label, fc.jsonValue({ maxDepth: 3 })), { maxLength: 2 }),
    }),
    fc.array(fc.array(row, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  )
  .map(([locality, sections]) => ({ id: 'hall', ...locality, sections: numbered(sections) }));

const ticketType = some({
  name: text,
  description: text,
  group_size: fc.integer({ min: 1, max: 9 }),
  max_per_order: cap,
  quota: cap,
  entry_cutoff: fc.option(text),
  late_fee: cap,
  min_consumption: cap,
});

const eventFile = fc
  .record({
    base: some({
      description: fc.string(),
      status: fc.constantFrom('PUBLISHED', 'DRAFT'),
      timezone: fc.constantFrom('Europe/Berlin', 'America/Bogota'),
      payment_provider: fc.constantFrom('provider_a', 'provider_b'),
      max_installments: fc.integer({ min: 1, max: 12 }),
      hold_minutes: minutes,
      hold_max_minutes: fc.constantFrom(60, 0, null),
      refunds: fc.constantFrom('MANUAL', 'AUTOMATIC'),
      limits_at_hold: fc.boolean(),
      payment_minutes: fc.constant(70.5),
      waiting_room: fc.boolean(),
      waiting_room_opens_at: fc.option(time),
      waiting_room_rate: fc.integer({ min: 1, max: 9999 }),
      waiting_room_minutes: minutes,
      waiting_room_inactivity_seconds: minutes,
      waiting_room_pause_when_sold_out: fc.boolean(),
      waiting_room_max_admitted: cap,
      max_tickets_per_order: cap,
      max_tickets_per_email: cap,
      require_individual_data: fc.boolean(),
      picture: fc.constantFrom('a.jpg', 'pictures/b-2.webp', null),
      venue: fc.option(
        fc.record({
          name: text,
          address: fc.option(text),
          city: fc.option(text),
          country: fc.constantFrom('DE', null),
        }),
      ),
      doors_minutes: fc.option(fc.integer({ min: 0, max: 1440 })),
      lineup: fc.option(fc.array(fc.record({ name: text, time: fc.constantFrom('21:30', null) }), { maxLength: 3 })),
      retention_days: fc.option(fc.integer({ min: 1, max: 3650 })),
      buyer_changes: fc.option(
        fc.record({
          cancel: fc.option(
            fc.record({
              until_minutes: fc.integer({ min: 0, max: 525_600 }),
              fee: fc.nat(1_000_000),
              fee_percent: fc.constantFrom(0, 12.5, 100),
              ticket_type_ids: fc.constant(null),
            }),
          ),
          change: fc.constant(null),
          attendees: fc.constant(null),
          withdrawal_days: fc.integer({ min: 0, max: 60 }),
        }),
      ),
      doors: fc.constantFrom(null, [{ id: 'north', name: 'North', ticket_type_ids: null }]),
      reentry: fc.constantFrom('AFTER_EXIT', 'NEVER', 'ALWAYS'),
      legal: fc.option(
        fc.record({
          terms_url: fc.option(address),
          imprint_url: fc.option(address),
          privacy_url: fc.option(address),
          vat_percent: fc.constantFrom(7, 19, 8.1, null),
          order_button: fc.constantFrom('Zahlungspflichtig bestellen', null),
        }),
      ),
      brand: fc.option(
        some({
          name: text,
          logo: fc.constant(`data:image/svg+xml;base64,${btoa('<svg xmlns="http://www.w3.org/2000/svg"/>')}`),
          accent: fc.constantFrom('#7A1F2B', '#0b5a52'),
          accent_dark: fc.constant('#e8b84a'),
          scheme: fc.constantFrom('AUTO', 'LIGHT', 'DARK'),
          support: fc.constantFrom('kasse@theater.example', 'https://theater.example/hilfe'),
          links: fc.array(fc.record({ label: fc.constant({ de: 'Impressum' }), url: address }), { maxLength: 2 }),
          credit: fc.boolean(),
        }),
      ),
    }),
    name: text,
    dates: fc.array(fc.tuple(some({ name: text, status: fc.constantFrom('ON_SALE', 'DRAFT') }), times), {
      minLength: 1,
      maxLength: 3,
    }),
    locality: hall,
    types: fc.array(ticketType, { minLength: 1, maxLength: 3 }),
    stages: fc.array(fc.tuple(times, fc.nat(), cap), { minLength: 1, maxLength: 3 }),
    codes: fc.array(fc.tuple(times, cap), { maxLength: 2 }),
  })
  .map(({ base, name, dates, locality, types, stages, codes }) => ({
    id: 'evt_any',
    slug: 'any',
    name,
    currency: 'EUR',
    ...base,
    performances: dates.map(([date, span], index) => ({ id: `d${index}`, ...date, ...span })),
    localities: [{ id: 'floor', capacity: 5 }, locality],
    ticketTypes: types.map((type, index) => ({
      id: `t${index}`,
      locality_id: index === 0 ? 'hall' : 'floor',
      accessible: index === 0,
      barPerks: [{ id: `perk${index}`, price: index }],
      ...type,
    })),
    sellingStages: stages.map(([span, price, quota], index) => ({
      id: `g${index}`,
      ...span,
      prices: { t0: price % 1_000_000 },
      quotas: { t0: quota },
    })),
    promoCodes: codes.map(([span, uses], index) => ({
      code: `C${index}`,
      ...(index === 0 ? { percent_off: 12.5 } : { amount_off: 5, ticket_type_ids: ['t0'] }),
      max_uses: uses,
      ...span,
    })),
  }));

describe('The file form of a definition', () => {
  it('reads back as the same definition, for every sample', () => {
    const { definitions } = readCatalogue(samplesFolder);
    assert.equal(definitions.length, 7);
    for (const definition of definitions) assert.deepEqual(readBack(definition), definition);
  });

  it('reads back as the same definition, for any event', () => {
    fc.assert(
      fc.property(eventFile, (file) => {
        const checked = checkDefinition(file);
        assert.ok('definition' in checked, JSON.stringify(checked));
        assert.deepEqual(readBack(checked.definition), JSON.parse(JSON.stringify(checked.definition)));
      }),
      { numRuns: 200 },
    );
  });
});
