/**
 * The rule of check-in, counted from plain lists: written from the contract, with types of the engine and none of its
 * code.
 *
 * It takes what became durable, in its order: tickets, what made them void, definitions, and scans. It gives the answer
 * to each scan, and what operators see.
 *
 * 1. A known id is answered as the first time. It may add once what its station had decided by itself, in place of what
 *    its gate had. With another code, kind, date or door it is ID_REUSED.
 * 2. A scan counts as `given`, where there is one, else as its verdict. ADMIT, EXIT and UNDONE happened.
 * 3. With `given` it counts at its own moment; else 1 ms after the ticket's last scan at the earliest.
 * 4. What is undone is left out, also where the UNDO came first.
 */
import type { EventDefinition } from '#domain/catalogue/definition.ts';

const MINUTE = 60_000;

interface ModelTicket {
  readonly id: string;
  readonly typeId: string;
  readonly performanceId: string;
}

/** A scan as a device sends it. */
export interface SentScan {
  readonly id: string;
  readonly kind: 'ENTRY' | 'EXIT' | 'UNDO';
  /** What was read, and what it is; null with UNDO. */
  readonly code: { readonly text: string; readonly is: 'TICKET' | 'UNKNOWN' | 'FORGED' | 'WRONG_EVENT' } | null;
  readonly undoes: string | null;
  readonly performanceId: string;
  readonly doorId: string;
  readonly at: number;
  readonly given: string | null;
  readonly isOfGate: boolean;
  readonly stationId: string | null;
}

export type ModelEntry =
  | { readonly type: 'DEFINED'; readonly definition: EventDefinition }
  | { readonly type: 'TICKETS'; readonly tickets: readonly ModelTicket[] }
  | { readonly type: 'VOID'; readonly ids: readonly string[]; readonly at: number }
  | { readonly type: 'SCANS'; readonly senderId: string; readonly scans: readonly SentScan[]; readonly at: number };

interface KnownScan {
  readonly scan: SentScan;
  readonly verdict: string;
  readonly stationId: string;
  readonly ticketId: string | null;
  given: string | null;
  isOfGate: boolean;
  /** When it counts. */
  at: number;
  unfit: 'VOID' | 'OTHERWISE' | null;
}

export interface ModelResult {
  readonly id: string;
  readonly verdict: string;
  readonly repeated: boolean;
  /** Of ALREADY_ADMITTED, the first time: the scan that let the ticket in. */
  readonly admittedBy?: string | null;
}

interface ModelConflict {
  readonly kind: string;
  readonly ticketId: string | null;
  readonly performanceId: string;
  readonly first: string | null;
  readonly second: string;
}

const DONE = { ENTRY: 'ADMIT', EXIT: 'EXIT', UNDO: 'UNDONE' };

const outcomeOf = ({ given, verdict }: KnownScan): string => given ?? verdict;

const hasHappened = (known: KnownScan): boolean => outcomeOf(known) === DONE[known.scan.kind];

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

export class DoorModel {
  readonly tickets = new Map<string, ModelTicket>();
  readonly voidSince = new Map<string, number>();
  readonly scans = new Map<string, KnownScan>();
  definition!: EventDefinition;

  /** The answer to scans; nothing for all others. */
  take(entry: ModelEntry): readonly ModelResult[] {
    switch (entry.type) {
      case 'DEFINED':
        this.definition = entry.definition;
        return [];
      case 'TICKETS':
        for (const ticket of entry.tickets) this.tickets.set(ticket.id, ticket);
        return [];
      case 'VOID':
        for (const id of entry.ids) this.voidSince.set(id, entry.at);
        return [];
      case 'SCANS':
        return entry.scans.map((scan) => this.#scan(scan, entry.senderId, entry.at));
    }
  }

  /** Whether anything of a batch is yet to be recorded. */
  isNews(scans: readonly SentScan[]): boolean {
    return scans.some((scan) => {
      const known = this.scans.get(scan.id);
      return known === undefined || (isSame(known, scan) && adds(known, scan));
    });
  }

  #scan(scan: SentScan, senderId: string, now: number): ModelResult {
    const { id, given } = scan;
    const at = scan.at > now + MINUTE ? now : scan.at;
    const known = this.scans.get(id);
    if (known !== undefined) {
      if (!isSame(known, scan)) return { id, verdict: 'ID_REUSED', repeated: false };
      if (adds(known, scan)) {
        Object.assign(known, { given, isOfGate: scan.isOfGate, at, unfit: this.#unfitOf(scan, at) });
      }
      return { id, verdict: known.verdict, repeated: true };
    }
    const stationId = scan.stationId ?? senderId;
    const ticketId = this.#ticketOf(scan)?.id ?? null;
    const { verdict, admittedBy } = this.#check(scan, at, stationId);
    const earlier = ticketId === null ? [] : this.#happenedOf(ticketId);
    const counted = given === null ? Math.max(at, ...earlier.map((each) => each.at + 1)) : at;
    const unfit = this.#unfitOf(scan, at);
    this.scans.set(id, { scan, verdict, stationId, ticketId, given, isOfGate: scan.isOfGate, at: counted, unfit });
    return { id, verdict, repeated: false, ...(admittedBy !== undefined && { admittedBy }) };
  }

  #ticketOf({ code }: SentScan): ModelTicket | undefined {
    return code?.is === 'TICKET' ? this.tickets.get(code.text) : undefined;
  }

  // ── verdicts ───────────────────────────────────────────────────────────────────────────────────────────────────────

  #check(
    scan: SentScan,
    at: number,
    stationId: string,
  ): { readonly verdict: string; readonly admittedBy?: string | null } {
    if (scan.kind === 'UNDO') return { verdict: this.#checkUndo(scan, at, stationId) };
    const { is } = scan.code!;
    if (is !== 'TICKET') return { verdict: is };
    const ticket = this.#ticketOf(scan);
    if (ticket === undefined) return { verdict: 'UNKNOWN' };
    const { inside, entered } = this.whereIs(ticket.id);
    if (scan.kind === 'EXIT') return { verdict: inside ? 'EXIT' : 'NOT_INSIDE' };
    const unfit = this.#refusalOf(scan, ticket, at);
    if (unfit !== null) return { verdict: unfit };
    const { reentry = 'AFTER_EXIT' } = this.definition;
    const isRefused = { AFTER_EXIT: inside, NEVER: entered, ALWAYS: false }[reentry];
    return isRefused
      ? { verdict: 'ALREADY_ADMITTED', admittedBy: this.whereIs(ticket.id).admission }
      : { verdict: 'ADMIT' };
  }

  #refusalOf({ performanceId, doorId, given }: SentScan, ticket: ModelTicket, at: number): string | null {
    const voidSince = this.voidSince.get(ticket.id);
    // A scan without `given` is VOID by its arrival, one with it as of its moment.
    if (voidSince !== undefined && (given === null || voidSince <= at)) return 'VOID';
    if (ticket.performanceId !== performanceId) return 'WRONG_PERFORMANCE';
    const types = this.definition.doors!.find(({ id }) => id === doorId)!.ticketTypeIds;
    if (types !== null && !types.includes(ticket.typeId)) return 'WRONG_DOOR';
    const { doorsAt = null, endsAt } = this.definition.performances.find(({ id }) => id === performanceId)!;
    if (doorsAt !== null && at < doorsAt) return 'NOT_YET';
    return endsAt !== null && at > endsAt ? 'OVER' : null;
  }

  #unfitOf(scan: SentScan, at: number): 'VOID' | 'OTHERWISE' | null {
    if (scan.kind !== 'ENTRY' || scan.given !== 'ADMIT') return null;
    const ticket = this.#ticketOf(scan);
    if (ticket === undefined) return 'OTHERWISE';
    const refusal = this.#refusalOf(scan, ticket, at);
    return refusal === null || refusal === 'VOID' ? refusal : 'OTHERWISE';
  }

  #checkUndo({ undoes }: SentScan, at: number, stationId: string): string {
    const target = this.scans.get(undoes!);
    const isOwn = target !== undefined && target.scan.kind !== 'UNDO' && target.stationId === stationId;
    if (!isOwn || !hasHappened(target) || this.#isUndone(target)) return 'NOT_UNDOABLE';
    return at - target.at <= 10 * MINUTE ? 'UNDONE' : 'NOT_UNDOABLE';
  }

  // ── merging ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #isUndone({ scan: { id } }: KnownScan): boolean {
    return [...this.scans.values()].some((each) => each.scan.undoes === id && hasHappened(each));
  }

  #happenedOf(ticketId: string): readonly KnownScan[] {
    return [...this.scans.values()].filter(
      (each) => each.ticketId === ticketId && each.scan.kind !== 'UNDO' && hasHappened(each),
    );
  }

  /** Entries and exits that count, in their order. */
  #countedOf(ticketId: string): readonly KnownScan[] {
    return this.#happenedOf(ticketId)
      .filter((each) => !this.#isUndone(each))
      .sort(
        (one, other) =>
          one.at - other.at || compareTexts(one.stationId, other.stationId) || compareTexts(one.scan.id, other.scan.id),
      );
  }

  whereIs(ticketId: string): {
    readonly inside: boolean;
    readonly entered: boolean;
    readonly admission: string | null;
  } {
    let [inside, admission]: [boolean, string | null] = [false, null];
    for (const { scan } of this.#countedOf(ticketId)) {
      if (scan.kind === 'ENTRY' && !inside) admission = scan.id;
      inside = scan.kind === 'ENTRY';
    }
    return { inside, entered: admission !== null, admission };
  }

  conflicts(): readonly ModelConflict[] {
    const { reentry = 'AFTER_EXIT' } = this.definition;
    const found: ModelConflict[] = [];
    const report = (kind: string, { scan, ticketId }: KnownScan, first: string | null): unknown =>
      found.push({ kind, ticketId, performanceId: scan.performanceId, first, second: scan.id });
    for (const ticketId of this.tickets.keys()) {
      let [inside, admission]: [boolean, string | null] = [false, null];
      for (const known of this.#countedOf(ticketId)) {
        if (known.scan.kind === 'EXIT') {
          inside = false;
          continue;
        }
        if (inside && reentry !== 'ALWAYS') report('DOUBLE_ENTRY', known, admission);
        const isReturn = !inside && admission !== null && reentry === 'NEVER';
        if (known.unfit === 'VOID') report('ENTERED_VOID', known, null);
        else if (known.unfit === 'OTHERWISE' || isReturn) {
          report('ENTERED_OTHERWISE', known, isReturn ? admission : null);
        }
        if (!inside) admission = known.scan.id;
        inside = true;
      }
    }
    for (const known of this.scans.values()) {
      const isEntry = known.ticketId === null && known.scan.kind === 'ENTRY' && hasHappened(known);
      if (isEntry && !this.#isUndone(known)) report('ENTERED_OTHERWISE', known, null);
    }
    return found;
  }

  countsOf(performanceId: string, now: number) {
    const here = [...this.scans.values()].filter(({ scan }) => scan.performanceId === performanceId);
    const refused: Record<string, number> = {};
    for (const known of here) {
      if (!hasHappened(known)) refused[outcomeOf(known)] = (refused[outcomeOf(known)] ?? 0) + 1;
    }
    const counted = here.filter((each) => each.scan.kind !== 'UNDO' && hasHappened(each) && !this.#isUndone(each));
    const inAndOut = (all: readonly KnownScan[]) => ({
      entries: all.filter(({ scan }) => scan.kind === 'ENTRY').length,
      exits: all.filter(({ scan }) => scan.kind === 'EXIT').length,
    });
    const admitted = new Set(counted.filter(({ scan }) => scan.kind === 'ENTRY').map(({ ticketId }) => ticketId));
    admitted.delete(null);
    const expected = [...this.tickets.values()].filter(
      (ticket) => ticket.performanceId === performanceId && !this.voidSince.has(ticket.id),
    );
    const { entries, exits } = inAndOut(counted);
    const thisMinute = Math.floor(now / MINUTE);
    return {
      id: performanceId,
      expected: expected.length,
      admitted: admitted.size,
      inside: entries - exits,
      entries,
      exits,
      conflicts: this.conflicts().filter((each) => each.performanceId === performanceId).length,
      refused,
      doors: this.definition.doors!.map(({ id }) => ({
        id,
        ...inAndOut(counted.filter(({ scan }) => scan.doorId === id)),
      })),
      ticketTypes: this.definition.ticketTypes.map(({ id }) => ({
        id,
        expected: expected.filter(({ typeId }) => typeId === id).length,
        admitted: [...admitted].filter((ticketId) => this.tickets.get(ticketId!)!.typeId === id).length,
      })),
      /** Those in which somebody went in or out. */
      minutes: Array.from({ length: 60 }, (_, index) => {
        const minute = thisMinute - 59 + index;
        return { at: minute * MINUTE, ...inAndOut(counted.filter(({ at }) => Math.floor(at / MINUTE) === minute)) };
      }).filter((each) => each.entries + each.exits > 0),
    };
  }

  /** Entries of a station, null for a gate of all, each with another one of the ticket with which it conflicts. */
  toldOf(ticketId: string, stationId: string | null): readonly string[] {
    const pairs = this.conflicts().flatMap(({ ticketId: of, first, second }) =>
      of !== ticketId || first === null ? [] : [[first, second] as const, [second, first] as const],
    );
    const own = pairs.filter(([id]) => stationId === null || this.scans.get(id)!.stationId === stationId);
    return own.map((pair) => pair.join(' ')).sort();
  }

  /** What a feed says of a ticket. */
  stateOf(ticketId: string): 'V' | 'W' | 'I' | 'O' | 'N' {
    const { inside, entered } = this.whereIs(ticketId);
    if (this.voidSince.has(ticketId)) return inside ? 'W' : 'V';
    if (inside) return 'I';
    return entered ? 'O' : 'N';
  }
}

/** Rule 1. */
function adds(known: KnownScan, { given, isOfGate }: SentScan): boolean {
  return given !== null && (known.given === null || (known.isOfGate && !isOfGate));
}

function isSame({ scan }: KnownScan, { kind, code, undoes, performanceId, doorId }: SentScan): boolean {
  const isSameText = scan.code?.text === code?.text && scan.code?.is === code?.is && scan.undoes === undoes;
  return isSameText && scan.kind === kind && scan.performanceId === performanceId && scan.doorId === doorId;
}
