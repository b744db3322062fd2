/**
 * Pages for browsers: turns a folder of TypeScript into what a browser loads, in memory, once.
 *
 * Owns bundling and names, and has the files compressed before they are first sent; which addresses show a page is said by `http/routes/pages.ts`. Called by
 * `service.ts` for the storefront and the console, each a folder with `main.tsx` and `page.html`.
 *
 *  1. Nothing is built before somebody asks, so that tests and command line pay nothing; there is no build step.
 *  2. A file's name has the hash of what is in it: browsers may keep it for ever.
 *  3. The bundler runs as a process of its own and is sent away when it is done.
 */
import { build, stop, type OutputFile } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { LargeBody, LASTING } from '#http/encoding.ts';
import type { PageFile, PagesPort } from '#http/ports.ts';

interface Bundle {
  readonly page: PageFile;
  readonly assets: ReadonlyMap<string, PageFile>;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** The pages of a folder, bundled at the first request; their files lie under `assetsPath`. */
export function pagesOf(folder: URL, assetsPath = '/assets/'): PagesPort {
  let bundle: Promise<Bundle> | null = null;
  const bundled = (): Promise<Bundle> => (bundle ??= bundleFolder(fileURLToPath(folder), assetsPath));
  return {
    assetsPath,
    page: async () => (await bundled()).page,
    asset: async (name) => (await bundled()).assets.get(name) ?? null,
  };
}

async function bundleFolder(folder: string, assetsPath: string): Promise<Bundle> {
  const { outputFiles } = await build({
    entryPoints: [path.join(folder, 'main.tsx')],
    outdir: folder,
    entryNames: '[name]-[hash]',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
  });
  void stop();
  const assets = new Map<string, PageFile>();
  for (const file of outputFiles) assets.set(path.basename(file.path), await pageFile(file.path, file.contents));
  const template = await readFile(path.join(folder, 'page.html'), 'utf8');
  const html = template
    .replace('{{style}}', assetsPath + nameOf(outputFiles, '.css'))
    .replace('{{script}}', assetsPath + nameOf(outputFiles, '.js'));
  return { page: await pageFile('page.html', Buffer.from(html)), assets };
}

function nameOf(files: readonly OutputFile[], extension: string): string {
  return path.basename(files.find((file) => file.path.endsWith(extension))?.path ?? '');
}

async function pageFile(name: string, contents: Uint8Array): Promise<PageFile> {
  const bytes = Buffer.from(contents);
  const body = new LargeBody(bytes, LASTING);
  // The files of a page are few: they are ready in both codings when the page is first shown.
  for (const coding of ['br', 'gzip'] as const) await body.inCoding(coding);
  return {
    contentType: CONTENT_TYPES[path.extname(name)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    body,
  };
}
