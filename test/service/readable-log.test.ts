import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJsonLog, createReadableLog } from '#service/log.ts';

test('on a terminal the log is a line an entry, the level named where something is wrong, details behind', () => {
  const lines: string[] = [];
  const log = createReadableLog('info', (text) => lines.push(text));
  log.info({ public: 'http://127.0.0.1:8080', events: 5 }, 'ready');
  log.error({ err: new Error('no space'), where: 'journal' }, 'not written');
  log.debug('nobody asked');
  assert.match(lines[0]!, /^\d\d:\d\d:\d\d ready public=http:\/\/127\.0\.0\.1:8080 events=5\n$/);
  assert.match(lines[1]!, /^\d\d:\d\d:\d\d ERROR not written where=journal\nError: no space\n {4}at /);
  assert.equal(lines.length, 2);
});

test('no line of any log has the id of a hold, of a queue entry or of a checkout session, whatever an error says', () => {
  const ids = ['hld', 'que', 'cs'].map((prefix) => `${prefix}_1_AAAAAAAAAAAAAAAAAAAAAAAA`);
  for (const create of [createReadableLog, createJsonLog]) {
    const lines: string[] = [];
    const log = create('info', (text) => lines.push(text));
    const error = new Error(`nobody has ${ids.join(' or ')}`, { cause: new Error(ids[0]) });
    log.error({ err: error, where: ids[1] }, `no pass ${ids[1]}`);
    const printed = lines.join('');
    assert.match(printed, /nobody has \*\*\*[0-9a-f]{8} or /);
    for (const id of ids) assert.ok(!printed.includes(id), printed);
  }
});

test('no line of any log has an e-mail address, which a provider may quote', () => {
  for (const create of [createReadableLog, createJsonLog]) {
    const lines: string[] = [];
    const log = create('info', (text) => lines.push(text));
    log.error({ err: new Error('Invalid email address: "maria+x@shop.example.com"') }, 'refused (Jürgen@büro.example)');
    const printed = lines.join('');
    assert.match(printed, /Invalid email address: \\?"\*\*\*/);
    assert.doesNotMatch(printed, /maria|rgen@|shop\.example/);
  }
});
