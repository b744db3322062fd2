/**
 * A rule as a scenario: an event that is given, what its buyers and operators ask, and what they are answered.
 *
 * 1. Requests, bodies and refusal codes are the API's (`requests.ts`). Nothing in a scenario knows how a request
 *    reaches its event.
 * 2. Each scenario runs on two drivers: on the state of an event alone (`state-driver.ts`) and on a service over HTTP
 *    (`http-driver.ts`). Each has an event of its own, whose id and slug the driver chooses.
 * 3. Both drivers check what holds for every scenario: on the state that a refusal changes nothing, and that a replay
 *    and a snapshot equal what is in memory (I9); over HTTP the body and the status of a refusal, and the counters of
 *    every performance (I7).
 */
import type { RefusalCode } from '#domain/refusal.ts';
import type { StockFigures } from '../fixtures/checks.ts';
import type { Json } from '../fixtures/client.ts';
import type { ApiRequest, Bodies, Operation } from './requests.ts';

/** One event on sale, under a clock that stands still until the scenario moves it. */
export interface Sale {
  /** Makes a request that must be accepted; answers its body. */
  ask<Name extends Operation>(request: ApiRequest<Name>): Promise<Bodies[Name]>;
  /** Makes a request that must be answered as an earlier one was; answers that body. */
  repeats<Name extends Operation>(request: ApiRequest<Name>): Promise<Bodies[Name]>;
  /** Makes a request that must be accepted and leave no fact, which the state alone can tell; answers its body. */
  changesNothing<Name extends Operation>(request: ApiRequest<Name>): Promise<Bodies[Name]>;
  /** Makes a request that must be refused, with exactly this detail where one is given; answers the detail. */
  refuses(request: ApiRequest<Operation>, code: RefusalCode, detail?: object): Promise<Json>;
  /** Moves the clock; nothing runs out before the next request. */
  wait(ms: number): void;
  now(): number;
  /** The stock of a performance as operators see it; of the only one without an id. */
  stock(performanceId?: string): Promise<StockFigures>;
}

export interface Scenario {
  /** A sentence in the API's words. */
  readonly title: string;
  /** The event in the file form of a definition; a function is given the time at which the scenario begins. */
  readonly given: object | ((now: number) => object);
  readonly then: (sale: Sale) => Promise<void>;
}

export function scenario(title: string, given: Scenario['given'], then: Scenario['then']): Scenario {
  return { title, given, then };
}

/** What runs scenarios: it opens a sale for one, and closes it with the checks that hold for all. */
export interface Driver {
  open(definition: Scenario['given']): Promise<Sale & { close(): Promise<void> }>;
}

export async function run({ given, then }: Scenario, driver: Driver): Promise<void> {
  const sale = await driver.open(given);
  await then(sale);
  await sale.close();
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** A time as the API writes it. */
export const moment = (ms: number): string => new Date(ms).toISOString();
