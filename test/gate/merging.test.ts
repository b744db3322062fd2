/** Scans that stations decided come to the same through a gate and through its service, whenever the network is cut. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Json } from '../fixtures/client.ts';
import { buyTickets, codesOf, countsOf, doorsGala, makeStation, scanAll, type MadeStation } from '../fixtures/doors.ts';
import { openGate, type TestGate } from '../fixtures/gate.ts';
import { ofOneMachine, openServiceWith, type TestService } from '../fixtures/service.ts';
import { MINUTE } from '../fixtures/test-service.ts';
import { fc } from '../property.ts';

const EVENTS = ['evt_plain', 'evt_mixed'] as const;
const TICKETS = 3;
const SCANS = 8;
const skip = ofOneMachine('a gate has one service');

let service: TestService;
let gate: TestGate;
const stations = new Map<string, readonly MadeStation[]>();
before(async () => {
  if (skip !== false) return;
  service = await openServiceWith(EVENTS.map((id) => doorsGala({ id, slug: id.slice(4) })));
  for (const id of EVENTS) {
    const made = [await makeStation(service, {}, id), await makeStation(service, {}, id)];
    // Scans of one moment are in the order of their stations' ids: the same in both events.
    stations.set(
      id,
      made.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    );
  }
  gate = await openGate(service, { eventId: 'evt_mixed', aheadMs: 3 * MINUTE });
});
after(async () => {
  await gate?.close();
  await service?.close();
});

interface Decided {
  readonly kind: 'ENTRY' | 'EXIT' | 'UNDO';
  readonly station: number;
  readonly minute: number;
  /** The last one is somebody's business card. */
  readonly ticket: number;
  readonly isRefused: boolean;
  /** The scan that an UNDO takes back. */
  readonly of: number;
}

const decided = fc.record<Decided>({
  kind: fc.constantFrom('ENTRY', 'ENTRY', 'EXIT', 'UNDO'),
  station: fc.nat(1),
  minute: fc.integer({ min: -40, max: 0 }),
  ticket: fc.nat(TICKETS),
  isRefused: fc.boolean(),
  of: fc.nat(SCANS - 1),
});

let runs = 0;

function bodyOf(scan: Decided, place: number, codes: readonly string[]): Json {
  const { kind, minute, ticket, isRefused, of } = scan;
  const at = new Date(service.now() + minute * MINUTE).toISOString();
  const base = { id: idOf(place), kind, performance_id: 'eve', door_id: 'main', at };
  if (kind === 'UNDO') return { ...base, undoes: idOf(of), given: isRefused ? 'NOT_UNDOABLE' : 'UNDONE' };
  const code = codes[ticket] ?? 'BEGIN:VCARD';
  if (ticket === TICKETS) return { ...base, code, given: 'UNKNOWN' };
  const given = kind === 'ENTRY' ? ['ADMIT', 'CANNOT_TELL'] : ['EXIT', 'NOT_INSIDE'];
  return { ...base, code, given: given[Number(isRefused)] };
}

const idOf = (place: number): string => `merged-scan-${String(runs).padStart(4, '0')}-${place}`;

/** What operators see, without what differs between the two events. */
async function shown(eventId: string): Promise<unknown> {
  const { expected: _expected, ticket_types: types, ...counts } = await countsOf(service, 'eve', eventId);
  const path = `/admin/events/${eventId}/doors/conflicts?limit=1000`;
  const { body } = await service.admin.get<{ readonly conflicts: readonly Json[] }>(path);
  const conflicts = body.conflicts.map(({ kind, first, second }) => {
    return [kind, ...[first, second].map((scan) => (scan as Json | null)?.['scan_id'])];
  });
  return { counts, admitted: types.map(({ admitted }) => admitted), conflicts };
}

it('come to the same through gate and service, in any order, repeated, with the network cut', { skip }, async () => {
  const steps = fc.record({
    scans: fc.array(decided, { minLength: SCANS, maxLength: SCANS }),
    order: fc.shuffledSubarray([...Array(2 * SCANS).keys()], { minLength: 2 * SCANS }),
    isAtGate: fc.array(fc.boolean(), { minLength: 2 * SCANS, maxLength: 2 * SCANS }),
    /** Before a scan: nothing, a round, the network goes, or comes back; a restart of the gate. */
    before: fc.array(fc.constantFrom('', '', '', '', 'round', 'cut', 'join', 'restart'), {
      minLength: 2 * SCANS,
      maxLength: 2 * SCANS,
    }),
  });
  await fc.assert(
    fc.asyncProperty(steps, async ({ scans, order, isAtGate, before: happens }) => {
      runs += 1;
      const codes: Record<string, readonly string[]> = {};
      for (const eventId of EVENTS) codes[eventId] = codesOf(await buyTickets(service, 'single', TICKETS, { eventId }));
      for (const [place, scan] of scans.entries()) {
        const station = stations.get('evt_plain')![scan.station]!;
        await scanAll(service, station, bodyOf(scan, place, codes['evt_plain']!));
      }
      for (const [step, place] of order.entries()) {
        const does = happens[step];
        if (does === 'round') await gate.gate.link.round();
        else if (does === 'restart') await gate.restart();
        else if (does !== '') gate.isCut = does === 'cut';
        const scan = scans[place % SCANS]!;
        const station = stations.get('evt_mixed')![scan.station]!;
        const body = bodyOf(scan, place % SCANS, codes['evt_mixed']!);
        await scanAll(isAtGate[step] === true ? gate : service, station, body);
      }
      gate.isCut = false;
      await gate.round();
      assert.deepEqual(await shown('evt_mixed'), await shown('evt_plain'));
    }),
    { numRuns: 6 },
  );
  const { entries, conflicts } = await countsOf(service, 'eve', 'evt_mixed');
  assert.ok(entries > 0 && conflicts > 0, 'it came to something');
});
