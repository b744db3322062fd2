/** What the main thread and those that answer requests give each other: at the start, as messages, in shared memory. */
import type { TroubleMessage } from '#actors/trouble.ts';
import type { DeploymentState } from '#engine/deployment.ts';
import type { CountsNews, RequestUse } from '#http/ports.ts';
import type { Rings } from '#threads/sides.ts';
import type { Config } from './config.ts';

/** What is counted in shared memory, and where in the line of a thread; at the end of the line are its connections. */
export const USE_CELLS = {
  live_streams: 0,
  changes_under_way: 1,
  claims_at_work: 2,
  claims_in_line: 3,
  body_bytes: 4,
} as const satisfies Record<RequestUse, number>;

export const CONNECTIONS_CELL = 15;

/** What all threads share. */
export interface SharedMemory {
  readonly engineBell: SharedArrayBuffer;
  readonly flags: SharedArrayBuffer;
  readonly clock: SharedArrayBuffer;
  readonly use: SharedArrayBuffer;
  readonly windows: SharedArrayBuffer;
  /** By thread. */
  readonly streams: readonly SharedArrayBuffer[];
  readonly lags: SharedArrayBuffer;
  /** The secret of the hashes of addresses. */
  readonly secret: string;
}

/** What one thread is started with. */
export interface ThreadData {
  readonly config: Config;
  readonly demo: boolean;
  /** The threads there are, and the number of this one from 0. */
  readonly threads: number;
  readonly line: number;
  readonly memory: SharedMemory;
  readonly rings: Rings;
  /** The state at the start; what has changed since is requested. */
  readonly state: DeploymentState;
  /** Milliseconds that a test moves, in place of the machine's stopwatch. */
  readonly stopwatch: SharedArrayBuffer | null;
}

export type ToThread =
  | { readonly kind: 'frame'; readonly number: number; readonly text: string }
  | { readonly kind: 'admin'; readonly port: number }
  | { readonly kind: 'listen'; readonly port: number }
  | { readonly kind: 'close' };

export type FromThread =
  | { readonly kind: 'frame'; readonly number: number; readonly text: string }
  | { readonly kind: 'built' | 'closed' }
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly message: string; readonly about: object }
  | { readonly kind: 'news'; readonly news: CountsNews }
  | { readonly kind: 'log'; readonly level: 'error' | 'debug'; readonly details: object; readonly message: string }
  | ({ readonly kind: 'trouble' } & TroubleMessage);
