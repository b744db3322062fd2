/**
 * The packages for storefronts, made of this tree: what each is bundled from, and how it becomes a file that npm
 * installs.
 *
 *  1. A package has one module without imports, the types of what it exports, its guide as README, and the licence. It
 *     depends on no other package.
 *  2. Types are those that the compiler declares, cut down to what the exports lead to. They name each other by
 *     relative paths, so that they need no settings where they are used.
 *  3. The same tree gives the same bytes: the version is that of the service.
 */
import { build, transform } from 'esbuild';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import manifest from '../../package.json' with { type: 'json' };

interface StorefrontPackage {
  readonly name: string;
  readonly description: string;
  /** The module that exports all of it, below `src`. */
  readonly entry: string;
  /** The guide that is its README. */
  readonly guide: string;
  /** Bytes that its module has at most, compressed with gzip. */
  readonly gzipBytesMax: number;
  readonly isMinified: boolean;
  /** Whether it draws something: its code finds the style sheet in `STYLE`. */
  readonly hasStyle: boolean;
  /** Whether importing it does something, so that a bundler must not leave it out. */
  readonly hasEffects: boolean;
}

const PACKAGES: readonly StorefrontPackage[] = [
  {
    name: '@holdfast/client',
    description: 'A typed client of the Holdfast ticket-sales API for browsers and Node, without dependencies.',
    entry: 'client/exports.ts',
    guide: 'client',
    gzipBytesMax: 12_000,
    isMinified: false,
    hasStyle: false,
    hasEffects: false,
  },
  {
    name: '@holdfast/seats',
    description: 'The custom element <holdfast-seats>: choosing numbered seats of a Holdfast event on any page.',
    entry: 'web/seats/exports.ts',
    guide: 'seats-element',
    gzipBytesMax: 40_000,
    isMinified: true,
    hasStyle: true,
    hasEffects: true,
  },
];

/** The styles of the element, in their order. */
const STYLES = ['tokens', 'reset', 'base', 'seat-map', 'seats'];

export interface PackedFile {
  readonly name: string;
  readonly version: string;
  /** The file that `npm install` takes. */
  readonly file: string;
  readonly bytes: number;
  /** Of the module alone, as a server that compresses sends it. */
  readonly gzipBytes: number;
  readonly gzipBytesMax: number;
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const inRoot = (...parts: readonly string[]): string => path.join(root, ...parts);
const run = promisify(execFile);

/** Makes the packages and writes a file for each into a folder; a file of the same version is written over. */
export async function packAll(folder: string): Promise<readonly PackedFile[]> {
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(path.join(folder, '.work-'));
  try {
    const types = path.join(work, 'types');
    await declareTypes(work, types);
    return await Promise.all(
      PACKAGES.map((each) => pack(each, path.join(work, path.basename(each.name)), types, folder)),
    );
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Writes the types of all modules, as the compiler declares them. */
async function declareTypes(work: string, types: string): Promise<void> {
  const settings = {
    extends: inRoot('src/web/tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: inRoot('src'),
      outDir: types,
    },
    include: [],
    files: PACKAGES.map(({ entry }) => inRoot('src', entry)),
  };
  const file = path.join(work, 'tsconfig.json');
  writeFileSync(file, JSON.stringify(settings));
  await run(process.execPath, [inRoot('node_modules/typescript/bin/tsc'), '-p', file]);
}

async function pack(each: StorefrontPackage, work: string, types: string, folder: string): Promise<PackedFile> {
  const { name, entry, guide, gzipBytesMax, isMinified, hasStyle } = each;
  const { version, license } = manifest;
  const module = `${path.basename(name)}.js`;
  const declared = entry.replace(/\.ts$/, '.d.ts');
  mkdirSync(work);
  const { outputFiles } = await build({
    entryPoints: [inRoot('src', entry)],
    write: false,
    bundle: true,
    minify: isMinified,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const code = outputFiles[0]!.text;
  const style = hasStyle ? `const STYLE=${JSON.stringify(await styleOf(code))};\n` : '';
  writeFileSync(path.join(work, module), style + code);
  copyTypes(types, path.join(work, 'types'), declared);
  writeFileSync(path.join(work, 'README.md'), readmeOf(guide));
  copyFileSync(inRoot('LICENSE'), path.join(work, 'LICENSE'));
  const fields = {
    name,
    version,
    description: each.description,
    license,
    type: 'module',
    exports: { '.': { types: `./types/${declared}`, default: `./${module}` } },
    files: [module, 'types'],
    sideEffects: each.hasEffects,
  };
  writeFileSync(path.join(work, 'package.json'), `${JSON.stringify(fields, null, 2)}\n`);
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--offline', '--pack-destination', folder], { cwd: work });
  const file = path.join(folder, `${name.slice(1).replace('/', '-')}-${version}.tgz`);
  const gzipBytes = gzipSync(readFileSync(path.join(work, module)), { level: 9 }).length;
  return { name, version, file, bytes: statSync(file).size, gzipBytes, gzipBytesMax };
}

/**
 * The pages' own style in a shadow, as far as the code has its classes, or their beginning up to a dash: what they set
 * on the page stands on the element, whose font is that of the page around it. With `scheme="light"` it stays light.
 */
async function styleOf(code: string): Promise<string> {
  const words = new Set(code.match(/[\w-]+/g));
  const isUsed = (selector: string): boolean =>
    [...selector.matchAll(/\.([a-z][\w-]*)/g)].every(
      ([, name = '']) => words.has(name) || words.has(name.replace(/[^-]+$/, '')),
    );
  const sheets = STYLES.map((name) => readFileSync(inRoot('src/web/styles', `${name}.css`), 'utf8'));
  const own = ':host{display:block;color:var(--ink)}:host([hidden]){display:none}';
  const minify = async (css: string): Promise<string> =>
    (await transform(css, { loader: 'css', minify: true })).code.trim();
  const all = await minify([...sheets, own].join('\n'));
  const used = all.replaceAll(/(?<=^|[{}])([^{}@]+)\{[^{}]*\}/g, (rule, selector: string) =>
    isUsed(selector) ? rule : '',
  );
  const dark = /(prefers-color-scheme: ?dark\)\s*\{):root/g;
  return (await minify(used)).replaceAll(dark, '$1:host(:not([scheme=light]))').replaceAll(':root', ':host');
}

/** Copies a module's types and those that they lead to (rule 2). */
function copyTypes(from: string, to: string, file: string, known = new Set<string>()): void {
  if (known.has(file)) return;
  known.add(file);
  const text = readFileSync(path.join(from, file), 'utf8').replaceAll(
    /(?<before>\bfrom |\bimport\()'(?<specifier>[.#][^']+)'/g,
    (_match, before: string, specifier: string) => {
      const target = specifier.startsWith('#')
        ? specifier.replace('#texts/', 'web/texts/').replace('#', '')
        : path.posix.join(path.posix.dirname(file), specifier);
      copyTypes(from, to, target.replace(/\.tsx?$/, '.d.ts'), known);
      const relative = path.posix.relative(path.posix.dirname(file), target.replace(/\.tsx?$/, '.js'));
      return `${before}'${relative.startsWith('.') ? relative : `./${relative}`}'`;
    },
  );
  mkdirSync(path.dirname(path.join(to, file)), { recursive: true });
  writeFileSync(path.join(to, file), text);
}

/** A guide as the README of a package: links lead to other guides, which the package does not have. */
function readmeOf(guide: string): string {
  const text = readFileSync(inRoot('src/docs/guides', `${guide}.md`), 'utf8');
  return text.replaceAll(/\[([^\]]+)\]\([\w-]+\.md[^)]*\)/g, '$1');
}
