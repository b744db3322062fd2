/**
 * Replay without a snapshot against the time that SQLite needs to read the same rows.
 *
 * The journal is a real one, filled through the writer; both readings go over it from the first row to the last.
 */
import { rmSync } from 'node:fs';
import { initialState } from '#domain/event/state.ts';
import { replayFact } from '#domain/event/replay.ts';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import { hallEvent } from '../events.ts';
import { definitionOf } from '../../test/fixtures/events.ts';
import { itemOf, openDomain, placeHold } from '../in-process.ts';
import { makeFolder } from '../http/server.ts';
import { figureOf, secondsOf, type Scenario } from '../scenario.ts';
import type { Fact } from '#domain/fact.ts';
import type { Journal } from '#persistence/journal.ts';

const EVENT_ID = 'evt_hall';
/** Units that wait for the disk at most. */
const PENDING_MAX = 2_000;

export const replay: Scenario = {
  name: 'replay',
  about: 'replay of an event from its first fact against the time SQLite needs to read the same rows',
  async run({ quick, rounds, report }) {
    const facts = quick ? 50_000 : 1_000_000;
    report(`a journal of ${facts} facts`);
    const folder = makeFolder();
    try {
      const journal = await openSqliteJournal({ folder });
      await fill(journal, facts);
      const ratios: number[] = [];
      const rates: number[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        report(`round ${round} of ${rounds}`);
        const reading = await secondsOf(() => readRows(journal));
        const replaying = await secondsOf(() => replayRows(journal));
        // The first round warms up.
        if (round === 0) continue;
        ratios.push(replaying / reading);
        rates.push(journal.durableSeq / replaying);
      }
      await journal.close();
      return {
        figures: [
          figureOf('replay ÷ SQLite reading the rows', '× the time', ratios, { atMost: 5 }),
          figureOf('replay', 'facts per s', rates),
          { name: 'facts', value: facts, unit: '' },
        ],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Facts of a lively sale: of six turns four place a hold, one changes one, one releases one. */
async function fill(journal: Journal, facts: number): Promise<void> {
  let unit: Fact[] = [];
  const fixture = openDomain(definitionOf(hallEvent(60_000)), (fact) => unit.push(fact));
  const holds: { readonly id: string; readonly sessionKey: string }[] = [];
  const at = Date.now();
  const append = async (): Promise<void> => {
    const texts = unit.map(({ type, data }) => ({ type, data: JSON.stringify(data) }));
    unit = [];
    const seq = journal.append({ eventId: EVENT_ID, at, facts: texts });
    if (seq - journal.durableSeq > PENDING_MAX) {
      await journal.durable(seq);
    }
  };
  await append();
  for (let turn = 0; journal.appendedSeq < facts; turn += 1) {
    const known = turn % 6 > 3 ? holds.pop() : undefined;
    if (known === undefined) {
      const command = placeHold(turn, turn % 6 === 0 && turn < 60_000 ? 'seat' : 'single', 1 + (turn % 3));
      const { hold } = fixture.do(command) as unknown as { readonly hold: { readonly id: string } };
      holds.push({ id: hold.id, sessionKey: command.sessionKey });
    } else if (turn % 6 === 4) {
      fixture.do({ type: 'ChangeHold', holdId: known.id, sessionKey: known.sessionKey, items: [itemOf('single', 2)] });
    } else {
      fixture.do({ type: 'ReleaseHold', holdId: known.id, sessionKey: known.sessionKey });
    }
    await append();
  }
  await journal.durable(journal.appendedSeq);
}

function readRows(journal: Journal): void {
  let bytes = 0;
  for (const { data } of journal.read()) bytes += data.length;
  if (bytes === 0) throw new Error('there must be rows');
}

function replayRows(journal: Journal): void {
  const state = initialState(EVENT_ID, 1);
  for (const row of journal.read()) replayFact(state, row);
  if (state.revision !== journal.durableSeq) throw new Error('every fact must be applied');
}
