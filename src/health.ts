/** Health and gauges of the engine, or of the node, in the form that the HTTP layer reads. */
import type { EnginePort } from '#actors/engine-port.ts';
import type { GaugesPort, HealthPort } from '#http/ports.ts';

export function healthOf(engine: EnginePort): HealthPort {
  return {
    ...(engine.node !== null && { node: engine.node }),
    readiness() {
      const reason = engine.trouble;
      return reason === null ? { ready: true, degraded: engine.degraded } : { ready: false, reason };
    },
    get draining() {
      return engine.isStopping;
    },
  };
}

export function gaugesOf(engine: EnginePort, health: HealthPort): GaugesPort {
  const { figures, clock } = engine;
  return {
    journal: figures.journal,
    notifiedSeq: figures.notifiedSeq,
    get ready() {
      return health.readiness().ready;
    },
    get events() {
      return figures.events;
    },
    get brokenEvents() {
      return figures.brokenEvents;
    },
    get clockLeaps() {
      return clock.leaps;
    },
    get freeBytes() {
      return figures.freeBytes;
    },
    snapshotAgeSeconds: () => figures.snapshotAgeSeconds(),
    active: () => engine.active(),
  };
}
