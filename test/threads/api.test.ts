/**
 * The tests of `test/api` once more, with two threads that answer buyers beside the engine's: what buyers and operators
 * are promised does not depend on it.
 */
import { deep } from '../depth.ts';
import { importApiTests } from '../groups.ts';

/** Files that are about something else, and why; single tests say so with `ofOneThread`. */
const ofOneThread = {
  'walkthrough.test.ts': 'the README starts one thread',
};

/** Files about what the main thread does alone, and where threads are tested for it; run from TEST_DEPTH=2 on. */
const ofMainThread = {
  'attendees.test.ts': 'the operators’ listener',
  'cancelled-dates.test.ts': 'the operators’ listener; order-changes.test.ts has buyers see what was changed',
  'counter.test.ts': 'the operators’ listener',
  'crash.test.ts': 'the journal; linearizability/history.test.ts kills a process with threads',
  'definitions.test.ts': 'the operators’ listener; service/http-threads.test.ts renames an event for all threads',
  'erasure.test.ts': 'keys, which the main thread has; checkout.test.ts reads through threads what they seal',
  'hand-scans.test.ts': 'the operators’ listener; doors.test.ts scans through threads',
  'killed.test.ts': 'the journal; linearizability/history.test.ts kills a process with threads',
  'large-orders.test.ts':
    'pages of operators; service/http-threads.test.ts has answers that are longer than a ring takes',
  'notifications.test.ts': 'messages sent from the journal',
  'operators-secrets.test.ts': 'the operators’ listener',
  'operators-views.test.ts': 'the operators’ listener',
  'refunds.test.ts': 'the operators’ listener and providers; amendments.test.ts has buyers ask for changes',
  'sale.test.ts': 'the operators’ listener; service/http-threads.test.ts counts the requests of all threads',
  'serving.test.ts': 'settings, secrets and exit codes; service/http-threads.test.ts shares a port',
  'subject.test.ts': 'the operators’ listener',
  'tickets.test.ts': 'the operators’ listener; checkout.test.ts reads the tickets of an order through threads',
};

process.env['TEST_THREADS'] = 'on';
await importApiTests(deep(1) > 1 ? ofOneThread : { ...ofOneThread, ...ofMainThread });
