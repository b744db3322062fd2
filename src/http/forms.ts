import type { HttpApp } from './app.ts';

/** The buttons of a page send a name and a value, no more. */
const FORM_BYTES_MAX = 4 * 1024;

/** Lets the routes of a scope take the forms of the service's own pages. */
export function readForms(scope: HttpApp): void {
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
}
