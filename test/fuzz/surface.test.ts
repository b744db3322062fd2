/**
 * Whatever is sent, to whatever address: answers are what the documents say, secrets stay secret, nothing changes by a no.
 *
 * What must be so is asserted by `service.ts` for every single answer. How much is sent is `depth.ts`'s;
 * `FC_SEED=random` sends something else.
 */
import { it, type TestContext } from 'node:test';
import { deep } from '../depth.ts';
import { fc } from '../property.ts';
import { DEFINITIONS, openFuzzedService, type FuzzedService } from './service.ts';
import { PAGES, requestBeside, requestTo, trespass, type WildRequest } from './requests.ts';
import type { Operation } from './document.ts';
import type { Arbitrary } from './values.ts';

const RUNS = deep(150);

/** A house grows slow by what was bought in it: after so many requests the next one is opened. */
const RUNS_A_HOUSE = 2_000;

/** Plays so many requests, in several houses where they are many. */
async function play(
  t: TestContext,
  runs: number,
  open: () => Promise<FuzzedService>,
  requests: (fuzzed: FuzzedService) => Arbitrary<WildRequest>,
  after: (fuzzed: FuzzedService) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const tally = new Map<string, Map<number, number>>();
  for (let left = runs, chunk = 0; left > 0; left -= RUNS_A_HOUSE, chunk += 1) {
    const fuzzed = await open();
    try {
      const property = fc
        .asyncProperty(requests(fuzzed), async (request) => void (await fuzzed.visit(request)))
        .afterEach(() => (fuzzed.isCrowded() ? fuzzed.tidyUp() : undefined));
      const { seed } = fc.readConfigureGlobal();
      await fc.assert(property, {
        numRuns: Math.min(left, RUNS_A_HOUSE),
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

/** The operations, those that change something more often than the others. */
function anyOf(
  operations: readonly Operation[],
  to: (operation: Operation) => Arbitrary<WildRequest>,
): Arbitrary<WildRequest> {
  return fc.oneof(...operations.map((each) => ({ weight: each.method === 'GET' ? 1 : 3, arbitrary: to(each) })));
}

it('A visitor who sends anything to anywhere learns nothing, breaks nothing and changes only what is its own', async (t) => {
  const open = () => openFuzzedService();
  await play(
    t,
    RUNS,
    open,
    ({ operations }) =>
      fc.oneof(
        { weight: 12, arbitrary: anyOf(operations.public, (each) => requestTo(each)) },
        { weight: 2, arbitrary: anyOf(PAGES, (each) => requestTo(each)) },
        { weight: 2, arbitrary: trespass },
        { weight: 1, arbitrary: requestBeside([...operations.public, ...operations.admin]) },
        { weight: 1, arbitrary: anyOf(operations.admin, (each) => requestTo(each)) },
      ),
    (fuzzed) => fuzzed.residentsAreWell(),
  );
});

it('An operator who sends anything to anywhere gets what the document says, and no key of anybody', async (t) => {
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
  await play(t, Math.ceil(RUNS / 2), open, requests, (fuzzed) => fuzzed.journalIsClean());
});
