/**
 * A hall's own machine: the ordinary engine with one event, which is never for sale, and a link to the service that has
 * it. Its stations are checked here, also while there is no network.
 *
 * 1. The folder has the digests of tokens and tickets, public keys, and the codes of tickets that were scanned; no
 *    private key, no token and nothing about people.
 * 2. Before its first whole feed nobody is checked: 503. Later it starts and works without its service.
 * 3. It uses the clock of its service, as last heard; the difference to the machine's own clock is kept in the folder.
 */
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { machineSource, type TimeSource } from '#actors/clock.ts';
import { readAt } from '#actors/event-port.ts';
import { sha256Hex } from '#client/doors/digest.ts';
import { doorsOf } from '#domain/catalogue/definition.ts';
import { eventNumberOf } from '#domain/ids.ts';
import type { DeploymentState } from '#engine/deployment.ts';
import { startEngine, type Engine, type EngineOptions } from '#engine/engine.ts';
import { doorOf } from '#http/pages/bundle.ts';
import { createMetrics } from '#http/metrics/metrics.ts';
import { buildGateApp, type TlsFiles } from '#http/server/apps.ts';
import { readIfPresent, replaceFile } from '#persistence/files.ts';
import { addressOf, listeningHost, type Config } from '#service/config.ts';
import { logTroubles } from '#service/log.ts';
import { GateCodes } from './codes.ts';
import { UpstreamLink, type KnownFeed } from './link.ts';
import { UpstreamRefused, type Upstream } from './upstream.ts';

export interface GateOptions {
  readonly config: Config;
  readonly token: string;
  readonly upstream: Upstream;
  readonly tls: TlsFiles | null;
  readonly log: Logger;
  readonly onFatal: EngineOptions['onFatal'];
  /** The token will never be good here; the process must end with exit code 2. */
  readonly onUnusable: (reason: string) => void;
  /** The machine's clock; for tests. */
  readonly machine?: TimeSource;
}

export interface Gate {
  readonly url: string;
  readonly engine: Engine;
  readonly link: UpstreamLink;
  stop(): Promise<void>;
}

/** The token or the folder cannot be used; the message is one line that helps. */
export class GateUnusable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'GateUnusable';
  }
}

/** How far the service's clock is ahead of the machine's, in milliseconds. */
const CLOCK_FILE = 'upstream-clock';
/** A difference by less is not written again. */
const CLOCK_MS_MIN = 1_000;

const STARTS_WITHOUT = 'a gate needs its service once, for the first whole feed';

/** Answers stations; the link is started by the caller. Rejects with GateUnusable, and as `startEngine` does. */
export async function startGate(options: GateOptions): Promise<Gate> {
  const { config, token, log, machine = machineSource } = options;
  logTroubles(log);
  const asked = await firstAnswer(options);
  const offset = { ms: asked.aheadMs ?? keptOffset(config.dataDir) };
  const engine = await startEngine({
    folder: config.dataDir,
    liveEventsMax: 2,
    freeBytesMin: config.freeBytesMin,
    waitingRepliesMax: config.limits.waitingRepliesMax,
    clockSource: { ...machine, wallMs: () => machine.wallMs() + offset.ms },
    pruning: { everyMs: config.pruneEveryHours * 3_600_000, onPruned: () => log.info('the journal was pruned') },
    onFatal: options.onFatal,
  });
  try {
    const known = await readKnown(engine, token, asked.refused);
    return await open(options, engine, known, (aheadMs) => keepOffset(config.dataDir, offset, aheadMs));
  } catch (error) {
    await engine.stop();
    throw error;
  }
}

interface Asked {
  /** Null where the service was away. */
  readonly aheadMs: number | null;
  /** Why the service refused. */
  readonly refused: UpstreamRefused | null;
}

/** What the service says before anything is opened: whether the token is a gate's, and what time it is. */
async function firstAnswer({ upstream, machine = machineSource }: GateOptions): Promise<Asked> {
  try {
    const { head, now } = await upstream.sync({ after: null, limit: 1, queued: 0 });
    const aheadMs = Date.parse(now) - machine.wallMs();
    if (head !== null && head.station.kind !== 'GATE') {
      throw new GateUnusable(
        `the token is of station "${head.station.name}": make one with "kind": "GATE" for this gate`,
      );
    }
    return { aheadMs, refused: null };
  } catch (error) {
    if (error instanceof GateUnusable) throw error;
    return { aheadMs: null, refused: error instanceof UpstreamRefused ? error : null };
  }
}

/** What the folder knows of the event; null where it is new. */
async function readKnown(engine: Engine, token: string, refused: UpstreamRefused | null) {
  const { events } = engine.state();
  const found = await readAt(engine.events.byId('gtk', token), null, { type: 'ReadFeed' });
  const isOther = events > 0 && (found === null || events > 1 || found.isForSale);
  if (isOther)
    throw new GateUnusable(`${engine.folder} is the data folder of something else: name another with --data`);
  const feed = found?.feed ?? null;
  const own = feed?.tokens.find(({ tokenSha256 }) => tokenSha256 === sha256Hex(token));
  if (own?.kind === 'STATION') throw new GateUnusable('the token is no gate\'s: make a station with "kind": "GATE"');
  const isKnown = own !== undefined && feed?.isWhole === true;
  if (refused !== null && !isKnown)
    throw new GateUnusable(`the service refuses the token (${refused.code}): ${STARTS_WITHOUT}`);
  return feed;
}

type Feed = Awaited<ReturnType<typeof readKnown>>;

async function open(options: GateOptions, engine: Engine, feed: Feed, noteAhead: (ms: number) => void): Promise<Gate> {
  const { config, token, upstream, tls, log, machine = machineSource } = options;
  const codes = new GateCodes(token);
  codes.keys = feed?.keys ?? [];
  let link!: UpstreamLink;
  await engine.followFacts('notifications', async (source) => {
    link = new UpstreamLink({
      ...{ upstream, source, events: engine.events, known: feed && knownOf(feed) },
      eventNumber: eventNumberOf('gtk', token)!,
      now: () => engine.clock.now(),
      isSettled: () => engine.journal.appendedSeq === engine.journal.durableSeq,
      onPage(head, serviceNow) {
        if (head !== null) codes.keys = head.keys;
        noteAhead(serviceNow - machine.wallMs());
      },
      onUnusable: options.onUnusable,
    });
    return link;
  });
  const deployment = {
    state: () => shownState(engine.state(), link),
    get isStopping() {
      return engine.isStopping;
    },
  };
  const { clock, events } = engine;
  const metrics = createMetrics({
    ...{ deployment, clock, active: () => engine.active(), notInMemory: () => engine.notInMemory() },
    refundTries: () => ({}),
    gate: link,
  });
  const door = doorOf(new URL('../web/door/', import.meta.url), '/door');
  const served = { settings: config, events, clock, deployment, log, metrics, tls, door };
  const app = await buildGateApp({ ...served, tickets: codes, isWhole: () => link.isWhole });
  await app.listen({ host: listeningHost(config.host), port: config.port });
  const { port } = app.server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    await app.close();
    metrics.close();
    await engine.stop();
  };
  let stopped: Promise<void> | null = null;
  const url = addressOf(config.host, port);
  return { url: tls === null ? url : url.replace('http:', 'https:'), engine, link, stop: () => (stopped ??= stop()) };
}

function knownOf({ definition, cursor, isWhole }: NonNullable<Feed>): KnownFeed {
  return { eventId: definition.id, cursor, isWhole, doors: doorsOf(definition) };
}

function shownState(state: DeploymentState, { isWhole, trouble }: UpstreamLink): DeploymentState {
  const degraded = trouble === null ? state.degraded : [...state.degraded, 'upstream'];
  const waiting = isWhole ? null : 'waiting for the first whole feed of the service';
  return { ...state, degraded, trouble: state.trouble ?? waiting };
}

// ── the clock ────────────────────────────────────────────────────────────────────────────────────────────────────────

function keptOffset(folder: string): number {
  return Number(readIfPresent(join(folder, CLOCK_FILE))) || 0;
}

/** Follows the service's clock; a leap by more than a minute is taken over by the next start, as any machine's is. */
function keepOffset(folder: string, offset: { ms: number }, aheadMs: number): void {
  if (Math.abs(aheadMs - offset.ms) < CLOCK_MS_MIN) return;
  offset.ms = aheadMs;
  replaceFile(join(folder, CLOCK_FILE), String(aheadMs));
}
