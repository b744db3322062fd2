/** The types of bodies that client and console are written against are those of the service's schemas. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderBodies } from './render-bodies.ts';

test('the bodies of client and console are those of the schemas: npm run render writes them anew', async () => {
  for (const [path, text] of Object.entries(await renderBodies())) {
    assert.equal(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'), text, path);
  }
});
