/** `holdfast erase`: erases the personal data of orders for good, through a running service or without one. */
import { decimalOf } from '#client/money.ts';
import {
  canAsk,
  confirm,
  CommandFailure,
  DATA_OPTION,
  WrongUse,
  type CliCall,
  type CliCommand,
} from '../terminal/command.ts';
import { openErasure, type ErasureAccess, type FoundOrders, type ListedOrder } from './erasure-access.ts';
import { counted, table } from '../terminal/output.ts';
import { emailOf } from './subject.ts';

const OPERATOR = 'command line';

export const command: CliCommand = {
  usage: 'erase ORDER… | --email ADDRESS [--yes] [--operator NAME]',
  description: [
    'Erases the personal data of orders: name, addresses, telephone and document number of the buyer, the people on the tickets, ' +
      'tracking texts and notes. The keys are destroyed, and a fact says which order was erased, when and by whom. From then on ' +
      'nobody can read it: not in the journal, not in archive, snapshots and exports, and not in backups, also older ones. Tickets, ' +
      'seats and money stay. It cannot be undone. A copy of keys.db that was made earlier can still open what it has: destroy old ones.',
    'With --email every order that was placed with the address is erased, over all events. Orders of others that only have a ticket ' +
      'in this name are listed and not erased: their data belongs to their buyers; erase them by their ids where that is wanted.',
    'Shows the orders and asks before it erases; where there is no terminal, --yes must be given. When a service runs on the folder ' +
      '(or, with NATS_URL, for a cluster), its admin API does it (ADMIN_HOST, ADMIN_PORT, the token); otherwise the command opens the ' +
      'folder itself. An order whose payment is awaited cannot be erased, nor one of an older version: see holdfast seal. Exit code 1 ' +
      'when an order was not erased.',
  ],
  options: [
    { name: 'email', value: 'ADDRESS', help: 'erase all orders that were placed with this address' },
    { name: 'yes', help: 'erase without asking' },
    { name: 'operator', value: 'NAME', help: `who has it erased; kept with the erasure (default: ${OPERATOR})` },
    DATA_OPTION,
  ],
  positionals: { min: 0, max: 1_000 },
  examples: [
    { line: 'holdfast erase --email ada@example.org', does: 'shows the orders of Ada, asks, and erases them' },
    { line: 'holdfast erase ord_1_WZPI0Y30Uc2qu_crLjVNy80I --yes', does: 'erases one order without asking' },
  ],
  async run(call) {
    const wanted = wantedOf(call);
    const isAsked = !call.has('yes');
    if (isAsked && (!canAsk(call.terminal) || call.output.isJson)) {
      throw new WrongUse('--yes is missing: there is nobody to ask here, and it cannot be undone');
    }
    const access = await openErasure(call);
    try {
      const found = await find(access, wanted);
      show(call, found);
      const due = found.orders.filter(({ erasedAt }) => erasedAt === null);
      const question = `Erase the personal data of ${counted(due.length, 'order')} for good? Type yes:`;
      if (due.length > 0 && isAsked && !(await confirm(question, call.terminal))) {
        call.output.text('Nothing was erased.');
        return 1;
      }
      return await eraseAll(call, access, found);
    } finally {
      await access.close();
    }
  },
};

type Wanted = { readonly email: string } | { readonly orderIds: readonly string[] };

function wantedOf(call: CliCall): Wanted {
  const orderIds = [...new Set(call.positionals)];
  if (!call.has('email')) {
    if (orderIds.length === 0) throw new WrongUse('an order or --email is missing: holdfast erase ORDER');
    return { orderIds };
  }
  if (orderIds.length > 0) throw new WrongUse('orders and --email exclude each other');
  return { email: emailOf(call) };
}

async function find(access: ErasureAccess, wanted: Wanted): Promise<FoundOrders> {
  if ('email' in wanted) return access.findByEmail(wanted.email);
  const orders: ListedOrder[] = [];
  for (const orderId of wanted.orderIds) {
    const order = await access.find(orderId);
    if (order === null) throw new CommandFailure(`there is no order ${orderId}`, 'Nothing was erased.');
    orders.push(order);
  }
  return { orders, attended: [], unreadEvents: [] };
}

function show({ output }: CliCall, { orders, attended, unreadEvents }: FoundOrders): void {
  const rows = orders.map(({ orderId, eventId, placedAt, status, totalCents, currency, erasedAt }) => [
    orderId,
    eventId,
    placedAt,
    status,
    `${decimalOf(totalCents, currency)} ${currency}`,
    erasedAt === null ? '' : `erased at ${erasedAt}`,
  ]);
  if (rows.length > 0) output.text(...table([['order', 'event', 'placed at', 'status', 'total', ''], ...rows]), '');
  if (attended.length > 0) {
    output.text(
      'Orders of others with a ticket in this name, which are not erased:',
      ...attended.map(({ orderId, eventId }) => `  ${orderId}  ${eventId}`),
      '',
    );
  }
  if (unreadEvents.length > 0) {
    output.trouble(`These events cannot be read, and their orders are not among them: ${unreadEvents.join(', ')}`);
  }
}

/** An order that had been erased is erased again: if its keys are still there, they are destroyed now. */
async function eraseAll(
  call: CliCall,
  access: ErasureAccess,
  { orders, attended, unreadEvents }: FoundOrders,
): Promise<0 | 1> {
  const { output } = call;
  const erased: ListedOrder[] = [];
  const erasedBefore: ListedOrder[] = [];
  const refused: { readonly orderId: string; readonly code: string; readonly message: string }[] = [];
  for (const [index, { orderId, erasedAt }] of orders.entries()) {
    output.progress('erasing', index, orders.length);
    const outcome = await access.erase(orderId, call.text('operator')?.trim() || OPERATOR);
    if ('code' in outcome) refused.push({ orderId, ...outcome });
    else (erasedAt === null ? erased : erasedBefore).push(outcome.order);
  }
  const ok = refused.length === 0 && unreadEvents.length === 0;
  output.json({ ok, erased, erasedBefore, refused, attended, unreadEvents });
  if (orders.length === 0) output.text('There is no order to erase.');
  else {
    const before = erasedBefore.length === 0 ? '' : `, ${erasedBefore.length} had been erased before`;
    output.text(`The personal data of ${counted(erased.length, 'order')} was erased${before}.`);
  }
  output.text(...refused.map(({ orderId, code, message }) => `${orderId} was not erased: ${code}: ${message}.`));
  return ok ? 0 : 1;
}
