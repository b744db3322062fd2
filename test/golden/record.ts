/**
 * Records the golden journals. Run by hand:
 *
 *     node --import tsx test/golden/record.ts            runs a sale with every type of fact and adds a journal
 *     node --import tsx test/golden/record.ts --states   records again the states that the journals lead to
 *
 * A released journal is never written again: it stands for the data folders of that version.
 */
import { writeFileSync } from 'node:fs';
import { playEveryFact } from './every-fact.ts';
import { goldenFolder, goldenJournals, readGolden, replayGolden, statesOf } from './golden.ts';

if (!process.argv.includes('--states')) {
  const { rows } = await playEveryFact();
  const last = rows.at(-1)!;
  const service = [
    { type: 'ClockAdvanced', data: JSON.stringify({ offsetMs: 90_000 }) },
    { type: 'NotificationsDelivered', data: JSON.stringify({ throughSeq: 12, behind: { evt_gala: 7 } }) },
    {
      type: 'ServiceRequestAnswered',
      data: JSON.stringify({
        key: 'POST /admin/snapshot k-9',
        digest: 'd-9',
        at: last.at,
        answer: { seq: 12, taken: 2, failed: 0, archived: null },
      }),
    },
  ].map((fact, index) => ({ seq: last.seq + 1 + index, at: last.at, eventId: '', ...fact }));
  const lines = [...rows, ...service].map(({ data, ...row }) =>
    JSON.stringify({ ...row, data: JSON.parse(data) as unknown }),
  );
  writeFileSync(new URL(`journal-${goldenJournals().length + 1}.ndjson`, goldenFolder), `${lines.join('\n')}\n`);
}

const states = goldenJournals().map((name) => [name, statesOf(replayGolden(readGolden(name)))] as const);
writeFileSync(new URL('states.json', goldenFolder), `${JSON.stringify(Object.fromEntries(states), null, 2)}\n`);
