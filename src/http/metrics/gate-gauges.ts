/** What `/metrics` of a gate shows of its service. */
import { Gauge, type Registry } from '@platformatic/prom-client';
import type { GateGauges } from '../ports.ts';

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
