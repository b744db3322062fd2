/**
 * The free-space guard: reads how much room the disk of the data folder has left, and says when it is too little for
 * new claims.
 *
 * Below the limit new claims are refused (`admission.ts`), while expiry, release and payments go on: they need little
 * room, and a sale that is under way must be able to end.
 *
 * 1. New claims are accepted again a little above the limit, so that the answer does not alternate.
 * 2. When the free space cannot be read, selling goes on: the journal reports itself when it cannot be written.
 */
import { statfs } from 'node:fs/promises';
import { reportTrouble } from '#actors/trouble.ts';

interface DiskSpace {
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

interface SpaceGuardOptions {
  readonly folder: string;
  /** The limit; null stands for a twentieth of the disk, at most 256 MB; 0 turns the guard off. */
  readonly freeBytesMin: number | null;
  readonly checkEveryMs?: number;
  /** Reads the disk of a folder; a test brings its own. */
  readonly spaceOf?: (folder: string) => Promise<DiskSpace>;
}

export interface SpaceGuard {
  /** Whether there is too little room for new claims. */
  readonly isLow: boolean;
  /** What operators see while it is low, or null. */
  readonly trouble: string | null;
  /** As of the last reading; null before the first. */
  readonly freeBytes: number | null;
  /** Reads the disk now. */
  check(): Promise<void>;
  stop(): void;
}

const MEGABYTE = 1024 * 1024;
const FREE_BYTES_MIN = 256 * MEGABYTE;
const SHARE_OF_DISK = 1 / 20;
const CHECK_EVERY_MS = 2_000;
/** How far above the limit there must be room again (rule 1). */
const MARGIN = 1.1;

/** Resolves after the first reading of the disk. */
export async function startSpaceGuard(options: SpaceGuardOptions): Promise<SpaceGuard> {
  const { folder, freeBytesMin, checkEveryMs = CHECK_EVERY_MS, spaceOf = spaceOnDisk } = options;
  let isLow = false;
  let freeBytes: number | null = null;
  let neededBytes = 0;

  const note = (space: DiskSpace): void => {
    freeBytes = space.freeBytes;
    neededBytes = freeBytesMin ?? Math.min(FREE_BYTES_MIN, space.sizeBytes * SHARE_OF_DISK);
    const wasLow = isLow;
    isLow = freeBytes < (wasLow ? neededBytes * MARGIN : neededBytes);
    if (isLow && !wasLow) reportTrouble('space-guard', describe(freeBytes, neededBytes));
  };
  const check = async (): Promise<void> => {
    const space = await spaceOf(folder).catch(() => null);
    if (space !== null) note(space);
  };

  await check();
  const interval = setInterval(() => void check(), checkEveryMs);
  interval.unref();
  return {
    get isLow() {
      return isLow;
    },
    get trouble() {
      return isLow && freeBytes !== null ? describe(freeBytes, neededBytes) : null;
    },
    get freeBytes() {
      return freeBytes;
    },
    check,
    stop: () => clearInterval(interval),
  };
}

async function spaceOnDisk(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

function describe(freeBytes: number, neededBytes: number): string {
  const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(bytes < 10 * MEGABYTE ? 1 : 0);
  return `the disk is nearly full: ${megabytes(freeBytes)} MB are free, new holds, checkouts and places in line need ${megabytes(neededBytes)} MB`;
}
