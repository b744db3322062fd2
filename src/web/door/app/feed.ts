/**
 * Which tickets are void or inside, as far as a station knows: the feed of the service, with its own scans over it.
 *
 * 1. The feed says where a ticket was when the feed was made. Own scans that it cannot have yet lie over it: those that
 *    wait, and those that were answered after the last sync began.
 * 2. An own scan from before the feed's last scan of the ticket does not say where the ticket is now.
 * 3. Where the feed is about an own scan, by its second and its door, undoing it changes what the feed says: it then
 *    says what remains by the entries with which the feed said that the scan conflicts. A void ticket stays void.
 */
import { leftByUndo } from '#client/doors/merging.ts';
import type { FeedChange } from '#client/doors/wire.ts';

/** Where a ticket is. */
export interface TicketState {
  readonly isVoid: boolean;
  readonly isInside: boolean;
  readonly hasEntered: boolean;
  /** The entry that let it in; null where it is not inside. */
  readonly admitted: { readonly at: number; readonly doorId: string | null } | null;
}

/** An entry or exit of this station that happened. */
export interface OwnScan {
  readonly id: string;
  readonly kind: 'ENTRY' | 'EXIT';
  readonly digest: string;
  readonly at: number;
  readonly doorId: string;
}

interface Overlay extends OwnScan {
  /** How many syncs had begun when the scan was answered; null while it waits. */
  answeredIn: number | null;
}

export class Feed {
  readonly #changes = new Map<string, FeedChange>();
  readonly #own = new Map<string, Overlay[]>();
  #inside = 0;
  #syncs = 0;
  #doorIds: readonly string[] = [];

  /** The doors to which changes point. */
  set doorIds(ids: readonly string[]) {
    this.#doorIds = ids;
  }

  /** Call it before a sync is sent: its answer may lack what is answered from now on. */
  beginSync(): void {
    this.#syncs += 1;
  }

  /** Takes what a sync brought; `isWhole` where it was the last of its answers. */
  apply(
    changes: readonly FeedChange[],
    { reset, isWhole }: { readonly reset: boolean; readonly isWhole: boolean },
  ): void {
    if (reset) this.clear();
    for (const change of changes) this.#put(change);
    if (!isWhole) return;
    for (const [digest, scans] of this.#own) {
      const left = scans.filter(({ answeredIn }) => answeredIn === null || answeredIn >= this.#syncs);
      if (left.length > 0) this.#own.set(digest, left);
      else this.#own.delete(digest);
    }
  }

  /** Forgets the feed, not what this station scanned. */
  clear(): void {
    this.#changes.clear();
    this.#inside = 0;
  }

  addOwn(scan: OwnScan): void {
    this.#own.set(scan.digest, [...(this.#own.get(scan.digest) ?? []), { ...scan, answeredIn: null }]);
  }

  /** The service has the scan: its feed will have it from the next sync on. */
  answered(id: string): void {
    for (const scan of [...this.#own.values()].flat()) if (scan.id === id) scan.answeredIn = this.#syncs;
  }

  /** Takes an own scan back; `others` are the entries with which the feed said that it conflicts (rule 3). */
  undo(scan: OwnScan, others: readonly { readonly at: number }[] = []): void {
    const { id, digest } = scan;
    const scans = this.#own.get(digest) ?? [];
    const left = scans.filter((each) => each.id !== id);
    if (left.length > 0) this.#own.set(digest, left);
    else this.#own.delete(digest);
    const row = this.#changes.get(digest);
    const isWaiting = scans.some((each) => each.id === id && each.answeredIn === null);
    if (row !== undefined && !isWaiting && this.#isAbout(row, scan)) this.#put(rowWithout(row, scan, others));
  }

  /** For a void ticket that is not inside, the feed says since when it is void, not when it left. */
  #isAbout([, state, seconds, door]: FeedChange, { kind, at, doorId }: OwnScan): boolean {
    if (kind === 'EXIT' && state === 'V') return true;
    const isOfKind = kind === 'ENTRY' ? state === 'I' || state === 'W' : state === 'O';
    return isOfKind && seconds === Math.floor(at / 1_000) && (door ?? -1) === this.#doorIds.indexOf(doorId);
  }

  /** What a feed would say of a ticket with the scans of this station. */
  changeOf(digest: string): FeedChange {
    const { isVoid, isInside, hasEntered } = this.stateOf(digest);
    const [last] = (this.#own.get(digest) ?? []).toSorted((one, other) => other.at - one.at);
    const [, , seconds = 0, door = null] = this.#changes.get(digest) ?? [];
    const state = namedBy(isVoid, isInside, hasEntered);
    if (last === undefined) return [digest, state, seconds, door];
    const place = this.#doorIds.indexOf(last.doorId);
    return [digest, state, Math.floor(last.at / 1_000), place < 0 ? null : place];
  }

  stateOf(digest: string): TicketState {
    const [, state, seconds, door] = this.#changes.get(digest) ?? [digest, 'N', 0, null];
    const isVoid = state === 'V' || state === 'W';
    let hasEntered = state === 'I' || state === 'W' || state === 'O';
    let admitted: TicketState['admitted'] =
      state === 'I' || state === 'W' ? { at: seconds * 1_000, doorId: this.#doorIds[door ?? -1] ?? null } : null;
    const own = (this.#own.get(digest) ?? []).toSorted((one, other) => one.at - other.at);
    for (const { kind, at, doorId } of own) {
      const isOlder = state !== 'V' && Math.floor(at / 1_000) < seconds;
      if (kind === 'ENTRY') hasEntered = true;
      if (isOlder) continue;
      admitted = kind === 'EXIT' ? null : (admitted ?? { at, doorId });
    }
    return { isVoid, isInside: admitted !== null, hasEntered, admitted };
  }

  /** How many tickets are inside. */
  get inside(): number {
    let inside = this.#inside;
    for (const digest of this.#own.keys()) {
      inside += Number(this.stateOf(digest).isInside) - Number(isInside(this.#changes.get(digest)));
    }
    return inside;
  }

  #put(change: FeedChange): void {
    const [digest, state] = change;
    this.#inside += Number(isInside(change)) - Number(isInside(this.#changes.get(digest)));
    if (state === 'N') this.#changes.delete(digest);
    else this.#changes.set(digest, change);
  }
}

function isInside(change: FeedChange | undefined): boolean {
  return change?.[1] === 'I' || change?.[1] === 'W';
}

function namedBy(isVoid: boolean, isInside: boolean, hasEntered: boolean): FeedChange[1] {
  if (isInside) return isVoid ? 'W' : 'I';
  return isVoid ? 'V' : hasEntered ? 'O' : 'N';
}

/** What a feed that is about a scan would say without it (rule 3). */
function rowWithout(
  [digest, state]: FeedChange,
  { kind, at }: OwnScan,
  others: readonly { readonly at: number }[],
): FeedChange {
  const left = kind === 'EXIT' ? { isInside: true, entry: { at } } : leftByUndo(at, others);
  const named = namedBy(state === 'V' || state === 'W', left?.isInside ?? false, left !== null);
  return [digest, named, Math.floor((left?.entry.at ?? at) / 1_000), null];
}
