/**
 * Proves the whole archive in a worker thread, at the start and after each prune, because the service sells without
 * reading it. A damage stops no sale but loses history, so operators must hear of it while there are backups.
 *
 * 1. Each problem is reported as a trouble, each time that it is found.
 * 2. `problems` is as of the last check that came to its end: it returns to 0 once the file is put back.
 * 3. One check runs at a time; a check that is requested meanwhile is left out.
 */
import { reportTrouble } from '#actors/trouble.ts';
import { checkArchiveAside } from '#persistence/sqlite/archive.ts';

interface ArchiveWatchPorts {
  readonly folder: string;
  /** The newest fact that was moved to the archive; 0 while there is none. */
  baseSeq(): number;
}

export interface ArchiveWatch {
  /** Files that are damaged, and ranges of facts that no file has. */
  readonly problems: number;
  /** Resolves when the check is over; never rejects. */
  check(): Promise<void>;
  stop(): void;
}

export function watchArchive({ folder, baseSeq }: ArchiveWatchPorts): ArchiveWatch {
  const ending = new AbortController();
  let problems = 0;
  let underWay: Promise<void> | null = null;
  const checkNow = async (): Promise<void> => {
    try {
      const findings = await checkArchiveAside(folder, ending.signal);
      problems = findings.length;
      for (const { where, what, hint } of findings) reportTrouble('archive', `${where}: ${what}. ${hint}`);
    } catch (error) {
      if (!ending.signal.aborted) reportTrouble('archive', 'the archive could not be checked', error);
    } finally {
      underWay = null;
    }
  };
  return {
    get problems() {
      return problems;
    },
    check() {
      if (baseSeq() === 0 || ending.signal.aborted) return Promise.resolve();
      return (underWay ??= checkNow());
    },
    stop: () => ending.abort(),
  };
}
