/** Mails of several shards in one process: what is known of one says nothing about another's. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createHashing } from '#actors/crypto.ts';
import { read } from '#domain/event/read.ts';
import { mailDelivery } from '#notifications/mail.ts';
import { MailPutOff } from '#notifications/smtp.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { buy, checkOut, item, openCheckoutEvent, paymentOf, recordPayment, report } from '../fixtures/commands.ts';

const DAY = 86_400_000;

it('The day after which a refused mail is given up is counted for each, also where facts of two shards have one number', async () => {
  const fixture = openCheckoutEvent();
  recordPayment(fixture, report(paymentOf(checkOut(fixture, buy([item('adult', 1)]))), 'paid'));
  const { fact, at } = fixture.journal.find(({ fact: { type } }) => type === 'OrderPaid')!;
  const { eventId } = fixture.state;
  const row = { seq: 7, eventId, eventSeq: 7, unit: 7, at, type: fact.type, data: JSON.stringify(fact.data) };
  let dropped = 0;
  let now = at;
  const delivery = mailDelivery({
    personalData: new PersonalDataReader(fixture.sealing.keys),
    mailer: {
      send: () => Promise.reject(new MailPutOff('EENVELOPE RCPT TO 450', true)),
      count: (outcome) => void (dropped += outcome === 'dropped' ? 1 : 0),
    },
    now: () => now,
    write: () => ({ subject: '', text: '', html: '' }),
  });
  const events = {
    byEventId: () => ({
      eventId,
      execute: () => Promise.reject(new Error('mails change nothing')),
      read: async (query: Parameters<typeof read>[1]) =>
        read(fixture.state, query, { now, activation: '', hashing: createHashing(), sealing: null }),
    }),
  };
  const { signal } = new AbortController();
  const post = async (label: string): Promise<void> => {
    const [mail] = await delivery.messagesOf(row, { events: events as never, label });
    await delivery.post(mail!, signal);
  };
  await assert.rejects(post('0-'), MailPutOff);
  now += DAY - 1;
  await assert.rejects(post('1-'), MailPutOff);
  now += 1;
  await assert.rejects(post('1-'), MailPutOff);
  await post('0-');
  assert.equal(dropped, 1);
  now += DAY;
  await post('1-');
  assert.equal(dropped, 2);
});
