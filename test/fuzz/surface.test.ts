/**
 * Random requests to every address: answers have the schemas of the documents, secrets stay secret, a refusal changes
 * nothing.
 *
 * `fuzz/service.ts` asserts its rules for every answer. `depth.ts` sets how many requests are sent; `FC_SEED=random`
 * sends others.
 */
import { it, type TestContext } from 'node:test';
import { deep } from '../depth.ts';
import { fc } from '../property.ts';
import { DEFINITIONS, openFuzzedService, type FuzzedService } from './service.ts';
import { PAGES, undocumentedRequest, requestTo, requestForOthers, type FuzzRequest } from './requests.ts';
import type { Operation } from './document.ts';
import type { Arbitrary } from './values.ts';

const RUNS = deep(150);

/** A service with many orders is slow to check: after so many requests a new one is opened. */
const RUNS_A_SERVICE = 2_000;

/** Sends so many requests, to several services one after the other when they are many. */
async function play(
  t: TestContext,
  runs: number,
  open: () => Promise<FuzzedService>,
  requests: (fuzzed: FuzzedService) => Arbitrary<FuzzRequest>,
  after: (fuzzed: FuzzedService) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const tally = new Map<string, Map<number, number>>();
  for (let left = runs, chunk = 0; left > 0; left -= RUNS_A_SERVICE, chunk += 1) {
    const fuzzed = await open();
    try {
      const property = fc
        .asyncProperty(requests(fuzzed), async (request) => void (await fuzzed.send(request)))
        .afterEach(() => (fuzzed.hasManyOrders() ? fuzzed.cancelOrders() : undefined));
      const { seed } = fc.readConfigureGlobal();
      await fc.assert(property, {
        numRuns: Math.min(left, RUNS_A_SERVICE),
        ...(seed !== undefined && { seed: seed + chunk }),
      });
      await fuzzed.restart();
      await after(fuzzed);
    } finally {
      await fuzzed.close();
    }
    for (const [name, statuses] of fuzzed.tally) {
      const all = tally.get(name) ?? new Map<number, number>();
      for (const [status, times] of statuses) all.set(status, (all.get(status) ?? 0) + times);
      tally.set(name, all);
    }
  }
  for (const [name, statuses] of [...tally].sort()) {
    t.diagnostic(
      `${name}: ${Array.from(statuses, ([status, times]) => `${status} × ${times}`)
        .sort()
        .join(', ')}`,
    );
  }
}

/** One of the operations; those that change something are drawn more often. */
function anyOf(
  operations: readonly Operation[],
  to: (operation: Operation) => Arbitrary<FuzzRequest>,
): Arbitrary<FuzzRequest> {
  return fc.oneof(...operations.map((each) => ({ weight: each.method === 'GET' ? 1 : 3, arbitrary: to(each) })));
}

it('A client that sends any request to any address sees no secret, causes no 5xx and changes only its own data', async (t) => {
  const open = () => openFuzzedService();
  await play(
    t,
    RUNS,
    open,
    ({ operations }) =>
      fc.oneof(
        { weight: 12, arbitrary: anyOf(operations.public, (each) => requestTo(each)) },
        { weight: 2, arbitrary: anyOf(PAGES, (each) => requestTo(each)) },
        { weight: 2, arbitrary: requestForOthers },
        { weight: 1, arbitrary: undocumentedRequest([...operations.public, ...operations.admin]) },
        { weight: 1, arbitrary: anyOf(operations.admin, (each) => requestTo(each)) },
      ),
    (fuzzed) => fuzzed.assertCustomersUnchanged(),
  );
});

it('An operator that sends any request to any address gets the documented answers, and no session key', async (t) => {
  const definition = fc.constantFrom(...DEFINITIONS);
  const open = () => openFuzzedService({ asOperator: true });
  const requests = ({ operations }: FuzzedService) =>
    fc.oneof(
      {
        weight: 4,
        arbitrary: anyOf(operations.admin, (each) =>
          requestTo(each, each.operationId === 'defineEvent' ? definition : undefined),
        ),
      },
      { weight: 1, arbitrary: anyOf(operations.public, (each) => requestTo(each)) },
    );
  await play(t, Math.ceil(RUNS / 2), open, requests, (fuzzed) => fuzzed.assertFactsTellNoSecret());
});
