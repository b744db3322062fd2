/** `holdfast journal` for people: short lines, all of them where asked, and the last ones alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clubNight } from '../../fixtures/events.ts';
import { ofOneMachine, serviceWith } from '../../fixtures/service.ts';
import { holdfast } from '../holdfast.ts';

const oneMachine = { skip: ofOneMachine('the command reads a folder') };

const service = serviceWith(['one', 'two', 'three'].map((slug) => clubNight({ id: `evt_${slug}`, slug })));

const linesOf = async (...args: readonly string[]): Promise<string[]> => {
  const { code, stdout, stderr } = await holdfast(['journal', '--data', service.folder, ...args]);
  assert.equal(code, 0, stderr);
  return stdout.split('\n').slice(0, -1);
};

test('facts have a line of at most 80 characters each, and all of their data with --full', oneMachine, async () => {
  const [short, full] = await Promise.all([linesOf(), linesOf('--full')]);
  assert.equal(short.length, full.length);
  assert.ok(short.every((line) => line.length <= 80));
  assert.ok(full[0]!.length > 500);
  for (const [place, line] of short.entries()) assert.ok(full[place]!.startsWith(line.replace(/…$/, '')));
  assert.match(short[0]!, /^1 2027-05-08T12:00:00\.000Z evt_one EventDefined \{.*…$/);
});

test('--last prints the last ones of the facts that are chosen', oneMachine, async () => {
  const defined = await linesOf('--type', 'EventDefined');
  assert.equal(defined.length, 3);
  assert.deepEqual(await linesOf('--type', 'EventDefined', '--last', '2'), defined.slice(1));
  assert.deepEqual(await linesOf('--type', 'EventDefined', '--last', '9'), defined);
  const { code, stderr } = await holdfast(['journal', '--data', service.folder, '--last', '0']);
  assert.deepEqual([code, stderr.includes('--last must be from 1 to 10,000')], [2, true]);
});

test('--event names an event that there is', oneMachine, async () => {
  assert.equal((await linesOf('--event', 'evt_one')).length, 1);
  const { code, stderr } = await holdfast(['journal', '--data', service.folder, '--event', 'evt_on']);
  assert.deepEqual([code, /there is no event evt_on in .+; did you mean evt_one\?/.test(stderr)], [1, true], stderr);
});

test('notify names the last fact where there is none to begin from', oneMachine, async () => {
  const environment = {
    NOTIFY_URL: 'http://127.0.0.1:1/',
    NOTIFY_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
  };
  const { code, stderr } = await holdfast(['notify', '--from', '999', '--data', service.folder], environment);
  assert.deepEqual([code, /there is no fact 999: the last one is fact \d+/.test(stderr)], [2, true], stderr);
});
