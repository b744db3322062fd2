import { UNPAIRED, type StationStore, type StoredStation } from '../../../src/web/door/app/store.ts';

/** The twin of a device's database, for stations without a browser. `read` gives what a page finds when it begins. */
export function memoryStore(): StationStore {
  let record = UNPAIRED;
  let head: StoredStation['head'] = null;
  const changes = new Map<string, StoredStation['changes'][number]>();
  const scans = new Map<string, StoredStation['scans'][number]>();
  return {
    read: async () => structuredClone({ record, head, changes: [...changes.values()], scans: [...scans.values()] }),
    write: async (given) => {
      const written = structuredClone(given);
      record = written.record ?? record;
      head = written.head === undefined ? head : written.head;
      if (written.reset === true) changes.clear();
      for (const change of written.changes ?? []) {
        if (change[1] === 'N') changes.delete(change[0]);
        else changes.set(change[0], change);
      }
      for (const scan of written.put ?? []) scans.set(scan.id, scan);
      for (const id of written.remove ?? []) scans.delete(id);
    },
  };
}
