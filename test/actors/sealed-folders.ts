/** A data folder with sealed facts and their keys, without the events that they would belong to. */
import type { TestContext } from 'node:test';
import { KeySurvey, openFolderKeys } from '#privacy/folder-keys.ts';
import { openSqliteJournal, type SqliteJournal } from '#persistence/sqlite/journal.ts';
import type { SqliteKeys } from '#persistence/sqlite/keys.ts';

interface SealedFolder {
  readonly journal: SqliteJournal;
  readonly keys: SqliteKeys;
  /** The fact of a sealed order; returns its key. */
  place(): Promise<string>;
  /** The fact of an erasure, without the destruction of its key. */
  erase(keyId: string): Promise<void>;
  /** A sealed note about an order. */
  note(orderKeyId: string): Promise<string>;
  has(keyId: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens journal and keys as a start does; facts are appended as they are, without an event. */
export async function openSealedFolder(t: TestContext, folder: string, isLossAccepted = false): Promise<SealedFolder> {
  const survey = new KeySurvey();
  const journal = await openSqliteJournal({ folder, onRow: (row) => survey.see(row) });
  const keys = await openFolderKeys({ folder, journal, survey, isLossAccepted }).catch(async (error: unknown) => {
    await journal.close();
    throw error;
  });
  const append = (type: string, data: object): Promise<void> =>
    journal.durable(journal.append({ eventId: 'evt_a', at: 1, facts: [{ type, data: JSON.stringify(data) }] }));
  const close = async (): Promise<void> => {
    await keys.close();
    await journal.close();
  };
  t.after(close);
  return {
    journal,
    keys,
    async place() {
      const { id } = keys.take()!;
      await append('OrderPlaced', { orderId: `ord_${id}`, personal: { sealed: `${id}.text`, addressHash: 'x' } });
      return id;
    },
    async note(orderKeyId) {
      const { id } = keys.take()!;
      await append('RefundRecorded', { orderId: `ord_${orderKeyId}`, note: null, sealedNote: `${id}.text` });
      return id;
    },
    erase: (keyId) =>
      append('OrderErased', { orderId: `ord_${keyId}`, keyIds: [keyId], operator: null, cause: 'REQUEST' }),
    has: async (keyId) => (await keys.read([keyId])).has(keyId),
    close,
  };
}
