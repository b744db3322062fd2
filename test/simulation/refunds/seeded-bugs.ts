/** Seeded bugs of refunds, which run in simulated refunds (`../seeded-bugs.ts`). */
import { bug, type SeededBug } from '../seeded-bugs.ts';

const REFUNDS = ['--refunds', '--seeds', '1..800', '--steps', '60'];

const BUGS: readonly SeededBug[] = [
  bug(
    'money: a refund whose answer was lost is asked for under a new key',
    'src/domain/orders/refund-tries.ts',
    'const keyTry = answer.isAnswered && { keyTry: tries };',
    'const keyTry = { keyTry: tries };',
    'test/domain/orders/refunds.test.ts',
  ),
  bug(
    'money: a late report of a refund that failed counts as given back',
    'src/domain/orders/refunds.ts',
    "status !== 'FAILED' || named !== undefined;",
    "status !== 'FAILED';",
    'test/domain/orders/refunds.test.ts',
  ),
  bug(
    'money: an execution of all that is due is forgotten with a snapshot',
    'src/domain/event/snapshot.ts',
    '    ...(state.orders.executing.length > 0 && { executing: state.orders.executing }),\n',
    '',
    'test/domain/orders/refunds.test.ts',
  ),
  bug(
    'money: what was given back of one installment is taken for what was of another',
    'src/domain/orders/refunds.ts',
    'session !== null && checkoutSessionId !== null && session !== checkoutSessionId;',
    'session !== null && checkoutSessionId !== null && session === null;',
    'test/domain/orders/refunds.test.ts',
  ),
  bug(
    'money: an older report counts what has failed',
    'src/domain/orders/refunds.ts',
    "if (command.status === 'FAILED') return factsOfFailure(order, command, twin, turn);",
    "if (command.status === 'FAILED') return [];",
    'test/domain/orders/refunds.test.ts',
  ),
  bug(
    'money: of which payment an operator gave back is not learnt from the provider',
    'src/domain/orders/refund-tries.ts',
    'known?.status !== undefined || (known && sessionOf(order, known.paymentId) === checkoutSessionId);',
    'known !== undefined;',
    'test/domain/orders/refunds.test.ts',
  ),
  bug(
    'money: what is due since an execution began is not executed',
    'src/domain/orders/refund-requests.ts',
    '.slice(1)\n    .some(',
    '.some(',
    'test/domain/orders/refunds.test.ts',
  ),
  bug(
    "money: what was given back at the provider's page is given back again",
    'src/domain/orders/refund-tries.ts',
    'takenOff += unknown;',
    '',
    'test/domain/orders/refunds.test.ts',
  ),
  bug(
    'money: refunds of an event that is activated are forgotten',
    'src/payments/refund-outbox.ts',
    'if (alive && this.#events',
    'if (!alive && this.#events',
  ),
  bug(
    'money: an operator that has a refund tried again gets it under the key that was refused',
    'src/domain/orders/refund-tries.ts',
    "'NEEDS_OPERATOR', { failure: answer.failure, tries, keyTry: tries });",
    "'NEEDS_OPERATOR', { failure: answer.failure, tries });",
    'test/domain/orders/refunds.test.ts',
  ),
  bug(
    'money: a refund that was resolved without a reference and the report of it count twice',
    'src/domain/orders/refunds.ts',
    "isReport && refund.status === 'SUCCEEDED';",
    'false;',
    'test/domain/orders/refunds.test.ts',
  ),
];

export const REFUND_BUGS: readonly SeededBug[] = BUGS.map((each) => ({ ...each, simulation: REFUNDS }));
