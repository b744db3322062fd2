import { createActor } from 'xstate';
import { serviceMachine, type ServiceStatus, type ServiceTrigger } from '#machines/service.ts';

/** The service's own status, run by XState: whether it recovers, serves, only reads, drains or has stopped. */
export interface ServiceStatusActor {
  readonly status: ServiceStatus;
  /** Takes a trigger; one without a transition from this status changes nothing. */
  send(trigger: ServiceTrigger): void;
}

export function startServiceStatus(): ServiceStatusActor {
  const actor = createActor(serviceMachine);
  actor.start();
  return {
    get status() {
      return actor.getSnapshot().value;
    },
    send(trigger) {
      actor.send({ type: trigger });
    },
  };
}

/** Why the service does not accept every request in this status; null when it does. */
export function troubleOf(status: ServiceStatus): string | null {
  switch (status) {
    case 'READY':
      return null;
    case 'STARTING':
      return 'recovering';
    case 'READ_ONLY':
      return 'the disk is full: the journal cannot be written';
    case 'DRAINING':
      return 'shutting down';
    case 'STOPPED':
      return 'stopped';
  }
}
