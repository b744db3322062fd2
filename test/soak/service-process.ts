/**
 * The service of a soak in a process of its own: started as `holdfast serve` starts it, with a wall clock that the soak
 * can set, and with a report of its memory on request.
 */
import { dataBytes } from '#rehearsal/server/memory.ts';
import { readConfig } from '#service/config.ts';
import { startService } from '#service/service.ts';
import { pino } from 'pino';

/** Messages from the soak. */
export type SoakRequest = { readonly type: 'memory' } | { readonly type: 'leap'; readonly byMs: number };

/** Messages to the soak; `ready` is sent once, after the start. */
export type SoakReport =
  | { readonly type: 'ready' }
  | { readonly type: 'memory'; readonly usedBytes: number; readonly rssBytes: number }
  | { readonly type: 'defect'; readonly message: string };

let leapMs = 0;
const report = (message: SoakReport): void => void process.send!(message);

process.on('unhandledRejection', (error) =>
  report({ type: 'defect', message: `unhandled rejection: ${String(error)}` }),
);
process.on('uncaughtExceptionMonitor', (error) => report({ type: 'defect', message: error.stack ?? error.message }));

const reading = readConfig(process.env);
if ('problems' in reading) throw new Error(reading.problems.join('\n'));
const service = await startService(reading.config, {
  log: pino({ level: 'silent' }),
  engine: { clockSource: { wallMs: () => Date.now() + leapMs, stopwatchMs: () => performance.now() } },
});

process.on('message', (request: SoakRequest) => {
  if (request.type === 'leap') {
    leapMs = request.byMs;
    return;
  }
  report({ type: 'memory', usedBytes: dataBytes(), rssBytes: process.memoryUsage().rss });
});

let stopping = false;
process.on('SIGTERM', () => {
  if (stopping) return;
  stopping = true;
  void service.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      report({ type: 'defect', message: `stop: ${String(error)}` });
      process.exit(1);
    },
  );
});
report({ type: 'ready' });
