/** The pages of the reference: complete, equal to the code, and loaded from this service alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chapters } from '#machines/readme.ts';
import { ERRORS } from '#http/errors.ts';
import type { HttpApp } from '#http/app.ts';
import { examples } from '#src/docs/examples.ts';
import { guides } from '#src/docs/guides.ts';
import { openApps, type Apps } from './apps.ts';

let apps: Apps;
before(async () => {
  apps = await openApps();
});
after(() => apps.close());

const paths = [
  '/docs',
  '/docs/operations',
  '/docs/errors',
  '/docs/states',
  ...guides.map(({ slug }) => `/docs/guides/${slug}`),
];

const read = async (app: HttpApp, path: string): Promise<string> => {
  const answer = await app.inject(path);
  assert.equal(answer.statusCode, 200, path);
  return answer.body;
};

test('every page has a content security policy that allows no other source, and no dead link', async () => {
  for (const app of [apps.app, apps.admin]) {
    for (const path of paths) {
      const { body, headers } = await app.inject(path);
      assert.match(String(headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-[^']+'/);
      assert.doesNotMatch(body, /<script|\son\w+=|\sstyle=/, path);
      for (const [, target] of body.matchAll(/\shref="(\/[^"#]*)/g)) {
        const answer = await app.inject(target!);
        assert.ok(answer.statusCode < 400, `${path} leads to ${target}: ${answer.statusCode}`);
      }
    }
  }
});

test('the page of errors has every code with its status and an anchor', async () => {
  const body = await read(apps.app, '/docs/errors');
  for (const [code, { status }] of Object.entries(ERRORS)) {
    assert.match(body, new RegExp(`<tr id="${code}">\\s*<td>${status}</td>`), code);
  }
});

test('the page of operations has every operation, and every example is used', async () => {
  const listed = new Set<string>();
  for (const app of [apps.app, apps.admin]) {
    const body = await read(app, '/docs/operations');
    const { paths: documented } = (await app.inject('/openapi.json')).json<{
      paths: Record<string, Record<string, { operationId: string }>>;
    }>();
    for (const { operationId } of Object.values(documented).flatMap(Object.values)) {
      assert.ok(body.includes(`id="${operationId}"`), operationId);
      listed.add(operationId);
    }
  }
  assert.deepEqual(
    Object.keys(examples).filter((operationId) => !listed.has(operationId)),
    [],
  );
});

test('the page of states draws every status, trigger and change of every machine', async () => {
  const body = await read(apps.app, '/docs/states');
  const pictures = body.match(/<svg class="diagram"[^]*?<\/svg>/g) ?? [];
  assert.equal(pictures.length, chapters.length);
  for (const [index, { table }] of chapters.entries()) {
    for (const status of table.statuses) assert.ok(pictures[index]!.includes(`>${status}<`), status);
    for (const { from, trigger, to } of table.transitions) {
      if (trigger !== null && from !== to) assert.ok(pictures[index]!.includes(trigger), `${table.name} ${trigger}`);
    }
  }
});
