/** What `/metrics` shows of the threads that answer requests. */
import { Counter, Gauge, type Registry } from '@platformatic/prom-client';
import type { ThreadsGauges } from '../ports.ts';

/** Adds what is shown of the threads. */
export function addThreadGauges(registers: Registry[], threads: ThreadsGauges): void {
  new Gauge({
    name: 'holdfast_http_threads',
    help: 'Threads that answer requests now, beside the main one.',
    registers,
    collect() {
      this.set(threads.running);
    },
  });
  new Counter({
    name: 'holdfast_http_thread_restarts_total',
    help: 'Threads that answer requests and ended by themselves; each was started again. Anything but 0 is a defect.',
    registers,
    collect() {
      this.reset();
      this.inc(threads.restarts);
    },
  });
  new Gauge({
    name: 'holdfast_http_thread_lag_seconds',
    help: 'How late timers of the event loop of a thread fired: median, 99th percentile and maximum since the last reading.',
    labelNames: ['thread', 'what'],
    registers,
    collect() {
      this.reset();
      for (const { thread, p50Ms, p99Ms, maxMs } of threads.delays()) {
        this.set({ thread, what: 'p50' }, p50Ms / 1_000);
        this.set({ thread, what: 'p99' }, p99Ms / 1_000);
        this.set({ thread, what: 'max' }, maxMs / 1_000);
      }
    },
  });
}
