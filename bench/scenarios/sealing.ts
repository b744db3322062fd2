/**
 * What sealing personal data costs a whole purchase, in processor time of all threads of the service.
 *
 * Runs against a service, and against one that leaves personal data open, alternate. The first run of each warms up and does not count. The
 * difference is small, and a shared machine changes its pace within seconds: runs are short and many.
 */
import type { BuyersJob, BuyersResult } from '../http/buyers.ts';
import { cpuOf, startLoadGenerator, type LoadRun } from '../http/load-generator.ts';
import { startHoldfast, type MeasuredServer } from '../http/server.ts';
import { hotEvent } from '../events.ts';
import { figureOf, type Scenario, type Settings } from '../scenario.ts';

const BUYERS = 64;

/** Rounds in place of one, each so much shorter. */
const ROUNDS_FOR_ONE = 6;

interface Round {
  readonly sealed: LoadRun<BuyersResult>;
  readonly open: LoadRun<BuyersResult>;
}

export const sealing: Scenario = {
  name: 'sealing',
  about: 'whole purchases with personal data sealed, beside a service that leaves them open',
  async run(settings) {
    const sealed = await startHoldfast([hotEvent]);
    const open = await startHoldfast([hotEvent], undefined, 'bench/http/unsealed.ts');
    try {
      const rounds = await alternate(sealed, open, settings);
      const ratios = rounds.map((round) => cpuOf(round.sealed) / cpuOf(round.open));
      const micros = (name: keyof Round) => rounds.map((round) => cpuOf(round[name]));
      return {
        figures: [
          figureOf('processor time: a purchase with sealing ÷ without', '×', ratios, { atMost: 1.05 }),
          figureOf('the same, of the cheapest round of each', '×', [
            Math.min(...micros('sealed')) / Math.min(...micros('open')),
          ]),
          figureOf('processor time of a purchase with sealing', 'µs', micros('sealed')),
          figureOf('processor time of a purchase without sealing', 'µs', micros('open')),
        ],
        latencies: [],
      };
    } finally {
      await Promise.all([sealed.stop(), open.stop()]);
      sealed.removeFolder();
      open.removeFolder();
    }
  },
};

async function alternate(sealed: MeasuredServer, open: MeasuredServer, settings: Settings): Promise<readonly Round[]> {
  const { warmUpSeconds, report } = settings;
  const roundsMax = settings.rounds * ROUNDS_FOR_ONE;
  const seconds = (2 * settings.seconds) / ROUNDS_FOR_ONE;
  const buyers = startLoadGenerator<BuyersJob, BuyersResult>(new URL('../http/buyers.ts', import.meta.url));
  const rounds: Round[] = [];
  let firstNumber = 1;
  const buy = async (server: MeasuredServer, runSeconds: number): Promise<LoadRun<BuyersResult>> => {
    const run = await buyers.run(server, { url: server.url, buyers: BUYERS, seconds: runSeconds, firstNumber });
    const { requests, troubles, nextNumber } = run.load;
    if (troubles.length > 0 || requests === 0) throw new Error(`purchases failed: ${troubles.join('; ')}`);
    firstNumber = nextNumber;
    return run;
  };
  try {
    for (let round = 0; round <= roundsMax; round += 1) {
      report(round === 0 ? 'warm-up' : `round ${round} of ${roundsMax}`);
      const turnSeconds = round === 0 ? warmUpSeconds : seconds;
      // Which one is first alternates as well, because the machine may grow slower within a round.
      const isSealedFirst = round % 2 === 0;
      const first = await buy(isSealedFirst ? sealed : open, turnSeconds);
      const second = await buy(isSealedFirst ? open : sealed, turnSeconds);
      const both = isSealedFirst ? { sealed: first, open: second } : { sealed: second, open: first };
      if (round > 0) rounds.push(both);
    }
    return rounds;
  } finally {
    buyers.close();
  }
}
