/**
 * What sealing personal data costs a whole purchase, in processor time of all threads of the service.
 *
 * The cost is a few per cent, so that what disturbs it is kept out, and shown:
 *
 * 1. Three services are compared: one that seals, one that leaves personal data open, and a twin of the second. The
 *    ratio of the twins would be one; how far it is off is the error of the measurement.
 * 2. All of them run a round at the same moment, each of as many purchases, so that a machine that changes its pace
 *    does it to all. A round is short, because snapshots are taken every 15 s: one lands in a few rounds, which a
 *    median leaves out.
 * 3. Compiled code differs from process to process by some per cent. The services are therefore started anew several
 *    times, and warmed up by purchases each time: a time would warm up a slow machine less.
 */
import { cpuOf, startLoadGenerator } from '../http/load-generator.ts';
import type { BuyersJob, BuyersResult } from '../http/buyers.ts';
import { startHoldfast } from '../http/server.ts';
import { hotEvent } from '../events.ts';
import { figureOf, quartilesOf, type Scenario, type Settings } from '../scenario.ts';

const BUYERS = 32;
const FILES = { sealed: 'src/main.ts', open: 'bench/http/unsealed.ts', twin: 'bench/http/unsealed.ts' } as const;

/** Processor time of a purchase in microseconds, of each service. */
type Round = Record<keyof typeof FILES, number>;

interface Sizes {
  readonly starts: number;
  /** Of each start. */
  readonly rounds: number;
  readonly purchases: number;
  readonly warmUpPurchases: number;
}

export const sealing: Scenario = {
  name: 'sealing',
  about: 'whole purchases with personal data sealed, beside a service that leaves them open and a twin of it',
  async run(settings) {
    const sizes: Sizes = settings.quick
      ? { starts: 1, rounds: 2, purchases: 128, warmUpPurchases: 128 }
      : { starts: 4, rounds: 2 * settings.rounds, purchases: 512, warmUpPurchases: 6_144 };
    const rounds: Round[] = [];
    for (let start = 1; start <= sizes.starts; start += 1) {
      const title = `start ${start} of ${sizes.starts}`;
      rounds.push(...(await runStart(sizes, (step) => settings.report(`${title}, ${step}`))));
    }
    const micros = (name: keyof Round) => rounds.map((round) => round[name]);
    const ratios = rounds.map(({ sealed, open, twin }) => (2 * sealed) / (open + twin));
    return {
      figures: [
        quartilesOf('processor time: a purchase with sealing ÷ without', '×', ratios, { atMost: 1.05 }),
        quartilesOf(
          'the same of two services without',
          '×',
          rounds.map(({ open, twin }) => twin / open),
        ),
        figureOf('processor time of a purchase with sealing', 'µs', micros('sealed')),
        figureOf('processor time of a purchase without sealing', 'µs', [...micros('open'), ...micros('twin')]),
      ],
      notes: ['what stands beside the ratios are their quartiles'],
    };
  },
};

/** Starts the services, warms them up and runs the rounds. */
async function runStart(sizes: Sizes, report: Settings['report']): Promise<readonly Round[]> {
  const names = Object.keys(FILES) as (keyof Round)[];
  const runs = await Promise.all(names.map((name) => startBuying(FILES[name])));
  const buyAll = async (purchases: number): Promise<Round> => {
    const micros = await Promise.all(runs.map(({ buy }) => buy(purchases)));
    return Object.fromEntries(names.map((name, place) => [name, micros[place]])) as Round;
  };
  try {
    report('warm-up');
    await buyAll(sizes.warmUpPurchases);
    const rounds: Round[] = [];
    for (let round = 1; round <= sizes.rounds; round += 1) {
      report(`round ${round} of ${sizes.rounds}`);
      rounds.push(await buyAll(sizes.purchases));
    }
    return rounds;
  } finally {
    await Promise.all(runs.map(({ stop }) => stop()));
  }
}

/** A service and its buyers. */
async function startBuying(file: string) {
  const server = await startHoldfast([hotEvent], undefined, file);
  const buyers = startLoadGenerator<BuyersJob, BuyersResult>(new URL('../http/buyers.ts', import.meta.url));
  let firstNumber = 1;
  return {
    /** The processor time of a purchase. */
    async buy(purchases: number): Promise<number> {
      const run = await buyers.run(server, { url: server.url, buyers: BUYERS, purchases, firstNumber });
      const { requests, troubles, nextNumber } = run.load;
      if (troubles.length > 0 || requests === 0) throw new Error(`purchases failed: ${troubles.join('; ')}`);
      firstNumber = nextNumber;
      return cpuOf(run);
    },
    async stop(): Promise<void> {
      buyers.close();
      await server.stop();
      server.removeFolder();
    },
  };
}
