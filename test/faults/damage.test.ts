/**
 * Damage anywhere in a data folder that a crash left: a flipped bit, a sector of zeros, a torn end. Whatever file it
 * hits, the folder opens with exactly the sale that was, or it is refused and the damage named; it is never silently
 * shorter.
 *
 * `test/persistence/damage.test.ts` tries the journal's own files more closely; here the whole folder of a sale is
 * tried, its snapshots and archive included, up to the state. DAMAGE_PLACES sets how many places are tried.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readEventState } from '#offline/events.ts';
import { verifyFolder } from '#offline/verification.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import { copyUpTo } from '#persistence/folder/backup.ts';
import { JournalDamaged, JournalTooNew } from '#persistence/faults.ts';
import { recoverHead } from '#persistence/sqlite/recovery.ts';
import { fingerprintOf } from '#persistence/snapshots.ts';
import { viewJournal } from '#persistence/sqlite/view.ts';
import { confirmKey, damagedSecrets, keptSecret, SecretDamaged, SECRETS } from '#service/secrets.ts';
import { createTicketSigner } from '#tickets/signing.ts';
import { newFolder } from '../fixtures/folders.ts';
import { builtProgram } from '../fixtures/program.ts';
import { runToEnd, spawnServiceFor } from '../fixtures/service.ts';

const PLACES = Number(process.env['DAMAGE_PLACES'] ?? 150);
const SECTOR_BYTES = 512;
const victim = await builtProgram(new URL('./selling-process.ts', import.meta.url));

/** What opening a folder comes to. */
interface Opened {
  readonly headSeq: number;
  readonly fingerprint: string;
}

/** Opens a folder as the service does, up to the state of its event, without changing it. */
async function openFolder(folder: string): Promise<Opened> {
  const head = await recoverHead(folder, {});
  const view = viewJournal(folder);
  assert.ok(view !== null && head !== null);
  try {
    const state = await readEventState(folder, view, 'evt_club');
    return { headSeq: head.seq, fingerprint: fingerprintOf(snapshotPieces(state!)) };
  } finally {
    view.close();
  }
}

/** Opened exactly; the same, and `verify` names the damage; refused, and the damage named. */
type Verdict = 'exact' | 'named' | 'refused';

type Damage = (bytes: Buffer, place: number) => Buffer;

const damages: Readonly<Record<string, Damage>> = {
  'a flipped bit': (bytes, place) => {
    const bit = Math.floor(place * bytes.length * 8);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    return bytes;
  },
  'a sector of zeros': (bytes, place) => {
    const sector = Math.floor((place * bytes.length) / SECTOR_BYTES) * SECTOR_BYTES;
    return bytes.fill(0, sector, Math.min(sector + SECTOR_BYTES, bytes.length));
  },
  'a torn end': (bytes, place) => bytes.subarray(0, Math.floor(place * bytes.length)),
};

/** The same pseudo-random numbers on every run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

describe('A damaged data folder', () => {
  const parent = newFolder({ after });
  const sound = path.join(parent, 'sound');
  const hurt = path.join(parent, 'hurt');
  let files: readonly string[] = [];
  let expected: Opened;

  before(async () => {
    const child = spawn(process.execPath, [victim, sound, 'crash'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const [, signal] = (await once(child, 'close')) as [number | null, string | null];
    assert.equal(signal, 'SIGKILL');
    files = readdirSync(sound, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.db$|-wal$|\.witness$|\.snapshot$/.test(entry.name))
      .map((entry) => path.relative(sound, path.join(entry.parentPath, entry.name)))
      .filter((file) => file !== 'lock.db')
      .sort();
    // Opening a log may write beside it, so a copy is opened.
    cpSync(sound, hurt, { recursive: true });
    expected = await openFolder(hurt);
    rmSync(hurt, { recursive: true });
  });

  it('has every kind of file', () => {
    for (const kind of [/^journal\.db$/, /^journal\.db-wal$/, /^head\.witness$/, /^snapshots\//, /^archive\//])
      assert.ok(
        files.some((file) => kind.test(file)),
        `${kind} in ${files.join(' ')}`,
      );
    assert.ok(expected.headSeq > 40);
  });

  for (const [what, damage] of Object.entries(damages)) {
    it(`opens unchanged or is refused with a reason: ${what}, anywhere`, async (t) => {
      const random = numbers(what.length);
      const ledger = new Map<string, Record<Verdict, number>>();
      const perFile = Math.ceil(PLACES / Object.keys(damages).length / files.length);
      for (const file of files) {
        for (let n = 0; n < perFile; n += 1) {
          cpSync(sound, hurt, { recursive: true });
          const target = path.join(hurt, file);
          const place = random.next().value as number;
          writeFileSync(target, damage(readFileSync(target), place));
          const context = `${what} at ${place} of ${file}`;
          const verdict = await (file.startsWith('archive') ? checkArchive(context) : check(context, file));
          const outcomes = ledger.get(file) ?? { exact: 0, named: 0, refused: 0 };
          ledger.set(file, { ...outcomes, [verdict]: outcomes[verdict] + 1 });
          rmSync(hurt, { recursive: true });
        }
      }
      for (const [file, { exact, named, refused }] of ledger) {
        t.diagnostic(
          `${file}: ${exact} opened exactly, ${named} did and were named, ${refused} were refused and named`,
        );
      }
      const sum = (verdict: Verdict): number => [...ledger.values()].reduce((all, each) => all + each[verdict], 0);
      assert.ok(sum('refused') > 0 && sum('exact') + sum('named') > 0);
    });
  }

  /** Opens the hurt folder; what does not read as it was must be named, by the start and by `verify`. */
  async function check(context: string, file: string): Promise<Verdict> {
    try {
      assert.deepEqual(await openFolder(hurt), expected, context);
    } catch (error) {
      if (!(error instanceof JournalDamaged || error instanceof JournalTooNew)) throw error;
      assert.ok(error.message.length > 20 && error.hint.length > 20, context);
      if (error instanceof JournalTooNew) return 'refused';
      const problems = (await verifyFolder(hurt)).problems.filter(({ where }) => !where.includes('snapshots'));
      assert.deepEqual(
        problems.map(({ what, hint }) => [what, hint]),
        [[error.message, error.hint]],
        context,
      );
      return 'refused';
    }
    if (!file.startsWith('snapshots')) return 'exact';
    const { problems } = await verifyFolder(hurt);
    assert.ok(
      problems.some(({ where }) => where.includes(path.basename(file))),
      `${context} is not named`,
    );
    return 'named';
  }

  /** Restores from before the first fact that the journal still has, which needs the archive. */
  async function checkArchive(context: string): Promise<Verdict> {
    assert.deepEqual(await openFolder(hurt), expected, 'the archive is not needed to serve');
    const out = path.join(parent, 'out');
    try {
      await copyUpTo(hurt, out, { seq: 20 });
      const restored = await verifyFolder(out);
      assert.deepEqual([restored.headSeq, restored.problems], [20, []], context);
      return 'exact';
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      assert.ok(error instanceof Error && error.message.length > 10, context);
      return 'refused';
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  }
});

describe('A damaged secret', () => {
  it('is unchanged or refused, whichever bit flipped; no ticket is signed with a changed key', (t) => {
    const folder = newFolder(t);
    const open = (): string => {
      const kept = { folder, fileName: 'ticket-key', configured: null, ...SECRETS.ticketKey };
      const { kid } = createTicketSigner([keptSecret(kept)]).keys[0];
      confirmKey(folder, 'ticket-key', kid);
      return kid;
    };
    const kid = open();
    const outcomes = { exact: 0, refused: 0 };
    for (const name of ['ticket-key', 'ticket-key.fingerprint']) {
      const file = path.join(folder, name);
      const sound = readFileSync(file);
      for (let bit = 0; bit < sound.length * 8; bit += 3) {
        const bytes = Buffer.from(sound);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        writeFileSync(file, bytes);
        try {
          assert.equal(open(), kid, `bit ${bit} of ${name}`);
          outcomes.exact += 1;
        } catch (error) {
          if (!(error instanceof SecretDamaged)) throw error;
          assert.match(`${error.message} ${error.hint}`, /ticket-key.*from a backup/);
          outcomes.refused += 1;
        }
      }
      writeFileSync(file, sound);
    }
    t.diagnostic(`${outcomes.exact} opened exactly, ${outcomes.refused} were refused`);
    assert.ok(outcomes.refused > 200);
    assert.equal(open(), kid);
    writeFileSync(path.join(folder, 'ticket-key'), '');
    assert.throws(open, /ticket-key is damaged/);
  });

  it('stops the start with exit code 5 and says what to do', async (t) => {
    const service = await spawnServiceFor(t);
    assert.equal(await service.end('SIGTERM'), 0);
    const file = path.join(service.folder, 'ticket-key');
    const key = readFileSync(file, 'utf8');
    assert.deepEqual(damagedSecrets(service.folder), []);
    writeFileSync(file, `${key[0] === 'A' ? 'B' : 'A'}${key.slice(1)}`);
    writeFileSync(path.join(service.folder, 'admin-token'), 'short');
    assert.match(damagedSecrets(service.folder).join('\n'), /admin-token is damaged.*\n.*ticket-key is not the key/);
    writeFileSync(path.join(service.folder, 'admin-token'), 'long-enough-to-be-a-token');
    const { code, text } = await runToEnd({ folder: service.folder });
    assert.equal(code, 5, text);
    assert.match(text, /ticket-key is not the key that was kept here/);
  });
});
