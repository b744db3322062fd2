/**
 * The service under many clients and kill -9 behaves as if everything happened one after the other.
 *
 * Buyers crowd around a few seats and counters of a real process, which is killed and started again; what they saw is judged
 * by `checker.ts` against `stock.ts`. How long it goes on is `depth.ts`'s; `FC_SEED=random` lets the buyers want
 * something else. Public availability is advisory and takes no part, but for the count at the quiet end.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { EventBody } from '#http/schemas/events.ts';
import type { OccupancyBody } from '#http/schemas/seating.ts';
import { deep } from '../depth.ts';
import type { ServiceClient } from '../fixtures/client.ts';
import { newFolder, spawnService } from '../fixtures/service.ts';
import { chanceOf } from '../simulation/chance.ts';
import { EVENT, moment, SHELVES, service, type Epoch, type Street } from './buyers.ts';
import { judge } from './checker.ts';
import { stockModel, type StockOperation } from './stock.ts';

const ROUNDS = deep(1);
/** A process is killed when it has answered so many, or has lived for so long. */
const ANSWERS_A_ROUND = 250;
const ROUND_MS_MAX = 6_000;
const BUYERS = 12;
const seed = process.env['FC_SEED'] === 'random' ? Date.now() : Number(process.env['FC_SEED'] ?? 20261121);

/** A round takes a second or two; on a machine that is busy with other things many more. */
const timeout = 60_000 + ROUNDS * 20_000;

it(`keeps every history linearizable over ${ROUNDS} kills`, { timeout }, async (t) => {
  const folder = newFolder();
  const chance = chanceOf(seed);
  let { epoch, enter } = newEpoch(await spawnService({ folder }));
  const histories = new Map(Object.keys(SHELVES).map((shelf) => [shelf, [] as StockOperation[]]));
  const street: Street = { epoch, isClosing: false, histories };
  t.after(() => street.epoch.service.close());
  await epoch.service.define(EVENT);
  const buyers = Array.from({ length: BUYERS }, (_, buyer) => service(street, buyer, chanceOf(seed + buyer)));
  const shopping = Promise.all(buyers);
  shopping.catch(() => {});
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.race([busy(street), shopping]);
    await pause(chance.between(0, 20));
    await epoch.service.end('SIGKILL');
    enter.crash(moment());
    const next = newEpoch(await spawnService({ folder }));
    street.epoch = next.epoch;
    enter.next(next.epoch);
    ({ epoch, enter } = next);
  }
  await Promise.race([busy(street), shopping]);
  street.isClosing = true;
  await shopping;
  for (const [shelf, history] of histories) {
    history.push(await count(epoch.service, shelf));
    assertLinearizable(shelf, history, t.diagnostic.bind(t));
  }
  assert.equal(await epoch.service.end('SIGTERM'), 0);
});

interface Enter {
  crash(at: number): void;
  next(epoch: Epoch): void;
}

function newEpoch(service: Epoch['service']): { epoch: Epoch; enter: Enter } {
  const crashed = Promise.withResolvers<number>();
  const next = Promise.withResolvers<Epoch>();
  const epoch = { service, crashed: crashed.promise, next: next.promise };
  return { epoch, enter: { crash: crashed.resolve, next: next.resolve } };
}

/** Resolves when enough was answered for a round. */
async function busy({ histories }: Street): Promise<void> {
  const answered = (): number => [...histories.values()].reduce((sum, history) => sum + history.length, 0);
  const enough = answered() + ANSWERS_A_ROUND;
  const begin = moment();
  while (answered() < enough && moment() - begin < ROUND_MS_MAX) await pause(5);
}

/** What is left on a shelf, read when nothing is under way. */
async function count(service: ServiceClient, shelf: string): Promise<StockOperation> {
  const calledAt = moment();
  const free: Record<string, number> = {};
  for (const date of ['fri', 'sat']) {
    const query = `performance_id=${date}`;
    const { body: event } = await service.call<EventBody>('GET', `/api/events/public/${EVENT.slug}?${query}`);
    const address = `/api/events/public/${EVENT.slug}/seating/occupancy?${query}`;
    const { body: seats } = await service.call<OccupancyBody>('GET', address);
    const taken = new Set([...seats.held!, ...seats.sold!]);
    for (const good of Object.keys(SHELVES[shelf]!.capacities)) {
      const row = event.ticketAvailability.find(({ ticket_type_id: type }) => good === `${type} ${date}`);
      if (row !== undefined) free[good] = row.available;
      else if (date === 'fri' && good.startsWith('S-')) free[good] = taken.has(good) ? 0 : 1;
    }
  }
  return { input: { type: 'count' }, output: { type: 'COUNTED', free }, calledAt, returnedAt: moment() };
}

function assertLinearizable(shelf: string, history: readonly StockOperation[], say: (line: string) => void): void {
  const verdict = judge(history, stockModel(SHELVES[shelf]!));
  if (!verdict.isLinearizable) {
    const show = (operations: readonly StockOperation[]): string => operations.map(line).join('\n');
    const last = show(verdict.explained.slice(-30));
    assert.fail(`${shelf}: after\n${last}\nnothing of this can come next:\n${show(verdict.stuckAt)}`);
  }
  const unanswered = history.filter(({ output }) => output === null).length;
  const granted = history.filter(({ output }) => output?.type === 'PLACED').length;
  assert.ok(granted > 0 && granted < history.length, `${shelf} was fought for`);
  say(`${shelf}: ${history.length} operations, ${granted} holds, ${unanswered} without an answer`);
}

function line({ calledAt, returnedAt, input, output }: StockOperation): string {
  return `  ${calledAt.toFixed(2)} to ${returnedAt.toFixed(2)}: ${JSON.stringify(input)} → ${JSON.stringify(output)}`;
}
