/**
 * Snapshots that earlier versions wrote still open: `snapshot-N.ndjson` has a piece a line, as format N kept a golden
 * journal.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { verifyFolder } from '#offline/verification.ts';
import { auditEventState } from '#domain/event/audit.ts';
import { countsOf } from '#domain/event/operator-view.ts';
import { formatOf, restoreEventState, restorePiece, SNAPSHOT_FORMAT, snapshotPieces } from '#domain/event/snapshot.ts';
import { replayFact } from '#domain/event/replay.ts';
import { findOwnEntry } from '#domain/waiting-room/state.ts';
import { isRefusal } from '#domain/refusal.ts';
import { SnapshotFolder } from '#persistence/snapshots.ts';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import type { EventState } from '#domain/event/state.ts';
import { goldenFolder, readGolden, replayGolden } from './golden.ts';
import { findAnyHold } from '#domain/holds/state.ts';
import { newFolder } from '../fixtures/folders.ts';

const JOURNAL = 'journal-1.ndjson';

/** Earlier formats, and the journal of which each has a snapshot. */
const FORMATS = [
  { format: 1, journal: JOURNAL },
  { format: 2, journal: 'journal-5.ndjson' },
  { format: 3, journal: 'journal-5.ndjson' },
] as const;

/** The pieces of a format, by event. */
function oldPieces(format = 1): Map<string, string[]> {
  const pieces = new Map<string, string[]>();
  for (const line of readFileSync(new URL(`snapshot-${format}.ndjson`, goldenFolder), 'utf8').trimEnd().split('\n')) {
    const { eventId, piece } = JSON.parse(line) as { readonly eventId: string; readonly piece: object };
    pieces.set(eventId, [...(pieces.get(eventId) ?? []), JSON.stringify(piece)]);
  }
  return pieces;
}

function restored([first = '', ...further]: readonly string[]): EventState {
  const state = restoreEventState(first);
  for (const piece of further) restorePiece(state, piece);
  return state;
}

for (const { format, journal } of FORMATS) {
  describe(`A snapshot of format ${format}`, () => {
    it('gives the same state as its facts', () => {
      const replayed = replayGolden(readGolden(journal));
      for (const [eventId, pieces] of oldPieces(format)) {
        assert.equal(formatOf(pieces[0]!), format);
        const state = restored(pieces);
        const living = replayed.get(eventId)!;
        assert.deepEqual(auditEventState(state), []);
        assert.deepEqual(countsOf(state), countsOf(living));
        assert.deepEqual([...state.orders.inOrder], [...living.orders.inOrder]);
        for (const { id, sessionKey, status } of living.holds.byId.values())
          assert.equal(findAnyHold(state, id, sessionKey)?.status, status);
      }
    });

    it('is written in the new format from then on, with the same state', () => {
      for (const pieces of oldPieces(format).values()) {
        const again = [...snapshotPieces(restored(pieces))];
        assert.equal(formatOf(again[0]!), SNAPSHOT_FORMAT);
        assert.deepEqual([...snapshotPieces(restored(again))], again);
      }
    });
  });
}

/** What formats before today's keep more of: holds that were replaced. */
const KEPT_MORE = /^{"kind":"(HOLDS|ENDED_HOLDS|CUT_HOLDS)"/;

describe('A snapshot of format 2 or 3', () => {
  it('gives what a snapshot of today gives, and the items of holds that were replaced', () => {
    const replayed = replayGolden(readGolden('journal-5.ndjson'));
    const piecesOf = (state: EventState) => [...snapshotPieces(state)].filter((piece) => !KEPT_MORE.test(piece));
    for (const format of [2, 3]) {
      for (const [eventId, pieces] of oldPieces(format))
        assert.deepEqual(piecesOf(restored(pieces)), piecesOf(replayed.get(eventId)!));
    }
  });
});

describe('A snapshot of format 1', () => {
  it('keeps the queue entries that had ended, under their session keys', () => {
    const pieces = oldPieces().get('evt_rush')!;
    const state = restored(pieces);
    const finished = pieces
      .map((piece) => JSON.parse(piece) as { room?: { part: string; records: { id: string; sessionKey: string; status: string }[] } })
      .flatMap(({ room }) => (room?.part === 'FINISHED' ? room.records : []));
    assert.ok(finished.length > 0);
    for (const { id, sessionKey, status } of finished) {
      const entry = findOwnEntry(state, id, sessionKey);
      assert.equal(isRefusal(entry) ? entry.code : entry.status, status);
      assert.ok(isRefusal(findOwnEntry(state, id, `${sessionKey}?`)));
    }
  });

  it('is where verification continues, as the service did', async (t) => {
    const { folder, seq, state } = await folderWithOldSnapshot(t);
    const before = await verifyFolder(folder);
    assert.deepEqual(before.problems, []);
    const rows = readGolden(JOURNAL).filter((row) => row.eventId === 'evt_gala');
    assert.ok(seq < rows.at(-1)!.seq);
    for (const row of rows) if (row.seq > seq) replayFact(state, row);
    const header = { eventId: 'evt_gala', seq: rows.at(-1)!.seq, at: 1, about: null };
    await new SnapshotFolder(folder).write(header, snapshotPieces(state));
    const after = await verifyFolder(folder);
    assert.deepEqual(after.problems, []);
    assert.equal(after.snapshotsReplayed, 1);
  });
});

/**
 * The journal with a snapshot of an earlier fact, its pieces brought back to format 1 where it forgot: nothing had
 * ended.
 */
async function folderWithOldSnapshot(t: TestContext) {
  const folder = newFolder(t);
  const journal = await openSqliteJournal({ folder });
  for (const { at, eventId, type, data } of readGolden(JOURNAL)) journal.append({ at, eventId, facts: [{ type, data }] });
  await journal.close();
  const rows = readGolden(JOURNAL).filter(({ eventId }) => eventId === 'evt_gala');
  const seq = rows[Math.floor(rows.length / 2)]!.seq;
  const half = replayGolden(rows.filter((row) => row.seq <= seq)).get('evt_gala')!;
  const forgetful = [...snapshotPieces(half)].filter((piece) => !piece.startsWith('{"kind":"ENDED_HOLDS"'));
  const pieces = forgetful.map((piece) => piece.replace(`"format":${SNAPSHOT_FORMAT},`, ''));
  await new SnapshotFolder(folder).write({ eventId: 'evt_gala', seq, at: 1, about: null }, pieces);
  return { folder, seq, state: restored(pieces) };
}
