/**
 * Records the golden journals. Run by hand:
 *
 *     node --import tsx test/golden/record.ts            runs a sale with every type of fact and adds a journal
 *     node --import tsx test/golden/record.ts --states   records again the states that the journals lead to
 *
 * A released journal is never written again: it stands for the data folders of that version.
 */
import { writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { playEveryFact } from './every-fact.ts';
import { keyIdOf } from '#domain/personal.ts';
import { goldenFolder, goldenJournals, readGolden, sealedIn, replayGolden, statesOf } from './golden.ts';

if (!process.argv.includes('--states')) {
  const { rows, fixture } = await playEveryFact();
  const last = rows.at(-1)!;
  const service = [
    { type: 'ClockAdvanced', data: JSON.stringify({ offsetMs: 90_000 }) },
    { type: 'NotificationsDelivered', data: JSON.stringify({ throughSeq: 12, behind: { evt_gala: 7 } }) },
    { type: 'MailDelivered', data: JSON.stringify({ throughSeq: 14, behind: { ord_1_golden: 9 } }) },
    {
      type: 'ServiceRequestAnswered',
      data: JSON.stringify({
        key: 'POST /admin/snapshot k-9',
        digest: 'd-9',
        at: last.at,
        answer: { seq: 12, taken: 2, failed: 0, archived: null },
      }),
    },
    // Of shard 0 of a cluster.
    { type: 'EventReserved', data: JSON.stringify({ eventId: 'evt_gala', eventNumber: 1, slug: 'gala' }) },
    {
      type: 'EventIndexed',
      data: JSON.stringify({
        entry: {
          eventId: 'evt_gala',
          eventNumber: 1,
          slug: 'gala',
          published: true,
          startsAt: Date.UTC(2028, 4, 12, 18),
          opensAt: null,
          overAt: Date.UTC(2028, 4, 13, 21),
        },
      }),
    },
    { type: 'EventReserved', data: JSON.stringify({ eventId: 'evt_refused', eventNumber: 2, slug: 'refused' }) },
    { type: 'EventReservationEnded', data: JSON.stringify({ eventId: 'evt_refused', slug: 'refused' }) },
  ].map((fact, index) => ({ seq: last.seq + 1 + index, at: last.at, eventId: '', ...fact }));
  const lines = [...rows, ...service].map(({ data, ...row }) =>
    JSON.stringify({ ...row, data: JSON.parse(data) as unknown }),
  );
  const number = goldenJournals().length + 1;
  writeFileSync(new URL(`journal-${number}.ndjson`, goldenFolder), `${lines.join('\n')}\n`);
  // The keys of its sealed texts, without those that were destroyed.
  const ids = [...new Set(rows.flatMap(({ data }) => sealedIn(data)).map(keyIdOf))];
  const keys = [...(await fixture.keys.read(ids))].map(([id, key]) => [id, key.toString('base64url')]);
  writeFileSync(new URL(`keys-${number}.json`, goldenFolder), `${JSON.stringify(Object.fromEntries(keys), null, 2)}\n`);
}

const states = goldenJournals().map((name) => [name, statesOf(replayGolden(readGolden(name)))] as const);
const text = await format(JSON.stringify(Object.fromEntries(states)), { parser: 'json', printWidth: 120 });
writeFileSync(new URL('states.json', goldenFolder), text);
