/**
 * Checkouts at 1.5 and at 10 times what a slow payment provider can carry, and those of another event meanwhile.
 *
 * The provider is a stand-in for Stripe that answers every call after 400 ms; the service calls it with Stripe's own
 * SDK. It can carry as many checkouts as the service may call it at once, each 400 ms. A checkout counts when it was
 * answered 201. Each run goes on until the last request is answered.
 */
import { LIMITS } from '#service/limits.ts';
import { auditFolder } from '../http/audit.ts';
import { startLoadGenerator, type LoadRun } from '../http/load-generator.ts';
import type { OpenLoopJob, OpenLoopResult } from '../http/open-loop.ts';
import { startHoldfast, type MeasuredServer } from '../http/server.ts';
import { requireAnswers, rateOf, shedShare } from '../http/alternating-runs.ts';
import { hotEvent } from '../events.ts';
import { mergeHistograms, percentileMillis } from '../histogram.ts';
import { figureOf, type Figure, type Scenario, type Settings } from '../scenario.ts';
import { serveHttp } from '../../test/fixtures/http-server.ts';

const CALL_MS = 400;
const PER_SECOND_MAX = LIMITS.providerCallsMax * (1_000 / CALL_MS);
const TIMES = [1.5, 10];
/** Of the rush more than wait for the provider at once. */
const CONNECTIONS = { rush: 1_024, calm: 64 };
const ROUNDS_MAX = 3;
/** Long beside the time in which the wait for the provider grows and goes. */
const RUN_SECONDS_MIN = 9;
const CALM_PER_SECOND = 5;
const calmEvent = { ...hotEvent, id: 'evt_calm', slug: 'calm', name: 'Few want to go' };

interface Step {
  readonly name: string;
  readonly rush: LoadRun<OpenLoopResult>[];
  readonly calm: LoadRun<OpenLoopResult>[];
}

export const providerPace: Scenario = {
  name: 'provider-pace',
  about: `checkouts at 1.5 and at 10 times what a payment provider can carry that takes ${CALL_MS} ms, and those of another event`,
  async run(settings) {
    const provider = await openProvider();
    const service = await startHoldfast([hotEvent, calmEvent], undefined, undefined, provider.environment);
    try {
      const { steps, alone, started } = await alternate(service, settings);
      await service.stop();
      return {
        figures: [
          ...steps.flatMap(figuresOf),
          figureOf('another event alone: latency p99', 'ms', alone.map(latency(99))),
          ...(await auditFolder(service.folder, started)),
        ],
        latencies: steps.map(({ name, rush }) => ({
          name,
          histogram: mergeHistograms(rush.map(({ load }) => load.histogram)),
        })),
      };
    } finally {
      await service.stop();
      await provider.close();
      service.removeFolder();
    }
  },
};

/** Runs the other event alone, then beside each rate; `started` is the number of checkouts that were answered 201. */
async function alternate(service: MeasuredServer, settings: Settings) {
  const openGenerator = () => startLoadGenerator<OpenLoopJob, OpenLoopResult>(openLoop);
  const openLoop = new URL('../http/open-loop.ts', import.meta.url);
  const generators = { rush: openGenerator(), calm: openGenerator() };
  const seconds = Math.max(RUN_SECONDS_MIN, settings.seconds);
  const rounds = Math.min(ROUNDS_MAX, settings.rounds);
  const steps = TIMES.map((times): Step => ({ name: `at ${times} times`, rush: [], calm: [] }));
  const alone: LoadRun<OpenLoopResult>[] = [];
  let firstNumber = 1;
  let started = 0;
  const ask = async (name: keyof typeof generators, perSecond: number, length = seconds) => {
    const traffic = { recipe: 'start', eventId: name === 'rush' ? hotEvent.id : calmEvent.id } as const;
    const job = { url: service.url, traffic, status: 201, connections: CONNECTIONS[name], seconds: length, perSecond };
    const run = await generators[name].run(service, { ...job, firstNumber });
    requireAnswers(name, run.load, true);
    firstNumber = Math.max(firstNumber, run.load.nextNumber);
    started += run.load.requests;
    return run;
  };
  try {
    settings.report('warm-up');
    await ask('rush', PER_SECOND_MAX / 2, settings.warmUpSeconds);
    for (let round = 1; round <= rounds; round += 1) {
      settings.report(`another event alone: round ${round} of ${rounds}`);
      alone.push(await ask('calm', CALM_PER_SECOND));
      for (const [i, step] of steps.entries()) {
        settings.report(`${step.name}: round ${round} of ${rounds}`);
        const [rush, calm] = await Promise.all([ask('rush', TIMES[i]! * PER_SECOND_MAX), ask('calm', CALM_PER_SECOND)]);
        step.rush.push(rush);
        step.calm.push(calm);
      }
    }
    return { steps, alone, started };
  } finally {
    generators.rush.close();
    generators.calm.close();
  }
}

function figuresOf({ name, rush, calm }: Step): Figure[] {
  const carried = rush.map(shareCarried);
  return [
    figureOf(`${name}: checkouts ÷ what the provider can carry`, '×', carried, { atLeast: 0.9 }),
    figureOf(`${name}: checkouts`, 'per s', rush.map(rateOf)),
    figureOf(`${name}: refused (503)`, '%', rush.map(shedShare)),
    figureOf(`${name}: latency p50`, 'ms', rush.map(latency(50))),
    figureOf(`${name}: latency p99`, 'ms', rush.map(latency(99))),
    figureOf(`${name}: another event, refused`, '%', calm.map(shedShare), { atMost: 0 }),
    figureOf(`${name}: another event, latency p99`, 'ms', calm.map(latency(99))),
    figureOf(
      `${name}: event-loop delay p99`,
      'ms',
      rush.map(({ meter }) => meter.loopDelayP99Ms),
    ),
  ];
}

/** From when the provider can answer for the first time. */
function shareCarried({ load: { requests, perSecond } }: LoadRun<OpenLoopResult>): number {
  const seconds = requests / perSecond - CALL_MS / 1_000;
  return requests / seconds / PER_SECOND_MAX;
}

function latency(percentile: number) {
  return ({ load }: LoadRun<OpenLoopResult>): number => percentileMillis(load.histogram, percentile);
}

/** The stand-in for Stripe, and the settings with which a service calls it. */
async function openProvider() {
  let sessions = 0;
  const server = await serveHttp((request, response) => {
    request.resume();
    const id = `cs_bench_${(sessions += 1)}`;
    const body = JSON.stringify({ id, object: 'checkout.session', url: `https://pay.example/${id}` });
    setTimeout(() => response.setHeader('content-type', 'application/json').end(body), CALL_MS);
  });
  const environment = {
    STRIPE_SECRET_KEY: 'sk_test_of_the_bench',
    STRIPE_WEBHOOK_SECRET: 'whsec_of_the_bench',
    STRIPE_API_BASE: server.url,
  };
  return { environment, close: server.close };
}
