/**
 * The service itself, from its start to its end.
 *
 * XState runs it in `src/engine`; the health routes and the exit code follow it.
 */
import { setup } from 'xstate';
import { compile, type StatusOf } from './compile.ts';

export type ServiceTrigger = 'RECOVERED' | 'DISK_FULL' | 'WRITABLE' | 'DRAIN' | 'STOP' | 'FAIL';

export const serviceMachine = setup({ types: { events: {} as { type: ServiceTrigger } } }).createMachine({
  id: 'service',
  description: 'One process on one data folder. GET /health/ready answers 200 in READY only.',
  initial: { target: 'STARTING', description: 'The process starts.' },
  states: {
    STARTING: {
      description: 'Takes the lock, checks the journal and lists its events.',
      on: {
        RECOVERED: { target: 'READY', description: 'The journal reaches as far as it must and can be served.' },
        DRAIN: { target: 'DRAINING', description: 'SIGTERM or SIGINT.' },
        FAIL: {
          target: 'STOPPED',
          description: 'A bad setting, a data folder in use, a damaged journal, an I/O error.',
          meta: { also: 'The exit code says which.' },
        },
      },
    },
    READY: {
      description: 'Serves reads and changes.',
      on: {
        DISK_FULL: {
          target: 'READ_ONLY',
          description: 'The journal cannot grow.',
          meta: { also: 'Changes that are not on disk are forgotten; further ones are answered 503.' },
        },
        DRAIN: {
          target: 'DRAINING',
          description: 'SIGTERM or SIGINT.',
          meta: { also: 'No new connections.' },
        },
        FAIL: {
          target: 'STOPPED',
          description: 'An I/O error or a defect.',
          meta: { also: 'The exit code says which.' },
        },
      },
    },
    READ_ONLY: {
      description: 'Serves reads from what is on disk and probes the disk.',
      on: {
        WRITABLE: {
          target: 'READY',
          description: 'Writing works again.',
          meta: { also: 'The journal is reopened and its head read again.' },
        },
        DRAIN: { target: 'DRAINING', description: 'SIGTERM or SIGINT.', meta: { also: 'No new connections.' } },
        FAIL: {
          target: 'STOPPED',
          description: 'An I/O error or a defect.',
          meta: { also: 'The exit code says which.' },
        },
      },
    },
    DRAINING: {
      description: 'Finishes what was accepted, makes it durable, takes snapshots.',
      on: {
        STOP: { target: 'STOPPED', description: 'All is done and closed.', meta: { also: 'Exit code 0.' } },
        FAIL: { target: 'STOPPED', description: 'An I/O error or a defect, or the time to drain is over.' },
      },
    },
    STOPPED: { description: 'The process ends.', type: 'final' },
  },
});

export type ServiceStatus = StatusOf<typeof serviceMachine>;
export const serviceTransitions = compile(serviceMachine);
