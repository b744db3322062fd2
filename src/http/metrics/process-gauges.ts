/** What `/metrics` shows of the threads that answer requests and, at a gate, of the exchange with its service. */
import { Counter, Gauge, type Registry } from '@platformatic/prom-client';
import type { GateGauges, ThreadsGauges } from '../ports.ts';

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

export function addGateGauges(registers: Registry[], gate: GateGauges): void {
  new Gauge({
    name: 'holdfast_gate_scans_waiting',
    help: 'Scans at this gate that its service has not taken yet.',
    registers,
    collect() {
      this.set(gate.queued);
    },
  });
  new Gauge({
    name: 'holdfast_gate_upstream_up',
    help: '1 while the service takes scans and sends what changed, 0 while this gate goes on by itself.',
    registers,
    collect() {
      this.set(gate.trouble === null ? 1 : 0);
    },
  });
}
