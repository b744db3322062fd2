/** Health and gauges of the engine in the form that the HTTP layer reads. */
import type { Engine } from '#actors/engine.ts';
import type { GaugesPort, HealthPort } from '#http/ports.ts';

export function healthOf(engine: Engine): HealthPort {
  return {
    readiness() {
      const reason = engine.trouble;
      return reason === null ? { ready: true, degraded: engine.degraded } : { ready: false, reason };
    },
    get draining() {
      return engine.status === 'DRAINING' || engine.status === 'STOPPED';
    },
  };
}

/** `notifiedSeq` is null where no receiver is notified. */
export function gaugesOf(engine: Engine, health: HealthPort, notifiedSeq: GaugesPort['notifiedSeq']): GaugesPort {
  const { events, journal, space, clock, snapshots } = engine;
  return {
    journal,
    notifiedSeq,
    get ready() {
      return health.readiness().ready;
    },
    get events() {
      return events.size;
    },
    get brokenEvents() {
      return events.actors.broken.count;
    },
    get clockLeaps() {
      return clock.leaps;
    },
    get freeBytes() {
      return space.freeBytes;
    },
    snapshotAgeSeconds: () => (clock.now() - (snapshots.lastSnapshotAt ?? clock.now())) / 1_000,
    active: () => events.actors.active(),
  };
}
