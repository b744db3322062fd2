/**
 * Mails about orders: which facts cause one, to whom, and what it is made from.
 *
 * 1. A mail is made when it is sent, from the order as it is then: an order that was cancelled meanwhile, or whose
 *    personal data was erased, has none.
 * 2. It goes to the buyer alone, at the address that the order was placed with; nothing that changes an order changes
 *    it. An address that could be read as two, or as a command, gets none.
 * 3. Its Message-ID names the fact, so that a mailbox recognizes a repeat.
 * 4. After five days, as RFC 5321 (4.5.4.1) has it, a mail is given up: it would confuse more than help. So is a mail
 *    whose address the server first refused a day ago, because the mail holds back the pruning of the journal. The day
 *    begins anew after a start, and the time in which the mail waited for others does not count.
 */
import { readAt } from '#actors/event-port.ts';
import { isWorthReporting, reportTrouble } from '#actors/trouble.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { FactData } from '#domain/fact.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView } from '#domain/view.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { PersonalDataReader } from '#privacy/personal-data.ts';
import { notificationQueueOf } from './messages.ts';
import type { Delivery } from './outbox.ts';
import { MailPutOff, type Mail, type MailContent, type Mailer } from './smtp.ts';

/** What a mail about an order is written from; `language` is the buyer's, where it is known. */
export interface MailedOrder {
  readonly order: OrderView;
  readonly definition: EventDefinition;
  readonly language: string | null;
}

const DAY_MS = 86_400_000;
const GIVEN_UP_AFTER_MS = 5 * DAY_MS;
const REFUSED_AFTER_MS = DAY_MS;

/** Addresses that need no quotes in SMTP and in headers (rule 2). */
const PLAIN_ADDRESS = /^[^\s\p{Cc}@<>()[\]\\,;:"]{1,64}@[^\s\p{Cc}@<>()[\]\\,;:"]{1,253}$/u;

interface WrittenMail {
  readonly row: FactRow;
  readonly mail: Mail;
}

/** Mails as an outbox delivers them: those of one order one after the other. */
export function mailDelivery(ports: {
  readonly personalData: Pick<PersonalDataReader, 'open'>;
  readonly mailer: Pick<Mailer, 'send' | 'count'>;
  now(): number;
  write(order: MailedOrder): MailContent;
}): Delivery<WrittenMail> {
  const { mailer, personalData } = ports;
  let dropped = 0;
  /** Since when the addresses of mails are refused, by their ids: a seq alone is that of a fact in each shard. */
  const refusedSince = new Map<string, number>();
  const drop = (id: string, row: FactRow, why: string): readonly [] => {
    mailer.count('dropped');
    dropped += 1;
    if (isWorthReporting(dropped)) reportTrouble('mail', `${row.eventId}: a mail is not sent, fact ${row.seq}: ${why}`);
    return none(id);
  };
  const none = (id: string): readonly [] => {
    refusedSince.delete(id);
    return [];
  };
  return {
    where: 'mail',
    what: 'mail',
    queueOf: mailQueueOf,
    async messagesOf(row, { events, label }) {
      const id = `mail-${label}${row.seq}-${row.at.toString(36)}`;
      if (ports.now() - row.at > GIVEN_UP_AFTER_MS) return drop(id, row, 'it is older than five days');
      const { orderId, language = null } = JSON.parse(row.data) as MailFact;
      const wanted = { type: 'FindOrder', orderId, withDefinition: true, tickets: { after: null, limit: 1 } } as const;
      const found = await readAt(events.byEventId(row.eventId), null, wanted);
      if (found === null || isRefusal(found) || found.definition === null) return none(id);
      const { order, definition } = found;
      const { customer } = await personalData.open(order);
      const isPaid = order.status === 'CONFIRMED' || order.status === 'PARTIALLY_PAID';
      if (customer === null || !isPaid) return none(id);
      const to = customer.email.trim();
      if (!PLAIN_ADDRESS.test(to)) return drop(id, row, 'its address has signs that addresses have in quotes only');
      return [{ row, mail: { id, to, ...ports.write({ order, definition, language }) } }];
    },
    async post({ row, mail }, signal) {
      try {
        await mailer.send(mail, signal);
        refusedSince.delete(mail.id);
      } catch (error) {
        if (!isOfMail(error)) throw error;
        const since = refusedSince.get(mail.id) ?? ports.now();
        refusedSince.set(mail.id, since);
        if (ports.now() - since < REFUSED_AFTER_MS) throw error;
        drop(mail.id, row, 'its address was refused for a day');
      }
    },
    isReported: (error) => error instanceof MailPutOff,
    isOfMessage: isOfMail,
  };
}

const isOfMail = (error: unknown): boolean => error instanceof MailPutOff && error.isOfMail;

type MailFact = Pick<FactData['MailRequested'], 'orderId'> & Partial<Pick<FactData['MailRequested'], 'language'>>;

/** The queue of a fact; null where it has no mail. */
function mailQueueOf({ type, data }: Pick<FactRow, 'type' | 'data'>): string | null {
  if (type === 'OrderAmended') {
    const amended = JSON.parse(data) as FactData['OrderAmended'];
    return amended.trigger === 'COVER' ? amended.orderId : null;
  }
  if (type !== 'OrderPaid' && type !== 'MailRequested') return null;
  const { orderId, trigger = 'PAY_IN_FULL' } = JSON.parse(data) as MailFact & Partial<FactData['OrderPaid']>;
  return trigger === 'PAY_IN_FULL' || trigger === 'PAY_LATE_IN_FULL' ? orderId : null;
}

/** The queues of everything that is delivered from the journal. */
export const QUEUES = { notifications: notificationQueueOf, mail: mailQueueOf } as const;
