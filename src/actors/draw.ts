/**
 * Runs the draw of a large waiting room on a worker thread, which hashes and sorts, also after a restart in the middle.
 *
 * Owns the messages to the thread and back; what a draw is belongs to `domain/waiting-room/draw.ts`.
 *
 * 1. Nothing counts as drawn before it is a fact: the order is recorded in pieces, each by a command of its own.
 * 2. The pool, the seed and the opening are kept, so that a draw that is begun anew gives the same order; pieces that
 *    are recorded already are left out.
 * 3. Ids go to the worker, and come back, as texts of at most SLICE_ENTRIES lines, and the event loop runs between two
 *    of them.
 */
import { once } from 'node:events';
import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { DRAWN_ENTRIES_PER_FACT_MAX } from '#domain/waiting-room/decide.ts';
import { type Draw, drawUnderWay, poolIds } from '#domain/waiting-room/state.ts';
import { isRefusal } from '#domain/refusal.ts';
import { inBackground, reportTrouble } from './trouble.ts';
import type { WaitingRoomState } from '#domain/waiting-room/state.ts';
import type { DrawAnswer, DrawJob } from './draw-worker.ts';
import type { FollowedActor, Follower } from './follower.ts';

/** The actor of the event whose waiting room is drawn. */
type DrawingActor = Pick<FollowedActor, 'isRetired' | 'execute'>;

/** Ids in one message to the worker: under 1 ms to gather. */
const SLICE_ENTRIES = 5_000;

/** The pause before a draw that could not go on is begun anew, for example because the disk is full. */
const RETRY_MS = 1_000;

/**
 * The draws of an event that are too large for one turn, or that a crash cut short: one at a time. A follower of the
 * event actor.
 */
export class Draws implements Follower {
  readonly #state: WaitingRoomState;
  readonly #actor: DrawingActor;
  #isUnderWay = false;

  constructor(state: WaitingRoomState, actor: DrawingActor) {
    this.#state = state;
    this.#actor = actor;
    this.afterTurn();
  }

  /** Runs a draw in the background where one has begun. */
  afterTurn(): void {
    if (this.#isUnderWay || drawUnderWay(this.#state) === null) return;
    this.#isUnderWay = true;
    inBackground(
      'draw',
      runDraw(this.#state, this.#actor).finally(() => (this.#isUnderWay = false)),
    );
  }
}

/** Resolves when the waiting room is open, or when the actor is retired. */
async function runDraw(state: WaitingRoomState, actor: DrawingActor): Promise<void> {
  // The turn that started the draw ends first.
  await nextRound();
  for (;;) {
    try {
      const draw = drawUnderWay(state);
      if (actor.isRetired || draw === null) return;
      await drawOnce(draw, state, actor);
    } catch (error) {
      if (actor.isRetired) return;
      reportTrouble('draw', 'the draw of a waiting room is begun anew', error);
      await pause(RETRY_MS, undefined, { ref: false });
    }
  }
}

async function drawOnce(draw: Draw, state: WaitingRoomState, actor: DrawingActor): Promise<void> {
  const worker = new Worker(new URL('./draw-worker.ts', import.meta.url), { execArgv: [] });
  worker.unref();
  const gone = new AbortController();
  worker.once('exit', () => gone.abort());
  try {
    await sendPool(worker, draw);
    let from = draw.order.length;
    let isDrawn = false;
    while (!isDrawn) {
      const { entryIds, entriesDigest } = await requestPiece(worker, gone.signal, from);
      const reply = await actor.execute({ type: 'RecordDraw', from, entryIds: splitIds(entryIds), entriesDigest });
      if (isRefusal(reply)) return;
      from = reply.drawnEntries;
      isDrawn = drawUnderWay(state) === null;
    }
  } finally {
    await worker.terminate();
  }
}

/** Sends the secrets and the pool to the worker, slice by slice. */
async function sendPool(worker: Worker, draw: Draw): Promise<void> {
  const send = (job: DrawJob): void => worker.postMessage(job);
  send({ kind: 'SECRETS', seed: draw.seed, opening: draw.opening });
  let slice: string[] = [];
  for (const id of poolIds(draw)) {
    if (slice.push(id) < SLICE_ENTRIES) continue;
    send({ kind: 'ENTRIES', entryIds: slice.join('\n') });
    slice = [];
    await nextRound();
  }
  send({ kind: 'ENTRIES', entryIds: slice.join('\n') });
}

/** The next piece of the order; the worker draws at the first request. Rejects when the worker fails or has ended. */
async function requestPiece(worker: Worker, gone: AbortSignal, from: number): Promise<DrawAnswer> {
  const answered = once(worker, 'message', { signal: gone });
  const job: DrawJob = { kind: 'ORDER', from, limit: DRAWN_ENTRIES_PER_FACT_MAX };
  worker.postMessage(job);
  const [answer] = (await answered) as [DrawAnswer];
  return answer;
}

function splitIds(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n');
}
