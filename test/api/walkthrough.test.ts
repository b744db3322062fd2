/** The walk-through of README, run line by line against a new service with the demo events. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { newCustomer, settle, start, statusOf } from '../fixtures/checkout.ts';
import type { Json } from '../fixtures/client.ts';
import { openService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

interface Step {
  readonly commands: string;
  /** What the page says the answers contain, in order. */
  readonly expected: readonly string[];
}

/** The fenced blocks that say `walkthrough`; what stands after `# →` is expected in the output. */
function stepsOf(page: string): Step[] {
  return [...page.matchAll(/^```sh walkthrough\n(?<commands>[^]*?)^```$/gm)].map(({ groups }) => {
    const commands = groups!['commands']!;
    return { commands, expected: [...commands.matchAll(/^# → (.*)$/gm)].map(([, text]) => text!) };
  });
}

const STEP_ENDS = '===== the step ends here =====';

it('The walk-through of README works as it stands', async (t) => {
  if (!existsSync('/bin/bash')) return t.skip('there is no bash here');
  const steps = stepsOf(readme);
  assert.ok(steps.length >= 5);
  const service = await openService({ demo: true, clock: 'running' });
  t.after(() => service.close());
  const script = steps.map(({ commands }) => `${commands}\necho; echo '${STEP_ENDS}'`).join('\n');
  const { stdout } = await promisify(execFile)('/bin/bash', [
    '-euo',
    'pipefail',
    '-c',
    script.replaceAll('http://127.0.0.1:8080', service.publicUrl),
  ]);
  const outputs = stdout.split(STEP_ENDS);
  steps.forEach(({ commands, expected }, i) => {
    let from = 0;
    for (const text of expected) {
      const at = outputs[i]!.indexOf(text, from);
      assert.ok(at >= 0, `${commands}\nshould have answered with ${text}, but:\n${outputs[i]}`);
      from = at + text.length;
    }
  });
  return undefined;
});

it('A buyer of the demo gives a ticket back, and the money goes back by itself', async (t) => {
  const service = await openService({ demo: true });
  t.after(() => service.close());
  const items = [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 2 }];
  const started = await start(service, { event_id: 'evt_club', items, customer: newCustomer() });
  const { tickets } = await settle(service, started, 'paid');
  const path = `/api/checkout/orders/${started.order_id}/amendments`;
  const request = { cancel: tickets.slice(0, 1) };
  const { quote } = (await service.post(`${path}/quote`, request)).body;
  assert.equal((await service.post(path, { ...request, quote })).status, 201);
  const refunds = async () => (await statusOf(service, started)).refunds;
  await until(async () => (await refunds()).some(({ status }) => status === 'SUCCEEDED'));
});

it('The event of README is loaded as it stands, and sells', async (t) => {
  const service = await openService();
  t.after(() => service.close());
  const body = JSON.parse(/^```json event\n([^]*?)^```$/m.exec(readme)![1]!) as Json;
  assert.equal((await service.operate('PUT', `/admin/events/${String(body['id'])}`, { body })).status, 201);
  const hold = await service.hold({
    event_id: String(body['id']),
    session_key: 'ada-on-her-phone',
    items: [{ ticket_type_id: 'adult', selling_stage_id: 'general', quantity: 2 }],
  });
  assert.equal(hold.status, 'ACTIVE');
});
