// Runs before start/test under whatever Node the machine has (20+): installs
// dependencies when npm's own record of what is installed differs from package-lock.json.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('..', import.meta.url);
const at = (p) => fileURLToPath(new URL(p, root));
const packagesIn = (p) => {
  try {
    return JSON.parse(readFileSync(at(p), 'utf8')).packages;
  } catch {
    return {};
  }
};
const MIN = [24, 15];

const fits = (list, own) => !list || list.includes(own) || (list[0][0] === '!' && !list.includes(`!${own}`));
// npm leaves out optional packages of other platforms; which C library a machine has only npm finds out.
const mayBeMissing = ({ optional, devOptional, os, cpu, libc }) =>
  (optional || devOptional) && (libc || !fits(os, process.platform) || !fits(cpu, process.arch));
const installed = packagesIn('node_modules/.package-lock.json');
const isComplete = Object.entries(packagesIn('package-lock.json')).every(([path, wanted]) => {
  const own = installed[path];
  if (path === '' || (!own && mayBeMissing(wanted))) return true;
  return own?.version === wanted.version && own.integrity === wanted.integrity && existsSync(at(path));
});
if (!isComplete) {
  process.stderr.write('Installing dependencies (first run or lock file changed)…\n');
  const npm = process.env.npm_execpath;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const r = npm
    ? spawnSync(process.execPath, [npm, ...args], { stdio: 'inherit', cwd: at('.') })
    : spawnSync('npm', args, { stdio: 'inherit', cwd: at('.'), shell: process.platform === 'win32' });
  if (r.status !== 0) process.exit(r.status ?? 1);
}
// npm 10 does not link bin/node when several platform packages offer it.
const local = at('node_modules/.bin/node');
const bundled = `node-${process.platform}-${process.arch}`;
if (process.platform !== 'win32' && !existsSync(local) && existsSync(at(`node_modules/${bundled}/bin/node`))) {
  symlinkSync(`../${bundled}/bin/node`, local);
}
// Node that `npm start` / `npm test` will find: node_modules/.bin first, then PATH.
const v = existsSync(local) ? execFileSync(local, ['-v'], { encoding: 'utf8' }).trim() : process.version;
const [maj, min] = v.slice(1).split('.').map(Number);
if (maj < MIN[0] || (maj === MIN[0] && min < MIN[1])) {
  process.stderr.write(
    `Holdfast needs Node ${MIN.join('.')} or newer; found ${v} and no bundled Node for ${process.platform}-${process.arch}.\n`,
  );
  process.exit(1);
}
