/**
 * The simulated service: the real event index, event actors and domain over the journal in memory, run step by step.
 *
 * Owns the state of the process and the disk, which survives it. Every unit that is appended is applied to the
 * reference model of its event; after a crash or a full disk the models are rebuilt from the facts on the disk. Nothing
 * here runs by itself.
 *
 * 1. An answer that leaves before the facts it depends on are durable is a failure (I4).
 * 2. The facts of every answer are on the disk after every crash.
 * 3. Snapshots use the real snapshotter. Its thread finishes jobs late, and jobs that wait together in any order. An
 *    event is activated only from snapshots whose outcome was reported.
 * 4. Personal data are sealed with keys that become durable, and are destroyed, late (`keys.ts`).
 * 5. `now` is the time of the service. The clock of the machine leaps separately; only a new process takes its time.
 */
import assert from 'node:assert/strict';
import { createClock, type ServiceClock } from '#actors/clock.ts';
import { EventIndex } from '#actors/event-index.ts';
import { destroyAfterDoubt, destroyAgain } from '#privacy/folder-keys.ts';
import { KeyDestruction } from '#privacy/key-destruction.ts';
import { keyIdsErasedBy } from '#domain/orders/erasure.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { createSnapshotter, type Snapshotter } from '#engine/snapshotter.ts';
import type { SnapshotOutcome } from '#actors/activation.ts';
import { initialState, type EventState } from '#domain/event/state.ts';
import { joinId, SECRET_LENGTH } from '#domain/ids.ts';
import { viewOrder } from '#domain/orders/view.ts';
import { replayFact } from '#domain/event/replay.ts';
import { restoreEventState, restorePiece, snapshotPieces } from '#domain/event/snapshot.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { assertSaleByMinute } from '../fixtures/checks.ts';
import { DAMAGES, openDamaged } from './disk.ts';
import { MINUTE } from './events.ts';
import { AT_ONCE, SimulatedKeys, type SimulatedKeyStore } from './keys.ts';
import { SaleModel } from './model.ts';
import type { Chance } from './chance.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { Fact } from '#domain/fact.ts';
import type { FactRow, Journal, JournalStatus, Unit } from '#persistence/journal.ts';
import type { Snapshot } from '#persistence/snapshots.ts';

interface ServiceBounds {
  readonly liveEventsMax: number;
  readonly waitingRepliesMax: number;
}

/** The input of a model, in order: facts with their place in the journal, and soft state. */
type Note =
  | { readonly kind: 'TURN'; readonly seq: number; readonly facts: readonly Fact[]; readonly at: number }
  | { readonly kind: 'SEEN'; readonly entryId: string; readonly at: number }
  | { readonly kind: 'ACTIVATED'; readonly at: number };

const OF_HOLDS: ReadonlySet<string> = new Set(['HoldPlaced', 'HoldChanged', 'HoldReleased', 'HoldExpired']);

interface KeptSnapshot {
  readonly seq: number;
  readonly at: number;
  readonly pieces: readonly string[];
}

export class SimulatedService {
  readonly models = new Map<string, SaleModel>();
  events!: EventIndex;
  now: number;
  /** Counts the processes, so that late results of an earlier process are ignored. */
  generation = 1;
  /** The newest fact that an answer depended on. */
  answeredSeq = 0;
  /** The units of the current turn. */
  turns: { readonly eventId: string; readonly facts: readonly Fact[] }[] = [];
  onWake: (eventId: string, at: number) => void = () => {};
  onAppend: () => void = () => {};
  /** Called when the snapshot thread is given a job; `finish` completes it. */
  onSnapshotJob: (finish: () => void) => void = () => {};
  /** Called when keys are to be stored or destroyed; `finish` completes it. */
  onKeyJob: (finish: () => void) => void = (finish) => finish();
  /** Has work of this process done later. */
  onLater: (work: () => void, ms: number) => void = () => {};
  /** How many of a hundred destructions of keys fail. */
  failingKeysShare = 0;
  readonly keys: SimulatedKeys;
  readonly #bounds: ServiceBounds;
  readonly #chance: Chance;
  readonly #notes = new Map<string, Note[]>();
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #snapshots = new Map<string, KeptSnapshot[]>();
  /** The sequence numbers of each event's snapshots that outcomes reported (rule 3). */
  readonly #noted = new Map<string, number[]>();
  /** Events whose soft state this process has, also while they are evicted. */
  readonly #known = new Set<string>();
  /** The notes of facts that may turn out to be on a full disk. */
  #doubtful = new Map<string, Note[]>();
  #disk: MemoryJournal;
  #keyDestruction!: KeyDestruction;
  #snapshotter!: Snapshotter;
  #clock!: ServiceClock;
  /** How far the machine's clock is ahead of the service's (rule 5). */
  #leaptMs = 0;
  #ids = 0;

  constructor(chance: Chance, events: readonly EventDefinition[], bounds: ServiceBounds, start: number) {
    this.#chance = chance;
    this.#bounds = bounds;
    this.now = start;
    this.#disk = new MemoryJournal({ manual: true });
    this.#numbers = new Map(events.map(({ id }, index) => [id, index + 1]));
    for (const { id } of events) this.#notes.set(id, []);
    this.keys = new SimulatedKeys(chance.between(0, 1e9));
    this.keys.erasedDurably = () => new Set(this.durableFacts('OrderErased').flatMap(keyIdsErasedBy));
    this.#open();
  }

  // ── the disk ───────────────────────────────────────────────────────────────────────────────────────────────────────

  get status(): JournalStatus {
    return this.#disk.status;
  }

  get durableSeq(): number {
    return this.#disk.durableSeq;
  }

  /** I10: the number of events in memory is limited, busy ones included. */
  assertBounds(): void {
    assert.ok(this.events.actors.size <= this.#bounds.liveEventsMax * 2 + 64, 'too many events are in memory (I10)');
  }

  /** No leap of the machine's clock changes the time of the service (rule 5). */
  assertTime(): void {
    assert.equal(this.#clock.now(), this.now, 'time follows the stopwatch');
  }

  /** Sets the machine's clock to so many milliseconds ahead. */
  leap(ms: number): void {
    this.#leaptMs = ms;
  }

  get hasPending(): boolean {
    return this.#disk.appendedSeq > this.#disk.durableSeq;
  }

  /** Makes the pending facts durable, or a part of them, and releases their answers. */
  commit(share = 1): void {
    const { appendedSeq, durableSeq } = this.#disk;
    this.#disk.commit(durableSeq + Math.ceil((appendedSeq - durableSeq) * share));
  }

  fillDisk(): void {
    this.#doubtful = new Map([...this.#notes].map(([eventId, notes]) => [eventId, [...notes]]));
    this.#disk.full(true);
    this.#forgetAfter(this.#disk.durableSeq, this.#notes);
  }

  freeDisk(): void {
    const { durableSeq } = this.#disk;
    const survivors = durableSeq + this.#chance.between(0, 12);
    this.#disk.full(false, survivors);
    this.#forgetAfter(this.#disk.durableSeq, this.#doubtful);
    destroyAfterDoubt(this.#disk, durableSeq, this.#keyDestruction);
  }

  /**
   * The last fact in a real data folder after it was damaged; null when the folder was refused, or when the disk is
   * full.
   */
  damageDisk(): Promise<number | null> {
    if (this.status !== 'OPEN') return Promise.resolve(null);
    const { appendedSeq, durableSeq } = this.#disk;
    const rows = [...this.#disk.crashAfter(appendedSeq).read()];
    const turns = [...this.#notes.values()].flat().filter((note) => note.kind === 'TURN');
    const unitEnds = new Set(turns.map(({ seq }) => seq));
    return openDamaged(this.#chance, { rows, unitEnds, durableSeq }, this.#chance.pick(DAMAGES));
  }

  /**
   * Ends the process and starts it again on the facts of the disk: the durable ones, and pending ones up to
   * `survivorsSeq`. Resolves with how many keys an erasure had left.
   */
  async crash(breaksFirst: boolean, survivorsSeq: number | null): Promise<number> {
    const { appendedSeq, durableSeq } = this.#disk;
    const survivors = survivorsSeq ?? this.#chance.between(durableSeq, appendedSeq);
    const notes = this.status === 'FULL' ? this.#doubtful : this.#notes;
    if (breaksFirst) this.#disk.breakDown();
    this.generation += 1;
    const left = this.#disk.crashAfter(survivors);
    assert.ok(left.durableSeq >= this.answeredSeq, 'the facts of every answer are on the disk');
    this.#disk = left;
    this.#forgetAfter(left.durableSeq, notes);
    const keysLeft = this.durableFacts('OrderErased')
      .flatMap(keyIdsErasedBy)
      .filter((keyId) => this.keys.has(keyId));
    await this.#destroyKeysAgain();
    this.#open();
    return keysLeft.length;
  }

  /** Destroys what a crash left, before anything is served. */
  async #destroyKeysAgain(): Promise<void> {
    const { durableSeq } = this.#disk;
    const surveyArchive = () => assert.fail('nothing is archived');
    const journal = { journalId: 'simulated', baseSeq: 0, durableSeq, surveyArchive };
    const erasures = [...this.#disk.read()].filter(({ type }) => type === 'OrderErased');
    await destroyAgain(
      this.keys.open(AT_ONCE, () => false),
      journal,
      erasures,
    );
    this.keys.assertComplete(this.durableFacts());
  }

  durable(seq: number): Promise<void> {
    return this.#disk.durable(seq);
  }

  /** Every fact that no crash takes away. */
  durableFacts(type: Fact['type'] | null = null): readonly Fact[] {
    const rows = [...this.#disk.read()].filter((row) => type === null || row.type === type);
    return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) as unknown }) as Fact);
  }

  /** Rebuilds the models from the facts up to a sequence number. */
  #forgetAfter(seq: number, notes: ReadonlyMap<string, readonly Note[]>): void {
    for (const [eventId, all] of notes) {
      const firstLost = all.findIndex((note) => note.kind === 'TURN' && note.seq > seq);
      const kept = firstLost === -1 ? [...all] : all.slice(0, firstLost);
      this.#notes.set(eventId, kept);
      const model = new SaleModel(this.keys);
      for (const note of kept) addNote(model, note);
      this.models.set(eventId, model);
    }
  }

  // ── the process ────────────────────────────────────────────────────────────────────────────────────────────────────

  #open(): void {
    const disk = this.#disk;
    const clock = this.#beginTime();
    this.#beginSnapshots();
    const sealingOf = this.#openKeys();
    let looks = 0;
    this.events = new EventIndex({
      ...this.#bounds,
      journal: this.#tapped(disk),
      clock,
      sealingOf,
      keyDestruction: this.#keyDestruction,
      ids: {
        newId: (prefix, number) => joinId(prefix, number, this.#secret().slice(0, SECRET_LENGTH)),
        newSeed: () => this.#secret().repeat(2).slice(0, 64),
      },
      source: {
        newestSnapshot: (eventId, atMostSeq) => Promise.resolve(this.#newestSnapshot(eventId, atMostSeq)),
        factsAfter: (eventId, afterSeq) => disk.read({ eventId, afterSeq }),
        // Each reading is a millisecond later, so that the slices of an activation are the same in every run.
        stopwatchMs: () => (looks += 1),
      },
      snapshot: async (job) => {
        const outcome = await this.#snapshotter.take(job);
        assert.deepEqual([outcome.eventId, outcome.seq], [job.eventId, job.seq], 'an outcome belongs to its job');
        if (outcome.trouble === null) this.#noteSnapshot(job.eventId, outcome.seq);
        return outcome;
      },
      schedule: (eventId, at) => this.onWake(eventId, at),
      cancelledAtOnceMax: 1,
    });
    const { events } = this;
    for (const row of disk.read()) events.noteRow(row);
    this.#known.clear();
    disk.onStatus(() => {
      events.actors.retireAll();
      this.#known.clear();
    });
  }

  /** Jobs of a process that has ended change nothing. */
  #openKeys(): SimulatedKeyStore['sealingOf'] {
    const { generation } = this;
    const ifAlive = (work: () => void) => () => {
      if (generation === this.generation) work();
    };
    const store = this.keys.open(
      (work) => this.onKeyJob(ifAlive(work)),
      (chance) => chance.percent(this.failingKeysShare),
    );
    this.#keyDestruction = new KeyDestruction(store, { later: (work, ms) => this.onLater(ifAlive(work), ms) });
    return store.sealingOf;
  }

  /** The time of a new process is that of the machine's clock, but not before the last fact. */
  #beginTime(): ServiceClock {
    let lastAt = 0;
    for (const { at } of this.#disk.read()) lastAt = at;
    const wall = this.now + this.#leaptMs;
    this.now = Math.max(wall, lastAt);
    // A smaller difference would be corrected slowly (`test/actors/clock.test.ts`); here it is corrected at once.
    this.#leaptMs = this.now - wall > MINUTE ? wall - this.now : 0;
    const source = { wallMs: () => this.now + this.#leaptMs, stopwatchMs: () => this.now };
    this.#clock = createClock(source, { notBefore: lastAt });
    return this.#clock;
  }

  /** The snapshot thread: the simulation finishes each job, unless the process has ended by then. */
  #beginSnapshots(): void {
    const { generation } = this;
    for (const [eventId, kept] of this.#snapshots)
      this.#noted.set(
        eventId,
        kept.map(({ seq }) => seq),
      );
    this.#snapshotter = createSnapshotter({
      baseSeq: () => 0,
      startThread: ({ reply }) => ({
        post: ({ jobId, job }) =>
          this.onSnapshotJob(() => {
            if (generation !== this.generation) return;
            reply({ jobId, outcome: this.#takeSnapshot(job.eventId, job.seq) });
          }),
        end: () => Promise.resolve(),
      }),
    });
  }

  /** Takes a snapshot of every event, as of its last fact; resolves when all are taken. */
  takeSnapshots(): Promise<readonly SnapshotOutcome[]> {
    const streams = [...this.#disk.streams()];
    return Promise.all(streams.map(({ eventId, lastSeq }) => this.events.actors.snapshotAsOf(eventId, lastSeq)));
  }

  #noteSnapshot(eventId: string, seq: number): void {
    this.#noted.set(eventId, [...(this.#noted.get(eventId) ?? []), seq].slice(-SNAPSHOTS_KEPT));
  }

  #secret(): string {
    this.#ids += 1;
    return this.#ids.toString(16).padStart(24, '0') + '0'.repeat(24);
  }

  /** The journal as the event actors see it: every unit is applied to the model of its event. */
  #tapped(disk: MemoryJournal): Journal {
    return {
      get status() {
        return disk.status;
      },
      get appendedSeq() {
        return disk.appendedSeq;
      },
      get durableSeq() {
        return disk.durableSeq;
      },
      append: (unit) => this.#append(disk, unit),
      durable: (seq) => disk.durable(seq),
      read: (options) => disk.read(options),
      streams: () => disk.streams(),
      onStatus: (listener) => disk.onStatus(listener),
      close: () => disk.close(),
    };
  }

  #append(disk: MemoryJournal, unit: Unit): number {
    assert.equal(disk, this.#disk, 'a process that has ended writes nothing');
    const before = disk.appendedSeq;
    const seq = disk.append(unit);
    assert.equal(seq, before + unit.facts.length, 'sequence numbers have no gaps (I9)');
    const facts = unit.facts.map(({ type, data }) => ({ type, data: JSON.parse(data) as unknown }) as Fact);
    this.keys.noteFacts(facts);
    this.#note(unit.eventId, { kind: 'TURN', seq, facts, at: unit.at });
    this.turns.push({ eventId: unit.eventId, facts });
    this.onAppend();
    return seq;
  }

  #note(eventId: string, note: Note): void {
    this.#notes.get(eventId)!.push(note);
    const model = this.models.get(eventId) ?? new SaleModel(this.keys);
    this.models.set(eventId, model);
    addNote(model, note);
  }

  /** Notes that a waiting entry was seen now. */
  noteSeen(eventId: string, entryId: string): void {
    this.#note(eventId, { kind: 'SEEN', entryId, at: this.now });
  }

  /** The newest fact of an event that is in memory, durable or not. */
  headOf(eventId: string): number {
    return this.#headOf(eventId, () => true);
  }

  /** The last turn of an event with more than holds: a place in line shows nothing of those alone. */
  roomHeadOf(eventId: string): number {
    return this.#headOf(eventId, ({ type }) => !OF_HOLDS.has(type));
  }

  #headOf(eventId: string, isSeen: (fact: Fact) => boolean): number {
    const last = this.#notes.get(eventId)!.findLast((note) => note.kind === 'TURN' && note.facts.some(isSeen));
    return last?.kind === 'TURN' ? last.seq : 0;
  }

  // ── replay and snapshots ───────────────────────────────────────────────────────────────────────────────────────────

  #newestSnapshot(eventId: string, atMostSeq = Number.MAX_SAFE_INTEGER): Snapshot | null {
    // Activation asks for this first: unless the event was only evicted, every waiting entry counts as seen now.
    if (!this.#known.has(eventId)) this.#note(eventId, { kind: 'ACTIVATED', at: this.now });
    this.#known.add(eventId);
    const seqs = this.#noted.get(eventId) ?? [];
    const noted = seqs.findLast((seq) => seq <= atMostSeq && seq <= this.#disk.durableSeq);
    if (noted === undefined) return null;
    const kept = this.#snapshots.get(eventId)?.findLast(({ seq }) => seq === noted);
    assert.ok(kept, 'a snapshot that an outcome reported exists');
    const header = { format: 1, eventId, seq: kept.seq, at: kept.at, about: null };
    return { path: '', header, pieces: kept.pieces, fingerprint: '' };
  }

  #takeSnapshot(eventId: string, seq: number) {
    const pieces = [...snapshotPieces(this.#replay(eventId, seq))];
    const kept = this.#snapshots.get(eventId) ?? [];
    this.#snapshots.set(eventId, [...kept.slice(1 - SNAPSHOTS_KEPT), { seq, at: this.now, pieces }]);
    return { eventId, seq, fingerprint: '', trouble: null };
  }

  #replay(eventId: string, throughSeq: number): EventState {
    const state = initialState(eventId, this.#numbers.get(eventId)!);
    for (const row of this.#rowsOf(eventId)) if (row.seq <= throughSeq) replayFact(state, row);
    return state;
  }

  #rowsOf(eventId: string): FactRow[] {
    return [...this.#disk.read({ eventId })];
  }

  /** No key is left of what was erased up to a fact: an erasure that came with it was answered. */
  assertErased(eventId: string, headSeq: number): void {
    for (const { seq, type, data } of this.#disk.read({ eventId })) {
      if (type !== 'OrderErased' || seq > headSeq) continue;
      for (const keyId of keyIdsErasedBy({ type, data: JSON.parse(data) } as Fact)) {
        assert.ok(!this.keys.has(keyId), `an erasure was answered, and the key ${keyId} is left`);
      }
    }
  }

  /** Every order reads with the address that it was placed with, unless it is erased. */
  async assertReadable(eventId: string): Promise<void> {
    const actor = (await this.events.byEventId(eventId))!;
    const { orders } = this.models.get(eventId)!;
    const reader = new PersonalDataReader(this.keys.store);
    const views = actor.inspect((state) => [...state.orders.inOrder].map((order) => viewOrder(state, order)));
    for (const [index, { state, customer }] of (await reader.openAll(views)).entries()) {
      const { id, isErased, email } = orders.get(views[index]!.id)!;
      assert.deepEqual([id, state, customer?.email], [id, isErased ? 'ERASED' : 'OPEN', isErased ? undefined : email]);
    }
  }

  /**
   * I9: the state in memory, the replayed one, and one from a snapshot and later facts are equal. Makes all facts
   * durable.
   */
  async proveReplay(eventId: string): Promise<void> {
    this.commit();
    const actor = await this.events.byEventId(eventId);
    const living = actor!.inspect((state) => [...snapshotPieces(state)]);
    this.commit();
    const rows = this.#rowsOf(eventId);
    const replayed = [...snapshotPieces(this.#replay(eventId, Number.MAX_SAFE_INTEGER))];
    assert.deepEqual(replayed, living, 'a replay gives the state in memory');
    actor!.inspect((state) => assertSaleByMinute(state, rows));
    const turns = this.#notes.get(eventId)!.filter((note) => note.kind === 'TURN');
    const { seq } = this.#chance.pick(turns);
    const [first, ...others] = snapshotPieces(this.#replay(eventId, seq));
    const restored = restoreEventState(first!);
    for (const piece of others) restorePiece(restored, piece);
    for (const row of rows) if (row.seq > seq) replayFact(restored, row);
    assert.deepEqual([...snapshotPieces(restored)], living, 'a snapshot and later facts give the state in memory');
  }
}

/** How many snapshots of an event are kept. */
const SNAPSHOTS_KEPT = 3;

function addNote(model: SaleModel, note: Note): void {
  if (note.kind === 'TURN') model.take(note.facts, note.at);
  else if (note.kind === 'SEEN') model.waitingRoom?.seen(note.entryId, note.at);
  else model.waitingRoom?.restarted(note.at);
}
