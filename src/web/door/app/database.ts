/** The store of a station in IndexedDB, whose transactions are on the disk when they are complete. */
import type { FeedChange, StationHead } from '#client/doors/wire.ts';
import { UNPAIRED, type QueuedScan, type StationRecord, type StationStore } from './store.ts';

const DATABASE = 'holdfast.door';
const [STATION, FEED, QUEUE] = ['station', 'feed', 'queue'];

/** Throws where the browser has no database for this page, as in some private windows. */
export async function openStore(factory: IDBFactory): Promise<StationStore> {
  const opening = factory.open(DATABASE, 1);
  opening.onupgradeneeded = () => {
    for (const name of [STATION, FEED, QUEUE]) opening.result.createObjectStore(name!);
  };
  const database = await resultOf(opening);
  const names = [STATION!, FEED!, QUEUE!];
  return {
    async read() {
      const transaction = database.transaction(names);
      const [station, feed, queue] = names.map((name) => transaction.objectStore(name));
      const [record, head, changes, scans] = await Promise.all([
        resultOf(station!.get('record') as IDBRequest<StationRecord | undefined>),
        resultOf(station!.get('head') as IDBRequest<StationHead | undefined>),
        resultOf(feed!.getAll() as IDBRequest<FeedChange[]>),
        resultOf(queue!.getAll() as IDBRequest<QueuedScan[]>),
      ]);
      return { record: record ?? UNPAIRED, head: head ?? null, changes, scans };
    },
    write({ record, head, reset = false, changes = [], put = [], remove = [] }) {
      const transaction = database.transaction(names, 'readwrite', { durability: 'strict' });
      const [station, feed, queue] = names.map((name) => transaction.objectStore(name));
      if (record !== undefined) station!.put(record, 'record');
      if (head !== undefined) station!.put(head, 'head');
      if (reset) feed!.clear();
      for (const change of changes) {
        if (change[1] === 'N') feed!.delete(change[0]);
        else feed!.put(change, change[0]);
      }
      for (const scan of put) queue!.put(scan, scan.id);
      for (const id of remove) queue!.delete(id);
      return new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error ?? new Error('nothing was stored'));
      });
    },
  };
}

function resultOf<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error!);
  });
}
