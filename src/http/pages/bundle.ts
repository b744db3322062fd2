/**
 * Bundles a folder with `main.tsx` and `page.html` into the files that a browser loads, once and in memory.
 *
 *  1. A folder is bundled at the first request for it, once in a process, so that tests and command line do not wait;
 *     there is no build step.
 *  2. The name of a file contains the hash of its contents, so that browsers may store it for ever.
 *  3. The bundler is a process of its own, which ends when the bundle is made.
 *  4. The files are compressed before they are first sent.
 *  5. Fonts that a style names are those of all pages, at their one address.
 *  6. A page that shows its own source has it at `{{source}}`.
 *  7. The shop's components are run here too, once for each language: they choose theirs when they are loaded.
 *  8. The page of stations works without the service: its service worker has the list of its files.
 */
import { build, stop, type BuildOptions, type OutputFile, type Plugin } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { escapeHtml } from './html.ts';
import type { Language } from '#texts/locale/language.ts';
import type { ShopViews } from '../../web/shop-views.ts';
import { LargeBody, LASTING } from '../protocol/encoding.ts';
import { fontAddress } from './fonts.ts';
import type { DoorPagesPort, PageFile, PagesPort, StorefrontPort } from '../ports.ts';

interface Bundle {
  readonly page: PageFile;
  readonly document: string;
  readonly assets: ReadonlyMap<string, PageFile>;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
};

/** The pages of a folder, bundled at the first request; their files lie under `assetsPath`. */
export const pagesOf = oncePerFolder((folder: URL, assetsPath: string = '/assets/'): PagesPort =>
  portOf(
    atFirstUse(() => bundleFolder(fileURLToPath(folder), assetsPath)),
    assetsPath,
  ),
);

function portOf(bundled: () => Promise<Bundle>, assetsPath: string): PagesPort {
  return {
    assetsPath,
    page: async () => (await bundled()).page,
    document: async () => (await bundled()).document,
    asset: async (name) => (await bundled()).assets.get(name) ?? null,
  };
}

/** Rule 1. */
function oncePerFolder<Port, Given extends readonly unknown[]>(make: (folder: URL, ...given: Given) => Port) {
  const made = new Map<string, Port>();
  return (folder: URL, ...given: Given): Port => {
    const key = [folder, ...given].join(' ');
    const port = made.get(key) ?? make(folder, ...given);
    made.set(key, port);
    return port;
  };
}

function atFirstUse<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}

/** The page of stations in a folder, whose addresses begin with `path`; its files are named at the first request. */
export const doorOf = oncePerFolder((folder: URL, path: string): DoorPagesPort => {
  const assetsPath = `${path}/assets/`;
  const inFolder = (name: string): string => fileURLToPath(new URL(name, folder));
  const bundled = atFirstUse(() => bundleFolder(fileURLToPath(folder), assetsPath, ['decoder.ts']));
  const files = ['icon.svg', 'touch-icon.png', 'manifest.webmanifest'];
  const serviceWorker = atFirstUse(async () => {
    const { assets, document } = await bundled();
    const styles = [...assets.values()].map(({ contentType, body }) =>
      /css/.test(contentType) ? `${body.bytes}` : '',
    );
    const fontsOfPage = styles.flatMap((style) => style.match(/\/fonts\/[\w-]+\.woff2/g) ?? []);
    const ofPage = [...[...assets.keys()].map((name) => assetsPath + name), ...files.map((name) => `${path}/${name}`)];
    const known = {
      FILES: JSON.stringify([path, ...ofPage, ...fontsOfPage]),
      VERSION: JSON.stringify(versionIn(document)),
    };
    const { outputFiles } = await bundle([inFolder('service-worker.ts')], 'iife', { define: known });
    return pageFile('service-worker.js', outputFiles[0]!.contents);
  });
  const read = new Map(
    files.map((name) => [name, atFirstUse(async () => pageFile(name, await readFile(inFolder(name))))]),
  );
  return {
    ...portOf(bundled, assetsPath),
    path,
    serviceWorker,
    file: async (name) => (await read.get(name)?.()) ?? null,
  };
});

/** The version that a page states. */
const versionIn = (document: string): string => /name="version" content="([^"]*)"/.exec(document)?.[1] ?? '';

/** The shop's pages, and the components in its `server.tsx`. */
export const shopOf = oncePerFolder((folder: URL): StorefrontPort => {
  const script = atFirstUse(async () => {
    const { outputFiles } = await bundle([fileURLToPath(new URL('server.tsx', folder))], 'iife');
    return outputFiles[0]!.text;
  });
  const known = new Map<Language, ShopViews>();
  return {
    ...pagesOf(folder),
    async views(language) {
      const views = known.get(language) ?? viewsIn(await script(), language);
      known.set(language, views);
      return views;
    },
  };
});

/**
 * Runs the components as in the browser of a buyer who reads this language, but without a page and a store (rule 7).
 */
function viewsIn(script: string, language: Language): ShopViews {
  const document = { documentElement: {}, querySelector: () => null };
  const run = compileFunction(`${script}return bundle.views`, ['document', 'navigator']);
  return (run as (...globals: readonly object[]) => ShopViews)(document, { languages: [language] });
}

/** A script of its own, bundled at the first request. */
export function scriptOf(file: URL): () => Promise<PageFile> {
  return atFirstUse(async () => {
    const { outputFiles } = await bundle([fileURLToPath(file)]);
    return pageFile('script.js', outputFiles[0]!.contents);
  });
}

const fonts: Plugin = {
  name: 'fonts',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\.woff2$/ }, ({ path: source }) => ({ path: fontAddress(source), external: true })),
};

/** Bundles that are being made: the bundler's process serves all of them, and ends with the last (rule 3). */
let running = 0;

/** Bundles files of a folder, each with what it imports. */
async function bundle(
  files: readonly string[],
  format: 'esm' | 'iife' = 'esm',
  options: Pick<BuildOptions, 'define' | 'publicPath'> = {},
) {
  running += 1;
  return build({
    entryPoints: [...files],
    outdir: path.dirname(files[0]!),
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    write: false,
    bundle: true,
    minify: true,
    format,
    globalName: 'bundle',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.wasm': 'file' },
    plugins: [fonts],
    legalComments: 'none',
    logLevel: 'silent',
    ...options,
  }).finally(() => {
    running -= 1;
    if (running === 0) void stop();
  });
}

/**
 * `others` are scripts beside `main.tsx` that it starts; the page has a placeholder with the name of each, for its
 * address.
 */
async function bundleFolder(folder: string, assetsPath: string, others: readonly string[] = []): Promise<Bundle> {
  const entries = ['main.tsx', ...others].map((name) => path.join(folder, name));
  const { outputFiles } = await bundle(entries, 'esm', { publicPath: assetsPath });
  const assets = new Map<string, PageFile>();
  for (const file of outputFiles) assets.set(path.basename(file.path), await pageFile(file.path, file.contents));
  const template = await readFile(path.join(folder, 'page.html'), 'utf8');
  const source = await readFile(path.join(folder, 'main.tsx'), 'utf8');
  const version = createHash('sha256')
    .update([...assets.keys()].join(' '))
    .digest('base64url')
    .slice(0, 12);
  const addresses = others.map((name): [string, string] => {
    const base = path.parse(name).name;
    return [base, assetsPath + nameOf(outputFiles, '.js', base)];
  });
  const parts = new Map<string, string>([
    ['style', assetsPath + nameOf(outputFiles, '.css', 'main')],
    ['script', assetsPath + nameOf(outputFiles, '.js', 'main')],
    ['source', escapeHtml(source)],
    ['version', version],
    ...addresses,
  ]);
  // The sender of a page fills in its other placeholders.
  const html = template.replace(/\{\{(\w+)\}\}/g, (place, name: string) => parts.get(name) ?? place);
  return { page: await pageFile('page.html', Buffer.from(html)), document: html, assets };
}

function nameOf(files: readonly OutputFile[], extension: string, base: string): string {
  const names = files.map((file) => path.basename(file.path));
  return names.find((name) => name.startsWith(`${base}-`) && name.endsWith(extension)) ?? '';
}

async function pageFile(name: string, contents: Uint8Array): Promise<PageFile> {
  const bytes = Buffer.from(contents);
  const body = new LargeBody(bytes, LASTING);
  for (const coding of ['br', 'gzip'] as const) await body.inCoding(coding);
  return {
    contentType: CONTENT_TYPES[path.extname(name)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    body,
  };
}
