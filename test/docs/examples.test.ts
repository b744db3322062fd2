/** The commands of the reference and the guides, run by a real shell against a real service with the demo catalogue. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { examples } from '#src/docs/examples.ts';
import { guides } from '#src/docs/guides.ts';
import type { Json } from '../fixtures/client.ts';
import { ADMIN_TOKEN, openService, type TestService } from '../fixtures/service.ts';

const run = promisify(execFile);
const skip = existsSync('/usr/bin/curl') && existsSync('/bin/bash') ? false : 'there is no curl or no bash here';

/** What a reader copies from an answer into the next command. */
const COPIED: Readonly<Record<string, (answer: Json) => Json>> = {
  createHold: ({ id }) => ({ HOLD: id }),
  joinQueue: ({ id }) => ({ ENTRY: id }),
  startCheckout: ({ order_id, checkout_session_id }) => ({ ORDER: order_id, SESSION: checkout_session_id }),
  openPayment: ({ checkout_session_id }) => ({ SESSION: checkout_session_id }),
  getOrderStatus: ({ tickets }) => ({ TICKET: (tickets as string[])[0] }),
};

/** The exit code of curl when its time is over, as for a stream that does not end. */
const TIMED_OUT = 28;

describe('The reference', { skip }, () => {
  let service: TestService;

  before(async () => {
    service = await openService({ demo: true, clock: 'running', environment: { SANDBOX_CLOCK: 'on' } });
  });
  after(() => service?.close());

  /** Runs commands unchanged but for the addresses; an error answer fails them. */
  const shell = async (commands: string, copied: Json = {}, streamSeconds = 0.3): Promise<string> => {
    const script = commands
      .replaceAll('http://127.0.0.1:8080', service.publicUrl)
      .replaceAll('http://127.0.0.1:8081', service.adminUrl)
      .replaceAll('curl -sN', `curl -sN --max-time ${streamSeconds}`)
      .replaceAll('curl -s', 'curl --fail-with-body -s');
    const env = { PATH: process.env['PATH'], ADMIN_TOKEN, ...(copied as Record<string, string>) };
    const { stdout } = await run('/bin/bash', ['--norc', '-c', `set -e\n${script}`], { env }).catch(
      (error: { code: number; stdout: string; stderr: string }) => {
        if (error.code === TIMED_OUT) return error;
        throw new Error(`${script}\n${error.stdout}${error.stderr}`);
      },
    );
    return stdout;
  };

  it('has an example for every operation that people call, and each example succeeds', async () => {
    const operations: string[] = [];
    for (const url of [service.publicUrl, service.adminUrl]) {
      const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
        paths: Record<string, Record<string, { operationId: string; summary?: string }>>;
      };
      for (const { operationId, summary } of Object.values(paths).flatMap(Object.values)) {
        assert.ok(summary, operationId);
        operations.push(operationId);
      }
    }
    const without = new Set(operations.filter((operationId) => examples[operationId] === undefined));
    assert.deepEqual([...without].sort(), ['isLive', 'receivePaymentWebhook']);
    let copied: Json = {};
    for (const [operationId, commands] of Object.entries(examples)) {
      let answer = await shell(commands, copied);
      // A stream has its first message later on a busy machine.
      if (answer === '' && commands.includes('curl -sN')) answer = await shell(commands, copied, 20);
      assert.ok(answer.length > 0, operationId);
      const copy = COPIED[operationId];
      if (copy !== undefined) copied = { ...copied, ...copy(JSON.parse(answer) as Json) };
    }
  });

  for (const { slug, title, sections } of guides) {
    const commands = sections.flatMap(({ blocks }) => blocks.flatMap((block) => ('code' in block ? [block.code] : [])));
    if (!commands.some((code) => code.includes('curl'))) continue;
    it(`has a guide “${title}” whose commands succeed in their order`, async () => {
      const settings = slug === 'first-sale' ? '' : `BASE=${service.publicUrl}\nJSON='Content-Type: application/json'`;
      const output = await shell([settings, ...commands].join('\n'));
      if (slug === 'first-sale') assert.match(output, /"status":"CONFIRMED"[^]*"code":/);
    });
  }
});
