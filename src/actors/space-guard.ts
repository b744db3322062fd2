/**
 * The free-space guard: looks at how much room the disk of the data folder has left, and says when it is too little to
 * promise anything new.
 *
 * Below the mark box offices refuse what makes new claims (`box-office.ts`), while expiry, release and payments go on:
 * they need little room, and a sale that is under way must be able to end. Started by `engine.ts`.
 *
 *  1. It comes back a little above the mark where it went under, so that it does not flap.
 *  2. A disk that cannot be looked at is no reason to stop selling: the journal says itself when it cannot be written.
 */
import { statfs } from 'node:fs/promises';
import { reportTrouble } from './trouble.ts';

/** What a look at a disk shows. */
export interface DiskSpace {
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

export interface SpaceGuardOptions {
  readonly folder: string;
  /** The mark; null stands for a twentieth of the disk, at most 256 MB; 0 turns the guard off. */
  readonly freeBytesMin: number | null;
  readonly lookEveryMs?: number;
  /** Looks at the disk of a folder; a test brings its own. */
  readonly spaceOf?: (folder: string) => Promise<DiskSpace>;
}

export interface SpaceGuard {
  /** Whether there is too little room for new claims. */
  readonly isLow: boolean;
  /** What to tell operators while it is low, or null. */
  readonly trouble: string | null;
  /** As of the last look; null before the first. */
  readonly freeBytes: number | null;
  /** Looks now. */
  look(): Promise<void>;
  stop(): void;
}

const MEGABYTE = 1024 * 1024;
const FREE_BYTES_MIN = 256 * MEGABYTE;
const SHARE_OF_DISK = 1 / 20;
const LOOK_EVERY_MS = 2_000;
/** How far above the mark there must be room again (1). */
const MARGIN = 1.1;

/** Starts the guard; its first look is over when the promise resolves. */
export async function startSpaceGuard(options: SpaceGuardOptions): Promise<SpaceGuard> {
  const { folder, freeBytesMin, lookEveryMs = LOOK_EVERY_MS, spaceOf = spaceOnDisk } = options;
  let isLow = false;
  let freeBytes: number | null = null;
  let mark = 0;

  const judge = (space: DiskSpace): void => {
    freeBytes = space.freeBytes;
    mark = freeBytesMin ?? Math.min(FREE_BYTES_MIN, space.sizeBytes * SHARE_OF_DISK);
    const wasLow = isLow;
    isLow = freeBytes < (wasLow ? mark * MARGIN : mark);
    if (isLow && !wasLow) reportTrouble('space-guard', describe(freeBytes, mark));
  };
  const look = async (): Promise<void> => {
    const space = await spaceOf(folder).catch(() => null);
    if (space !== null) judge(space);
  };

  await look();
  const interval = setInterval(() => void look(), lookEveryMs);
  interval.unref();
  return {
    get isLow() {
      return isLow;
    },
    get trouble() {
      return isLow && freeBytes !== null ? describe(freeBytes, mark) : null;
    },
    get freeBytes() {
      return freeBytes;
    },
    look,
    stop: () => clearInterval(interval),
  };
}

async function spaceOnDisk(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}

function describe(freeBytes: number, mark: number): string {
  const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(bytes < 10 * MEGABYTE ? 1 : 0);
  return `the disk is nearly full: ${megabytes(freeBytes)} MB are free, new holds, checkouts and places in line need ${megabytes(mark)} MB`;
}
