/**
 * The objects of a simulated cluster (checkpoints and the archive), and snapshots of ledgers.
 *
 * 1. An object is written as a whole or not at all. A writer that gets no answer does not know which.
 * 2. A damaged object fails its digest. At most the newest of two good checkpoints of a shard is damaged.
 */
import { ObjectsUnreachable, type Objects } from '#persistence/objects.ts';
import type { LedgerSnapshot } from './ledger.ts';
import { wayMs, type Network } from './network.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

const TIME_LIMIT_MS = 2_000;

export class SimulatedStore {
  readonly #scheduler: Scheduler;
  readonly #network: () => Network;
  readonly #objects = new Map<string, Uint8Array>();
  readonly #damaged = new Set<string>();
  readonly #snapshots = new Map<string, LedgerSnapshot>();

  constructor(scheduler: Scheduler, network: () => Network) {
    this.#scheduler = scheduler;
    this.#network = network;
  }

  /** The objects of one bucket as a process reaches them. */
  connect(process: SimulatedProcess, bucket: string): Objects {
    const at = (name: string): string => `${bucket}:${name}`;
    return {
      put: (name, bytes) => {
        const kept = bytes.slice();
        return this.#request(process, () => void this.#objects.set(at(name), kept));
      },
      get: (name) => this.#request(process, () => this.#objects.get(at(name))?.slice() ?? null),
      list: (prefix) =>
        this.#request(process, () =>
          [...this.#objects.keys()]
            .filter((name) => name.startsWith(at(prefix)))
            .map((name) => name.slice(bucket.length + 1))
            .sort(),
        ),
      delete: (name) => this.#request(process, () => void this.#objects.delete(at(name))),
    };
  }

  saveSnapshot(process: SimulatedProcess, eventId: string, snapshot: LedgerSnapshot): Promise<void> {
    return this.#request(process, () => void this.#snapshots.set(`${eventId} ${snapshot.seq}`, snapshot));
  }

  snapshotAt(eventId: string, seq: number): LedgerSnapshot {
    const snapshot = this.#snapshots.get(`${eventId} ${seq}`);
    if (snapshot === undefined) throw new Error(`the snapshot of ${eventId} as of fact ${seq} must be stored`);
    return snapshot;
  }

  /** Flips a bit of the last object of a bucket that begins so, if there are two good ones. */
  damageNewest(bucket: string, prefix: string): boolean {
    const names = [...this.#objects.keys()].filter((name) => name.startsWith(`${bucket}:${prefix}`)).sort();
    if (names.length < 2 || names.some((name) => this.#damaged.has(name))) return false;
    this.#damaged.add(names.at(-1)!);
    const bytes = this.#objects.get(names.at(-1)!)!;
    bytes[this.#scheduler.chance.between(0, bytes.length - 1)]! ^= 1;
    return true;
  }

  #request<Answer>(process: SimulatedProcess, answer: () => Answer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { chance } = this.#scheduler;
      const network = this.#network();
      let isSettled = false;
      process.after(TIME_LIMIT_MS, () => {
        if (!isSettled) reject(new ObjectsUnreachable('a time limit'));
      });
      if (process.isCutOff || chance.percent(network.requestLost)) return;
      this.#scheduler.after(wayMs(chance, network), () => {
        if (process.isCutOff) return;
        const given = answer();
        if (chance.percent(network.answerLost)) return;
        process.receive(wayMs(chance, network), () => {
          if (given instanceof Uint8Array) this.#scheduler.letYield();
          isSettled = true;
          resolve(given);
        });
      });
    });
  }
}
