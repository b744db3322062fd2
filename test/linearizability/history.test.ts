/**
 * The service under many clients and kill -9 behaves as if every operation happened alone, one after the other.
 *
 * Buyers compete for a few seats and counters of a real process, which is killed and started again; `checker.ts` checks
 * the recorded histories against the model of `stock.ts`. `depth.ts` sets the number of rounds; `FC_SEED=random` draws
 * other operations. It does so with one thread that answers, and with two beside the engine's, where calls and answers
 * cross threads. Public availability is advisory and takes no part, except for the count at the end, when nothing is
 * in progress.
 */
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventBody } from '#http/buyers/events/schema.ts';
import type { OccupancyBody } from '#http/buyers/seating.ts';
import { deep } from '../depth.ts';
import type { ServiceClient } from '../fixtures/client.ts';
import { spawnService } from '../fixtures/service.ts';
import { chanceOf } from '../simulation/chance.ts';
import { buyUntilClosed, EVENT, moment, STOCK_GROUPS, type Epoch, type Run } from './buyers.ts';
import { checkHistory } from './checker.ts';
import { stockModel, type StockOperation } from './stock.ts';
import { makeFolder } from '../fixtures/folders.ts';

const ROUNDS = deep(1);
/** A process is killed after so many answers, or after so long. */
const ANSWERS_A_ROUND = 250;
const ROUND_MS_MAX = 6_000;
const BUYERS = 12;
const seed = process.env['FC_SEED'] === 'random' ? Date.now() : Number(process.env['FC_SEED'] ?? 20261121);

/** A round takes a second or two, and much longer on a busy machine. */
const timeout = 60_000 + ROUNDS * 20_000;

for (const threads of ['1', '2'])
  it(
    `Every history of holds and orders is linearizable over ${ROUNDS} kills; HTTP_THREADS=${threads}`,
    { timeout },
    (t) => checkHistories(t, { HTTP_THREADS: threads }),
  );

async function checkHistories(t: TestContext, environment: Readonly<Record<string, string>>): Promise<void> {
  const folder = makeFolder();
  const chance = chanceOf(seed);
  let { epoch, end } = newEpoch(await spawnService({ folder, environment }));
  const histories = new Map(Object.keys(STOCK_GROUPS).map((group) => [group, [] as StockOperation[]]));
  const run: Run = { epoch, isClosing: false, histories };
  t.after(() => run.epoch.service.close());
  await epoch.service.define(EVENT);
  const buyers = Array.from({ length: BUYERS }, (_, buyer) => buyUntilClosed(run, buyer, chanceOf(seed + buyer)));
  const buying = Promise.all(buyers);
  buying.catch(() => {});
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.race([busy(run), buying]);
    await pause(chance.between(0, 20));
    await epoch.service.end('SIGKILL');
    end.crash(moment());
    const next = newEpoch(await spawnService({ folder, environment }));
    run.epoch = next.epoch;
    end.next(next.epoch);
    ({ epoch, end } = next);
  }
  await Promise.race([busy(run), buying]);
  run.isClosing = true;
  await buying;
  for (const [group, history] of histories) {
    history.push(await count(epoch.service, group));
    assertLinearizable(group, history, t.diagnostic.bind(t));
  }
  assert.equal(await epoch.service.end('SIGTERM'), 0);
}

interface EpochEnd {
  crash(at: number): void;
  next(epoch: Epoch): void;
}

function newEpoch(service: Epoch['service']): { epoch: Epoch; end: EpochEnd } {
  const crashed = Promise.withResolvers<number>();
  const next = Promise.withResolvers<Epoch>();
  const epoch = { service, crashed: crashed.promise, next: next.promise };
  return { epoch, end: { crash: crashed.resolve, next: next.resolve } };
}

/** Resolves when a round has enough answers. */
async function busy({ histories }: Run): Promise<void> {
  const answered = (): number => [...histories.values()].reduce((sum, history) => sum + history.length, 0);
  const enough = answered() + ANSWERS_A_ROUND;
  const begin = moment();
  while (answered() < enough && moment() - begin < ROUND_MS_MAX) await pause(5);
}

/** What is free of a group, read when nothing is in progress. */
async function count(service: ServiceClient, group: string): Promise<StockOperation> {
  const calledAt = moment();
  const free: Record<string, number> = {};
  for (const date of ['fri', 'sat']) {
    const query = `performance_id=${date}`;
    const { body: event } = await service.call<EventBody>('GET', `/api/events/public/${EVENT.slug}?${query}`);
    const address = `/api/events/public/${EVENT.slug}/seating/occupancy?${query}`;
    const { body: seats } = await service.call<OccupancyBody>('GET', address);
    const taken = new Set([...seats.held!, ...seats.sold!]);
    for (const good of Object.keys(STOCK_GROUPS[group]!.capacities)) {
      const row = event.ticketAvailability.find(({ ticket_type_id: type }) => good === `${type} ${date}`);
      if (row !== undefined) free[good] = row.available;
      else if (date === 'fri' && good.startsWith('S-')) free[good] = taken.has(good) ? 0 : 1;
    }
  }
  return { input: { type: 'count' }, output: { type: 'COUNTED', free }, calledAt, returnedAt: moment() };
}

function assertLinearizable(group: string, history: readonly StockOperation[], report: (line: string) => void): void {
  const result = checkHistory(history, stockModel(STOCK_GROUPS[group]!));
  if (!result.isLinearizable) {
    const show = (operations: readonly StockOperation[]): string => operations.map(line).join('\n');
    const last = show(result.explained.slice(-30));
    assert.fail(`${group}: after\n${last}\nnothing of this can come next:\n${show(result.stuckAt)}`);
  }
  const unanswered = history.filter(({ output }) => output === null).length;
  const granted = history.filter(({ output }) => output?.type === 'PLACED').length;
  assert.ok(granted > 0 && granted < history.length, `buyers competed for ${group}`);
  report(`${group}: ${history.length} operations, ${granted} holds, ${unanswered} without an answer`);
}

function line({ calledAt, returnedAt, input, output }: StockOperation): string {
  return `  ${calledAt.toFixed(2)} to ${returnedAt.toFixed(2)}: ${JSON.stringify(input)} → ${JSON.stringify(output)}`;
}
