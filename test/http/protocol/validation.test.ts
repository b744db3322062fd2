import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileAhead, compileValidator } from '#http/protocol/validation.ts';

type Route = Parameters<typeof compileValidator>[0];

const route = (schema: object): Route => ({ schema, method: 'POST', url: '/', httpPart: 'body' }) as Route;

describe('The schema of a route', () => {
  it('is compiled at its first use', () => {
    const validate = compileValidator(route({ type: 'object', required: ['id'], title: 'first use' }));
    assert.equal(validate({}), false);
    assert.deepEqual(
      (validate as { errors?: readonly { keyword: string }[] }).errors?.map(({ keyword }) => keyword),
      ['required'],
    );
    assert.equal(validate({ id: 1 }), true);
    assert.equal((validate as { errors?: unknown }).errors, null);
  });

  it('is compiled ahead of its first use, each in a pass of its own', () => {
    // One that cannot be compiled shows when it is.
    compileValidator(route({ type: 'object', unheardOf: true }));
    const SCHEMAS_MAX = 10_000;
    assert.throws(() => {
      for (let schema = 0; schema < SCHEMAS_MAX; schema += 1) compileAhead();
    }, /unheardOf/);
  });
});
