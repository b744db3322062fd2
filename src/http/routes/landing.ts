/** The page at `/`: what this is, which events there are, and where to go on. It talks to the API like any client. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { HttpApp } from '../app.ts';

const PAGE = readFileSync(new URL('../landing.html', import.meta.url), 'utf8');
const POLICY = [
  "default-src 'none'",
  `script-src ${hashOf('script')}`,
  `style-src ${hashOf('style')}`,
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function landingRoutes(app: HttpApp): void {
  app.get('/', { schema: { hide: true } }, (_request, reply) =>
    reply.header('content-type', 'text/html; charset=utf-8').header('content-security-policy', POLICY).send(PAGE),
  );
}

/** What a policy calls the page's one inline element of a kind: the hash of its text. */
function hashOf(element: 'script' | 'style'): string {
  const text = new RegExp(`<${element}>([^]*?)</${element}>`).exec(PAGE)?.[1] ?? '';
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
