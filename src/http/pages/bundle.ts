/**
 * Bundles a folder with `main.tsx` and `page.html` into the files that a browser loads, once and in memory.
 *
 *  1. A folder is bundled at the first request for it, so that tests and command line do not wait; there is no build
 *     step.
 *  2. The name of a file contains the hash of its contents, so that browsers may store it for ever.
 *  3. The bundler is a process of its own, which ends when the bundle is made.
 *  4. The files are compressed before they are first sent.
 *  5. Fonts that a style names are those of all pages, at their one address.
 *  6. A page that shows its own source has it at `{{source}}`.
 *  7. The shop's components are run here too, once for each language: they choose theirs when they are loaded.
 */
import { build, stop, type OutputFile, type Plugin } from 'esbuild';
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
import type { PageFile, PagesPort, StorefrontPort } from '../ports.ts';

interface Bundle {
  readonly page: PageFile;
  readonly document: string;
  readonly assets: ReadonlyMap<string, PageFile>;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** The pages of a folder, bundled at the first request; their files lie under `assetsPath`. */
export function pagesOf(folder: URL, assetsPath = '/assets/'): PagesPort {
  let pages: Promise<Bundle> | null = null;
  const bundled = (): Promise<Bundle> => (pages ??= bundleFolder(fileURLToPath(folder), assetsPath));
  return {
    assetsPath,
    page: async () => (await bundled()).page,
    document: async () => (await bundled()).document,
    asset: async (name) => (await bundled()).assets.get(name) ?? null,
  };
}

/** The shop's pages, and the components in its `server.tsx`. */
export function shopOf(folder: URL): StorefrontPort {
  let script: Promise<string> | null = null;
  const bundled = async (): Promise<string> => {
    const { outputFiles } = await bundle(fileURLToPath(new URL('server.tsx', folder)), 'iife');
    return outputFiles[0]!.text;
  };
  const known = new Map<Language, ShopViews>();
  return {
    ...pagesOf(folder),
    async views(language) {
      const views = known.get(language) ?? viewsIn(await (script ??= bundled()), language);
      known.set(language, views);
      return views;
    },
  };
}

/** Runs the components as in a browser whose buyer reads this language, which has no page and no store (rule 7). */
function viewsIn(script: string, language: Language): ShopViews {
  const document = { documentElement: {}, querySelector: () => null };
  const run = compileFunction(`${script}return bundle.views`, ['document', 'navigator']);
  return (run as (...globals: readonly object[]) => ShopViews)(document, { languages: [language] });
}

/** A script of its own, bundled at the first request. */
export function scriptOf(file: URL): () => Promise<PageFile> {
  let script: Promise<PageFile> | null = null;
  const bundled = async (): Promise<PageFile> => {
    const { outputFiles } = await bundle(fileURLToPath(file));
    return pageFile('script.js', outputFiles[0]!.contents);
  };
  return () => (script ??= bundled());
}

const fonts: Plugin = {
  name: 'fonts',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\.woff2$/ }, ({ path: source }) => ({ path: fontAddress(source), external: true })),
};

/** Bundles that are being made: the bundler's process serves all of them, and ends with the last (rule 3). */
let running = 0;

/** Bundles a file with what it imports. */
async function bundle(file: string, format: 'esm' | 'iife' = 'esm') {
  running += 1;
  return build({
    entryPoints: [file],
    outdir: path.dirname(file),
    entryNames: '[name]-[hash]',
    write: false,
    bundle: true,
    minify: true,
    format,
    globalName: 'bundle',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [fonts],
    legalComments: 'none',
    logLevel: 'silent',
  }).finally(() => {
    running -= 1;
    if (running === 0) void stop();
  });
}

async function bundleFolder(folder: string, assetsPath: string): Promise<Bundle> {
  const { outputFiles } = await bundle(path.join(folder, 'main.tsx'));
  const assets = new Map<string, PageFile>();
  for (const file of outputFiles) assets.set(path.basename(file.path), await pageFile(file.path, file.contents));
  const template = await readFile(path.join(folder, 'page.html'), 'utf8');
  const source = await readFile(path.join(folder, 'main.tsx'), 'utf8');
  const html = template
    .replace('{{style}}', assetsPath + nameOf(outputFiles, '.css'))
    .replace('{{script}}', assetsPath + nameOf(outputFiles, '.js'))
    .replace('{{source}}', () => escapeHtml(source));
  return { page: await pageFile('page.html', Buffer.from(html)), document: html, assets };
}

function nameOf(files: readonly OutputFile[], extension: string): string {
  return files.map((file) => path.basename(file.path)).find((name) => name.endsWith(extension)) ?? '';
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
