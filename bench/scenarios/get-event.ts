import { fight } from '../http/duel.ts';
import { startHoldfast, startPlain } from '../http/server.ts';
import { hallEvent } from '../events.ts';
import type { Scenario } from '../scenario.ts';

const PATH = '/api/events/public/hall';

export const getEvent: Scenario = {
  name: 'get-event',
  about: 'GET of the public event payload, 64 connections, against a plain route that sends the same bytes',
  async run(settings) {
    const service = await startHoldfast([hallEvent(2_000) as { readonly id: string }]);
    const sample = await fetch(service.url + PATH);
    const plain = await startPlain({ method: 'GET', path: PATH, status: sample.status, body: await sample.text() });
    try {
      const duel = { service, plain, traffic: { method: 'GET', path: PATH }, connections: 64, status: 200 } as const;
      const { figures } = await fight(duel, settings, { atLeast: 0.9 });
      return figures;
    } finally {
      await Promise.all([service.stop(), plain.stop()]);
      service.removeFolder();
    }
  },
};
