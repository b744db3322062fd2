/**
 * Later versions read what earlier ones wrote: golden journals lead to the states that they led to, and the future is
 * refused.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { SERVICE_FACT_TYPES } from '#engine/service-facts.ts';
import { verifyFolder } from '#offline/verification.ts';
import { openSealed } from '#privacy/sealing.ts';
import { keyIdOf, type PersonalData, type SealingFactType } from '#domain/personal.ts';
import { FACT_TYPES, type FactData } from '#domain/fact.ts';
import { recordCountOf, restoreEventState, restorePiece, snapshotPieces } from '#domain/event/snapshot.ts';
import { runToEnd } from '../fixtures/service.ts';
import { playEveryFact } from './every-fact.ts';
import { folderOf, goldenJournals, readGolden, readStates, replayGolden, statesOf, readGoldenKeys, sealedIn } from './golden.ts';

const EVERY_TYPE = [...Object.keys(FACT_TYPES), ...Object.keys(SERVICE_FACT_TYPES)];

/** The records in pieces; eight of what is packed, or of the ids of a draw, count as one. */
function recordsIn(pieces: readonly string[]): number {
  type Part = {
    readonly records?: readonly unknown[];
    readonly rows?: readonly unknown[];
    readonly ended?: { readonly numbers: readonly number[] };
  };
  let count = 0;
  for (const text of pieces) {
    const piece = JSON.parse(text) as Part & {
      readonly kind: string;
      readonly room?: Part & { readonly part: string };
      readonly doors?: Part;
    };
    const { records = [], rows = [], ended } = piece.doors ?? piece.room ?? piece;
    count += rows.length / 8;
    if (piece.kind !== 'ENDED_HOLDS') count += records.length / (piece.room?.part === 'DRAWN' ? 8 : 1);
    count += (ended?.numbers.length ?? 0) / (piece.kind === 'CUT_HOLDS' ? 4 : 5) / 8;
  }
  return count;
}

describe('The golden journals', () => {
  it('have every type of fact', () => {
    const types = new Set(goldenJournals().flatMap((name) => readGolden(name).map(({ type }) => type)));
    const missing = EVERY_TYPE.filter((type) => !types.has(type));
    assert.deepEqual(missing, [], 'a new type of fact: teach every-fact.ts to play it, then run record.ts');
  });

  for (const name of goldenJournals()) {
    it(`${name} leads to the state that it led to when it was recorded`, () => {
      const states = statesOf(replayGolden(readGolden(name)));
      const kept = readStates()[name]!;
      const figures = (of: typeof states) => Object.entries(of).map(([eventId, state]) => [eventId, state.figures]);
      assert.deepEqual(figures(states), figures(kept), 'the sale itself reads differently: promise 3 is broken');
      assert.deepEqual(states, kept, 'the state is kept in another form: if meant so, run record.ts --states');
    });

    it(`${name} leads to a state that a snapshot keeps whole`, () => {
      for (const state of replayGolden(readGolden(name)).values()) {
        const [first = '', ...further] = snapshotPieces(state);
        const restored = restoreEventState(first);
        for (const piece of further) restorePiece(restored, piece);
        assert.deepEqual([...snapshotPieces(restored)], [first, ...further]);
      }
    });

    it(`${name} leads to a state whose records are counted as a snapshot has them`, () => {
      for (const state of replayGolden(readGolden(name)).values()) {
        assert.equal(recordCountOf(state), recordsIn([...snapshotPieces(state)]));
      }
    });

    it(`${name} is a sound folder from its bytes to its books`, async (t) => {
      const report = await verifyFolder(await folderOf(t, readGolden(name), readGoldenKeys(name)));
      assert.deepEqual(report.problems, []);
      assert.equal(report.facts, readGolden(name).length);
      assert.equal(report.events, Object.keys(readStates()[name]!).length);
    });
  }

  /** What a buyer of the golden sale gives; nobody is named on its other orders. */
  const dataOfAda: PersonalData = {
    customer: { email: 'Ada+vip@Example.com', name: 'Ada', documentNumber: 'X1', phone: '+49 1' },
    attendees: [null],
    tracking: { fbp: 'fb.1' },
  };

  it('have sealed texts that open with the keys of then, and none whose key was destroyed', () => {
    const name = 'journal-5.ndjson';
    const keys = readGoldenKeys(name);
    const rows = readGolden(name);
    const erased = rows.flatMap(({ type, data }) =>
      type === 'OrderErased' ? (JSON.parse(data) as FactData['OrderErased']).keyIds : [],
    );
    const texts = rows.flatMap(({ type, data }) => sealedIn(data).map((sealed) => ({ type, data, sealed })));
    const isErased = ({ sealed }: { readonly sealed: string }): boolean => erased.includes(keyIdOf(sealed));
    assert.ok(erased.length >= 4 && texts.filter(isErased).length === erased.length);
    for (const { type, data, sealed } of texts.filter((text) => !isErased(text))) {
      const { orderId } = JSON.parse(data) as FactData['OrderPlaced'];
      const about = { orderId, factType: type as SealingFactType };
      const opened = openSealed(keys.get(keyIdOf(sealed))!, about, sealed);
      assert.deepEqual(opened, type === 'OrderPlaced' ? dataOfAda : 'as the promoter asked');
    }
    for (const id of erased) assert.equal(keys.get(id), undefined);
  });

  it('can be recorded again: every type of fact still happens, and its replay gives the live state', async () => {
    const { rows, fixture } = await playEveryFact();
    const types = new Set(rows.map(({ type }) => type));
    assert.deepEqual(Object.keys(FACT_TYPES).filter((type) => !types.has(type)), []);
    const living = new Map(fixture.events.actors.active().map((actor) => [actor.eventId, actor.inspect((state) => state)]));
    assert.deepEqual(statesOf(replayGolden(rows)), statesOf(new Map([...living].sort())));
  });
});

describe('A journal that a newer version wrote', () => {
  it('is refused at the start with exit code 5 and a line that names the fact', async (t) => {
    const [definition] = readGolden('journal-1.ndjson');
    const future = { ...definition!, seq: 2, type: 'SeatTeleported', data: '{}' };
    const { code, text } = await runToEnd({ folder: await folderOf(t, [definition!, future]) });
    assert.equal(code, 5, text);
    assert.match(text, /fact 2 is of the type SeatTeleported, which this version does not know/);
    assert.match(text, /Run the version of Holdfast that wrote this journal, or a newer one/);
  });

  it('is refused by its format before anything is read', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson').slice(0, 1));
    const db = new Database(path.join(folder, 'journal.db'));
    db.pragma('user_version = 2');
    db.close();
    const { code, text } = await runToEnd({ folder });
    assert.equal(code, 5, text);
    assert.match(text, /the journal has format 2; this version reads formats up to 1/);
  });
});
