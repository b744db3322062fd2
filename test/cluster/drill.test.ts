/**
 * The drill itself: its audit notices what must not happen, and its gaps are the times without an answer. One machine
 * stands for all nodes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openService, type TestService } from '../fixtures/service.ts';
import type { NodeProcess } from '../fixtures/nodes.ts';
import { AnswerTimes } from './drill/answer-times.ts';
import { audit } from './drill/audit.ts';
import { buy, takeTickets, type DrillSale } from './drill/buyers.ts';
import { drillEvent, openSale } from './drill/run.ts';
import { until } from '../fixtures/until.ts';

describe('The audit of a drill', () => {
  let service: TestService;
  let nodes: readonly NodeProcess[];
  let events = 0;
  before(async () => {
    service = await openService();
    nodes = ['one', 'other'].map((name) => ({ ...service, name, pid: 0, isRunning: true }) as unknown as NodeProcess);
  });
  after(() => service.close());

  /** A sale of one event with three holds. */
  async function sell(): Promise<DrillSale> {
    const id = `evt_sold-${(events += 1)}`;
    await service.define(drillEvent(id, 1_000));
    const sale = openSale({ nodes, servers: [], clusterName: '', shards: 1 }, [id], { seed: events, restMsMax: 0 });
    for (let n = 0; n < 3; n += 1) await takeTickets(sale, id, 2);
    return sale;
  }
  const findings = async (sale: DrillSale): Promise<string> => {
    await audit(sale, nodes);
    return sale.tally.wrong.join('\n');
  };

  it('finds nothing wrong in a sale where nothing was wrong, with releases and paid orders', async () => {
    const sale = await sell();
    const buyers = Array.from({ length: 4 }, () => buy(sale));
    await until(() => new Set(sale.ledger.map(({ end }) => end)).size === 3);
    sale.isClosing = true;
    await Promise.all(buyers);
    const { held, sold } = await audit(sale, nodes);
    assert.deepEqual(sale.tally.wrong, []);
    assert.ok(held > 0 && sold > 0);
  });

  it('notices a hold that was answered and is not there', async () => {
    const sale = await sell();
    sale.ledger.push({ ...sale.ledger[0]!, holdId: 'hld_1_nobody-has-it' });
    assert.match(await findings(sale), /an answered hold reads 404/);
  });

  it('notices tickets that were answered and are free', async () => {
    const sale = await sell();
    const { holdId, sessionKey } = sale.ledger[0]!;
    await service.delete(`/api/checkout/holds/${holdId}`, { 'x-session-key': sessionKey });
    assert.match(await findings(sale), /a hold that is held reads RELEASED.*\n.*4 held and 0 sold, but 6 held/);
  });

  it('notices a request that took effect twice, though the second hold replaced the first', async () => {
    const sale = await sell();
    const first = sale.ledger[0]!;
    const items = [{ ticket_type_id: 'single', selling_stage_id: 'general', quantity: 2 }];
    const again = await service.hold({ event_id: first.eventId, session_key: first.sessionKey, items });
    sale.ledger[0] = { ...first, holdId: again.id };
    assert.match(await findings(sale), /4 holds were placed, but 3 were answered/);
  });

  it('notices nodes that answer differently', async () => {
    const sale = await sell();
    const [one, other] = nodes;
    const stale: NodeProcess = {
      ...other!,
      get: async (address, headers) => {
        const answer = await one!.get(address, headers);
        return { ...answer, body: { ...(answer.body as object), expires_at: 'earlier' } as never };
      },
    };
    await audit(sale, [one!, stale]);
    assert.match(sale.tally.wrong.join('\n'), /the nodes answer differently/);
  });
});

describe('The gaps of a drill', () => {
  it('are the longest times between two answers of an event, one that goes on included', () => {
    let nowMs = 0;
    const times = new AnswerTimes(['a', 'b'], () => nowMs);
    const answer = (atMs: number, eventId: string): void => {
      nowMs = atMs;
      times.note(eventId);
    };
    answer(100, 'a');
    answer(200, 'b');
    nowMs = 250;
    times.begin();
    assert.deepEqual(times.silent, ['a', 'b']);
    answer(400, 'a');
    answer(450, 'a');
    assert.equal(times.isAnswering, false);
    nowMs = 900;
    assert.deepEqual([...times.gapsMs()].toSorted(), [
      ['a', 450],
      ['b', 700],
    ]);
    times.note('b');
    assert.equal(times.isAnswering, true);
  });
});
