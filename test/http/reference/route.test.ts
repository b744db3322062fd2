/** The pages of the reference: complete, equal to the code, and loaded from this service alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chapters } from '#machines/readme.ts';
import { ERRORS } from '#http/protocol/errors.ts';
import type { HttpApp } from '#http/protocol/app.ts';
import type { Example } from '#docs/example.ts';
import { examples } from '#docs/examples.ts';
import { readGuides } from '#docs/guides.ts';
import { LANGUAGES } from '#docs/snippets.ts';
import { clusterOfTwo, openApps, type Apps } from '../apps.ts';

let apps: Apps;
before(async () => {
  apps = await openApps({}, undefined, { cluster: clusterOfTwo() });
});
after(() => apps.close());

const paths = [
  '/docs',
  '/docs/operations',
  '/docs/errors',
  '/docs/states',
  ...readGuides().map(({ slug }) => `/docs/guides/${slug}`),
];

type Documented = readonly [string, { operationId: string; parameters?: readonly { name: string }[] }];

async function operationsOf(app: HttpApp): Promise<readonly Documented[]> {
  const { paths: documented } = (await app.inject('/openapi.json')).json<{
    paths: Record<string, Record<string, Documented[1]>>;
  }>();
  return Object.entries(documented).flatMap(([path, methods]) =>
    Object.values(methods).map((operation): Documented => [path, operation]),
  );
}

async function operationPaths(app: HttpApp): Promise<readonly string[]> {
  return (await operationsOf(app)).map(([, { operationId }]) => `/docs/operations/${operationId}`);
}

const read = async (app: HttpApp, path: string): Promise<string> => {
  const answer = await app.inject(path);
  assert.equal(answer.statusCode, 200, path);
  return answer.body;
};

test('every page has a content security policy that allows no other source, and no dead link', async () => {
  for (const app of [apps.app, apps.admin]) {
    const followed = new Set<string>();
    for (const path of [...paths, ...(await operationPaths(app))]) {
      const { body, headers } = await app.inject(path);
      assert.match(
        String(headers['content-security-policy']),
        /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'self'; connect-src 'self'; img-src data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      );
      assert.match(body, /<meta name="description" content="[^"]{10,}" \/>/, path);
      const markup = body.replaceAll(/<pre[^]*?<\/pre>/g, '');
      assert.doesNotMatch(markup, /<script|\son\w+=|\sstyle=|\ssrc=/, path);
      for (const [, target] of body.matchAll(/\shref="(\/[^"#]*)/g)) {
        if (followed.has(target!) || target === '/example') continue;
        followed.add(target!);
        const answer = await app.inject(target!);
        assert.ok(answer.statusCode < 400, `${path} leads to ${target}: ${answer.statusCode}`);
      }
    }
  }
});

test('the list of operations has what the service sends, beside what it takes', async () => {
  const body = await read(apps.app, '/docs/operations');
  assert.match(
    body,
    /<h2 id="notifications">Notifications<\/h2>[^]*<code>refund\.due<\/code> Money is due back to a buyer\./,
  );
  assert.match(await read(apps.app, '/docs'), /<a href="\/docs\/operations#notifications"/);
  assert.match(await read(apps.app, '/docs/operations/releaseHold'), /<a href="\/docs\/errors#HOLD_NOT_ACTIVE">/);
});

test('every link within a page or to a part of a guide leads to an anchor that is there', async () => {
  for (const path of paths) {
    const body = await read(apps.app, path);
    for (const [, target, anchor] of body.matchAll(/\shref="((?:\/docs\/[^"#]*)?)#([^"]+)"/g)) {
      const there = target === '' ? body : await read(apps.app, target!);
      assert.ok(there.includes(`id="${anchor}"`), `${path} leads to ${target}#${anchor}`);
    }
  }
});

test('the page of errors has every code with its status and an anchor', async () => {
  const body = await read(apps.app, '/docs/errors');
  for (const [code, { status }] of Object.entries(ERRORS)) {
    assert.match(body, new RegExp(`<tr id="${code}">\\s*<td>${status}</td>`), code);
  }
});

test('every operation is in the list and has a page with its address, its host, its fields and its examples', async () => {
  for (const [app, origin] of [
    [apps.app, 'http://127.0.0.1:8080'],
    [apps.admin, 'http://127.0.0.1:8081'],
  ] as const) {
    const list = await read(app, '/docs/operations');
    for (const [path, { operationId, parameters = [] }] of await operationsOf(app)) {
      assert.ok(list.includes(`href="/docs/operations/${operationId}"`), operationId);
      const body = await read(app, `/docs/operations/${operationId}`);
      assert.ok(body.includes(`<span class="host">${origin}</span>${path}<`), operationId);
      for (const { name } of parameters) assert.ok(body.includes(`<code class="name">${name}</code>`), name);
      for (const [key, example] of Object.entries<Example>(examples)) {
        if (example.operation !== operationId || example.listener !== (app === apps.app ? 'public' : 'admin')) continue;
        for (const language of Object.keys(LANGUAGES)) assert.ok(body.includes(`class="in ${language}"`), key);
        assert.ok(key === 'getCluster' || body.includes('Answer <span class="status">20'), key);
        for (const [, named] of body.matchAll(/(https?:\/\/127\.0\.0\.1:\d+)/g)) {
          assert.ok(
            named === origin || app === apps.admin || named === 'http://127.0.0.1:8080',
            `${key} names ${named}`,
          );
        }
      }
    }
  }
});

test('every page has one heading of the first level and the others in order, and ids are unique', async () => {
  for (const app of [apps.app, apps.admin]) {
    for (const path of [...paths, ...(await operationPaths(app))]) {
      const body = await read(app, path);
      assert.equal(body.match(/<h1[ >]/g)?.length, 1, path);
      let level = 0;
      for (const [, next] of body.matchAll(/<h([1-6])[ >]/g)) {
        assert.ok(Number(next) <= level + 1, `${path}: h${next} after h${level}`);
        level = Number(next);
      }
      const ids = Array.from(body.matchAll(/\sid="([^"]+)"/g), ([, id]) => id);
      assert.equal(new Set(ids).size, ids.length, `${path}: ${ids.join(' ')}`);
    }
  }
});

test('an address without a page is answered with 404 in words and the contents, and an older one leads on', async () => {
  const missing = await apps.app.inject('/docs/nothing-here');
  assert.equal(missing.statusCode, 404);
  assert.match(missing.body, /There is no such page[^]*href="\/docs"/);
  const older = await apps.app.inject('/docs/explorer');
  assert.deepEqual([older.statusCode, older.headers.location], [308, '/docs/operations']);
});

test('what is searched leads to pages and anchors that are there', async () => {
  for (const app of [apps.app, apps.admin]) {
    const entries = (await app.inject('/docs/search.json')).json<{ title: string; href: string }[]>();
    const bodies = new Map<string, string>();
    for (const { href } of entries) {
      const [path, anchor] = href.split('#') as [string, string?];
      const body = bodies.get(path) ?? (await read(app, path));
      bodies.set(path, body);
      assert.ok(anchor === undefined || body.includes(`id="${anchor}"`), href);
    }
    const titles = new Set(entries.map(({ title }) => title));
    for (const title of ['Seats', 'SEAT_TAKEN', 'Hold']) assert.ok(titles.has(title), title);
  }
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
