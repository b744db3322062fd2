/** Seeded bugs of check-in, which run in simulated evenings (`../seeded-bugs.ts`). */
import { bug, type SeededBug } from '../seeded-bugs.ts';

const DOORS = ['--doors', '--seeds', '1..400', '--steps', '60'];

const BUGS: readonly SeededBug[] = [
  bug(
    'doors: a repeat counts again',
    'src/domain/doors/scans.ts',
    'if (known === null) this.#record(scan, at, found, key, verdict, null);',
    'if (known === null || given === null) this.#record(scan, at, found, key, verdict, null);',
    'test/api/doors.test.ts',
  ),
  bug(
    'doors: what a station decided meanwhile is dropped',
    'src/domain/doors/scans.ts',
    'else if (adds(scan, known)) this.#record(',
    'else if (adds(scan, known) && known.given !== null) this.#record(',
    'test/api/doors.test.ts',
  ),
  bug(
    'doors: scans are merged in the order of their arrival',
    'src/client/doors/merging.ts',
    'const scans = all.filter(({ isUndone }) => !isUndone).sort(compareScans);',
    'const scans = all.filter(({ isUndone }) => !isUndone);',
    'test/client/doors/merging.test.ts',
  ),
  bug(
    "doors: a device's clock puts an entry before the exit that let it out",
    'src/client/doors/merging.ts',
    'return known.reduce((latest, scan) => Math.max(latest, scan.at + 1), at);',
    'return known.reduce((latest) => latest, at);',
    'test/client/doors/merging.test.ts',
  ),
  bug(
    'doors: a scan does not know what came earlier in its batch',
    'src/domain/doors/scans.ts',
    'this.#tickets.set(key, [...others, ofTicket]);',
    'this.#tickets.set(key, others);',
    'test/api/doors.test.ts',
  ),
  bug(
    'doors: an UNDO that arrives before its scan is forgotten',
    'src/domain/doors/evolve.ts',
    'const isUndone = before?.isUndone ?? waiting > 0;',
    'const isUndone = before?.isUndone ?? false;',
    'test/domain/doors.test.ts',
  ),
  bug(
    'doors: an UNDO that is refused makes the scan stand again for the rest of its batch',
    'src/domain/doors/scans.ts',
    'if (isUndone !== wasUndone) this.#noteUndone(',
    'if (isUndone !== wasUndone || !isUndone) this.#noteUndone(',
    'test/api/doors.test.ts',
  ),
  bug(
    'doors: an entry that a station decided is void by its arrival',
    'src/domain/doors/scans.ts',
    'const isVoid = voided !== null && (given === null || voided.since <= at);',
    'const isVoid = voided !== null;',
    'test/api/doors.test.ts',
  ),
  bug(
    'doors: a refusal stays counted after its station let in',
    'src/domain/doors/evolve.ts',
    'if (before !== undefined && !hasHappened(before)) countRefused(',
    'if (before !== undefined && hasHappened(before)) countRefused(',
    'test/api/doors.test.ts',
  ),
  bug(
    'doors: ids of refused scans are lost with a snapshot',
    'src/domain/doors/snapshot.ts',
    'if (rows.length > 0) yield',
    'if (rows.length > ROWS_PER_PART) yield',
    'test/domain/doors.test.ts',
  ),
  bug(
    'doors: a feed goes on behind changes that it did not send',
    'src/domain/doors/sync.ts',
    'return last;\n      }\n      this.#looked += 1;\n      last = change;\n      const ticket =',
    'return this.#doors.tickets.lastChange;\n      }\n      this.#looked += 1;\n      last = change;\n      const ticket =',
    'test/api/doors.test.ts',
  ),
  bug(
    'doors: a station is not told of an entry that came after its own',
    'src/domain/doors/station-conflicts.ts',
    'return [[first, second] as const, [second, first] as const];',
    'return [[second, first] as const];',
    'test/domain/doors.test.ts',
  ),
  bug(
    'doors: a revoked station scans on',
    'src/domain/doors/stations.ts',
    "return stationStatus(station, now) === 'LIVE' ? station : refuse('STATION_REVOKED', {});",
    "return stationStatus(station, now) !== 'EXPIRED' ? station : refuse('STATION_REVOKED', {});",
    'test/api/doors.test.ts',
  ),
];

export const DOOR_BUGS: readonly SeededBug[] = BUGS.map((each) => ({ ...each, simulation: DOORS }));
