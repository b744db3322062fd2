import { auditFolder } from '../http/audit.ts';
import { fight } from '../http/duel.ts';
import type { Traffic } from '../http/load.ts';
import { startHoldfast, startPlain } from '../http/server.ts';
import { hotEvent } from '../events.ts';
import type { Scenario } from '../scenario.ts';

const PATH = '/api/checkout/holds';

/** A ticket of the one type that everybody wants, for a session that nobody has seen before. */
export const holdTraffic: Traffic = {
  method: 'POST',
  path: PATH,
  body: {
    head: '{"event_id":"evt_hot","session_key":"session-',
    tail: '","items":[{"ticket_type_id":"single","selling_stage_id":"general","quantity":1}]}',
  },
};

export const postHold: Scenario = {
  name: 'post-hold',
  about: 'POST hold of a hot ticket type, durable, 64 connections, against a plain route that answers at once',
  async run(settings) {
    const service = await startHoldfast([hotEvent]);
    const { head, tail } = holdTraffic.body!;
    const sample = await fetch(service.url + PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `${head}sample${tail}`,
    });
    const plain = await startPlain({ method: 'POST', path: PATH, status: sample.status, body: await sample.text() });
    try {
      const { figures, answered } = await fight(
        { service, plain, traffic: holdTraffic, connections: 64, status: 201 },
        settings,
        {
          atLeast: 1.2,
        },
      );
      await service.stop();
      return [...figures, ...(await auditFolder(service.folder, answered + 1))];
    } finally {
      await Promise.all([service.stop(), plain.stop()]);
      service.removeFolder();
    }
  },
};
