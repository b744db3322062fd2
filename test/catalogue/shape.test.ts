/** The schemas by which files of a catalogue are checked; that check does not look at them itself. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { brand } from '#catalogue/brand.ts';
import { eventFileSchema } from '#catalogue/event-fields.ts';
import { seatingPlanSchema } from '#catalogue/seating-plan.ts';

it('Events, plans and brands have schemas that are some', () => {
  const ajv = new Ajv2020();
  for (const schema of [eventFileSchema, seatingPlanSchema, brand.schema]) {
    assert.equal(ajv.validateSchema(schema), true, ajv.errorsText());
  }
});
