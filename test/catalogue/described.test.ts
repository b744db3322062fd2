/** The described schema of an event has every field, and the defaults that a definition gets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkDefinition } from '#catalogue/definition.ts';
import { describedEventSchema } from '#catalogue/event-fields.ts';
import { toEventFile } from '#catalogue/event-fields.ts';
import { reentryOf } from '#domain/catalogue/definition.ts';

interface Described {
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
}

/** An event with as little as possible in each of its parts. */
const LEAST = {
  id: 'e',
  slug: 'e',
  name: 'E',
  currency: 'EUR',
  performances: [{ id: 'd' }],
  localities: [
    { id: 'floor', capacity: 1 },
    { id: 'hall', sections: [{ id: 'A', rows: [{ seats: [{}] }] }] },
  ],
  ticketTypes: [{ id: 't', locality_id: 'floor', barPerks: [{ id: 'b', price: 1 }] }],
  sellingStages: [{ id: 's', prices: { t: 1 } }],
  promoCodes: [{ code: 'C', amount_off: 1 }],
};

/** Compares the defaults of a schema with what the file form of a definition says. */
function compare(path: string, schema: Described, given: object, full: Readonly<Record<string, unknown>>): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const [before, after] = [(given as Record<string, unknown>)[name], full[name]];
    if (Array.isArray(before) && field.items?.properties !== undefined) {
      for (const [index, entry] of before.entries()) {
        const part = (after as Readonly<Record<string, unknown>>[])[index]!;
        compare(`${path}/${name}/${index}`, field.items, entry as object, part);
      }
    } else if (before === undefined && 'default' in field && field.default !== null) {
      // What the file form leaves out is what the schema says when nothing is there.
      const nothing = name === 'reentry' ? reentryOf({}) : Array.isArray(field.default) ? [] : false;
      assert.deepEqual(after ?? nothing, field.default, `${path}/${name}`);
    } else if (before === undefined && field.default === null) {
      assert.ok(after === null || after === undefined, `${path}/${name} is ${JSON.stringify(after)}`);
    }
  }
}

function eachField(path: string, schema: Described, see: (path: string, field: Described) => void): void {
  for (const [name, field] of Object.entries(schema.properties ?? schema.items?.properties ?? {})) {
    see(`${path}/${name}`, field);
    eachField(`${path}/${name}`, field, see);
  }
}

describe('The described schema of an event', () => {
  it('says what each field means', () => {
    const paths: string[] = [];
    eachField('', describedEventSchema as Described, (path, { description }) => {
      assert.ok((description ?? '').length > 0, `${path} has no meaning`);
      paths.push(path);
    });
    for (const path of ['/waiting_room_rate', '/ticketTypes/group_size', '/localities/sections/rows/seats/accessible'])
      assert.ok(paths.includes(path), path);
  });

  it('has the defaults that a definition gets', () => {
    const checked = checkDefinition(LEAST);
    assert.ok('definition' in checked, JSON.stringify(checked));
    const full = toEventFile(checked.definition) as unknown as Record<string, unknown>;
    compare('', describedEventSchema as Described, LEAST, full);
  });
});
