import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadableLog } from '#src/readable-log.ts';

test('on a terminal the log is a line an entry, the level named where something is wrong, details behind', () => {
  const lines: string[] = [];
  const log = createReadableLog('info', (text) => lines.push(text));
  log.info({ public: 'http://127.0.0.1:8080', boxOffices: 5 }, 'ready');
  log.error({ err: new Error('no space'), where: 'journal' }, 'not written');
  log.debug('nobody asked');
  assert.match(lines[0]!, /^\d\d:\d\d:\d\d ready public=http:\/\/127\.0\.0\.1:8080 boxOffices=5\n$/);
  assert.match(lines[1]!, /^\d\d:\d\d:\d\d ERROR not written where=journal\nError: no space\n {4}at /);
  assert.equal(lines.length, 2);
});
