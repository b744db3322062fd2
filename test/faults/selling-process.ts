/**
 * A process that sells until it is done or its disk fails; started by the tests under strace with plain Node, to be
 * hit.
 *
 * It goes through everything that writes: opening, commits, checkpoints, snapshots, pruning, a second opening that
 * reads it all back, closing. Each hold that was answered is printed as `held ID`; its exit code is that of `serve`.
 * Called with `crash` it kills itself instead of closing at the end, when its watermark has seen everything; called
 * with `brief` it sells once, too little for a checkpoint before the one of closing.
 */
import { writeSync } from 'node:fs';
import { startEngine, type Engine } from '#engine/engine.ts';
import { isRefusal } from '#domain/refusal.ts';
import { JournalFault } from '#persistence/journal.ts';
import { KeyStoreFault } from '#persistence/keys.ts';
import { clubNight, definitionOf } from '../fixtures/events.ts';
import { printLine } from '../fixtures/print-line.ts';

const [folder = '', ending = 'close'] = process.argv.slice(2);
const EXIT = { defect: 1, journalNotWritable: 4, stuck: 9 } as const;
const RUN_MS_MAX = 400_000;
const SALES = 36;
const BUYERS = 6;

function leave(code: number, text: string): never {
  writeSync(2, `${text}\n`);
  process.exit(code);
}

setTimeout(() => leave(EXIT.stuck, 'it got stuck'), RUN_MS_MAX).unref();

function open(): Promise<Engine> {
  return startEngine({
    folder,
    liveEventsMax: 10,
    waitingRepliesMax: 100,
    journal: { probeEveryMs: 20, watermarkEveryMs: 10, checkpointIdleMs: 5, checkpointIdlePages: 8 },
    onFatal: (fault) => leave(EXIT.journalNotWritable, `${fault.message} ${fault.hint}`),
  });
}

const definition = definitionOf(clubNight({ hold_minutes: 600, payment_minutes: 700 }));

/** Repeats a request while the disk is full, as a buyer does after a 503. */
async function retry<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if ((error as Error).name !== 'Overloaded' && !(error instanceof JournalFault)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** Tries once: each try has a thread of its own, and the fault is injected into each of them. */
async function tryTo(ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if ((error as Error).name !== 'Overloaded') throw error;
  }
}

async function sell(engine: Engine, buyer: number, sales: number): Promise<void> {
  const items = [
    { ticketTypeId: 'single', sellingStageId: 'regular', quantity: 1, performanceId: null, seatIds: null },
  ] as const;
  for (let sale = 0; sale < sales; sale += 1) {
    const sessionKey = `session-${buyer}-${sale}`;
    const reply = await retry(async () => {
      const actor = await engine.events.byEventId(definition.id);
      return actor!.execute({ type: 'PlaceHold', sessionKey, items, queuePass: null, idempotency: null });
    });
    if (!isRefusal(reply)) printLine(`held ${reply.hold.id}`);
  }
}

async function sellOut(engine: Engine): Promise<void> {
  await Promise.all(Array.from({ length: BUYERS }, (_, buyer) => sell(engine, buyer, SALES / BUYERS)));
}

try {
  let engine = await open();
  await retry(() => engine.events.define(definition, { operator: null, note: null }));
  if (ending === 'brief') {
    await sell(engine, Date.now(), 1);
    await engine.stop();
    printLine('done');
    process.exit(0);
  }
  await sellOut(engine);
  await tryTo(() => engine.snapshots.takeRound());
  await sell(engine, BUYERS, 3);
  await tryTo(() => engine.snapshots.takeRound({ prune: true }));
  await sell(engine, BUYERS + 1, 3);
  await engine.stop();
  engine = await open();
  await sell(engine, BUYERS + 2, 3);
  if (ending === 'crash') {
    await engine.journal.watermark();
    process.kill(process.pid, 'SIGKILL');
  }
  await engine.stop();
  printLine('done');
} catch (error) {
  const { message, hint = '', stack } = error as { message: string; hint?: string; stack?: string };
  if (error instanceof JournalFault || error instanceof KeyStoreFault)
    leave(EXIT.journalNotWritable, `${message} ${hint}`);
  leave(EXIT.defect, stack ?? message);
}
