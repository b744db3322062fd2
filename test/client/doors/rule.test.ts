/** The rule of check-in as one table: a row for each sentence of the contract, in the contract's words. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { readCode } from '#client/doors/code.ts';
import { sha256Hex, ticketDigest } from '#client/doors/digest.ts';
import { fitsKind, GIVEN, hasHappened, outcomeOf, SCAN_KINDS, VERDICTS, type Given } from '#client/doors/scan.ts';
import {
  unfitFor,
  verdictOfEntry,
  verdictOfExit,
  verdictOfUndo,
  type Entrance,
  type Presence,
  type Reentry,
  type ScanFinding,
  type ScannedTicket,
} from '#client/doors/verdict.ts';
import { anyText, fc } from '../../property.ts';

const DOORS_AT = 1_000_000;
const ENDS_AT = 2_000_000;
const MINUTE = 60_000;

const ticket: ScannedTicket = { performanceId: 'friday', ticketTypeId: 'floor', isVoid: false };
const entrance: Entrance = { performanceId: 'friday', doorsAt: DOORS_AT, endsAt: ENDS_AT, ticketTypeIds: null };
const outside: Presence = { isInside: false, hasEntered: false };
const inside: Presence = { isInside: true, hasEntered: true };
const left: Presence = { isInside: false, hasEntered: true };

interface EntryCase {
  readonly when: string;
  readonly finding?: ScanFinding;
  readonly entrance?: Partial<Entrance>;
  readonly at?: number;
  readonly presence?: Presence;
  readonly reentry?: Reentry;
  readonly verdict: Given;
}

const voided = { ...ticket, isVoid: true };
const saturday = { ...ticket, performanceId: 'saturday' };
const untyped = { ...ticket, ticketTypeId: null };
const forBalcony = { ticketTypeIds: ['balcony'] };

const entries: readonly EntryCase[] = [
  { when: 'a ticket of the date comes while entry is open', verdict: 'ADMIT' },
  { when: 'no code was read', finding: 'UNKNOWN', verdict: 'UNKNOWN' },
  { when: 'a code is signed by no key of the service', finding: 'FORGED', verdict: 'FORGED' },
  { when: 'a good code is of another event', finding: 'WRONG_EVENT', verdict: 'WRONG_EVENT' },
  { when: 'the ticket is void', finding: voided, verdict: 'VOID' },
  { when: 'the ticket is of another date', finding: saturday, verdict: 'WRONG_PERFORMANCE' },
  { when: 'the door does not take the type', entrance: forBalcony, verdict: 'WRONG_DOOR' },
  { when: 'the door takes the type among others', entrance: { ticketTypeIds: ['box', 'floor'] }, verdict: 'ADMIT' },
  { when: 'it is a millisecond before doors_at', at: DOORS_AT - 1, verdict: 'NOT_YET' },
  { when: 'it is doors_at', at: DOORS_AT, verdict: 'ADMIT' },
  { when: 'it is ends_at', at: ENDS_AT, verdict: 'ADMIT' },
  { when: 'it is a millisecond after ends_at', at: ENDS_AT + 1, verdict: 'OVER' },
  { when: 'doors_at is null', entrance: { doorsAt: null }, at: 0, verdict: 'ADMIT' },
  { when: 'ends_at is null', entrance: { endsAt: null }, at: ENDS_AT * 9, verdict: 'ADMIT' },
  { when: 'the ticket is inside', presence: inside, verdict: 'ALREADY_ADMITTED' },
  { when: 'it has left, and reentry is AFTER_EXIT', presence: left, verdict: 'ADMIT' },
  { when: 'it has left, and reentry is NEVER', presence: left, reentry: 'NEVER', verdict: 'ALREADY_ADMITTED' },
  { when: 'it is inside, and reentry is NEVER', presence: inside, reentry: 'NEVER', verdict: 'ALREADY_ADMITTED' },
  { when: 'it is inside, and reentry is ALWAYS', presence: inside, reentry: 'ALWAYS', verdict: 'ADMIT' },
  { when: 'it has left, and reentry is ALWAYS', presence: left, reentry: 'ALWAYS', verdict: 'ADMIT' },
  { when: 'the key of the code is not known', finding: 'CANNOT_TELL', verdict: 'CANNOT_TELL' },
  {
    when: 'a code without type is at a door for some types',
    finding: untyped,
    entrance: forBalcony,
    verdict: 'CANNOT_TELL',
  },
  { when: 'a code without type is at a door for all types', finding: untyped, verdict: 'ADMIT' },
  // Two reasons at once: the first check of the order says the verdict.
  {
    when: 'VOID comes before WRONG_PERFORMANCE',
    finding: { ...saturday, isVoid: true },
    verdict: 'VOID',
  },
  {
    when: 'WRONG_PERFORMANCE comes before WRONG_DOOR',
    finding: saturday,
    entrance: forBalcony,
    verdict: 'WRONG_PERFORMANCE',
  },
  { when: 'WRONG_DOOR comes before NOT_YET', entrance: forBalcony, at: 0, verdict: 'WRONG_DOOR' },
  { when: 'WRONG_DOOR comes before OVER', entrance: forBalcony, at: ENDS_AT + 1, verdict: 'WRONG_DOOR' },
  { when: 'NOT_YET comes before ALREADY_ADMITTED', at: 0, presence: inside, verdict: 'NOT_YET' },
  { when: 'OVER comes before ALREADY_ADMITTED', at: ENDS_AT + 1, presence: inside, verdict: 'OVER' },
  { when: 'VOID comes before ALREADY_ADMITTED', finding: voided, presence: inside, verdict: 'VOID' },
  { when: 'FORGED comes before everything about a ticket', finding: 'FORGED', presence: inside, verdict: 'FORGED' },
];

describe('The verdict of an entry', () => {
  for (const { when, verdict, ...given } of entries) {
    it(`is ${verdict} when ${when}`, () => {
      const { finding = ticket, at = DOORS_AT + MINUTE, presence = outside, reentry = 'AFTER_EXIT' } = given;
      assert.equal(verdictOfEntry(finding, { ...entrance, ...given.entrance }, at, presence, reentry), verdict);
    });
  }
});

const exits: readonly {
  readonly when: string;
  readonly finding: ScanFinding;
  readonly presence: Presence;
  readonly verdict: Given;
}[] = [
  { when: 'the ticket is inside', finding: ticket, presence: inside, verdict: 'EXIT' },
  { when: 'the ticket is inside and void', finding: voided, presence: inside, verdict: 'EXIT' },
  { when: 'the ticket is inside and of another date', finding: saturday, presence: inside, verdict: 'EXIT' },
  { when: 'the ticket never entered', finding: ticket, presence: outside, verdict: 'NOT_INSIDE' },
  { when: 'the ticket has left', finding: ticket, presence: left, verdict: 'NOT_INSIDE' },
  { when: 'the ticket is void and not inside', finding: voided, presence: outside, verdict: 'NOT_INSIDE' },
  { when: 'a code is of another event', finding: 'WRONG_EVENT', presence: inside, verdict: 'WRONG_EVENT' },
  { when: 'a code is forged', finding: 'FORGED', presence: outside, verdict: 'FORGED' },
  { when: 'no code was read', finding: 'UNKNOWN', presence: outside, verdict: 'UNKNOWN' },
  { when: 'the key is not known', finding: 'CANNOT_TELL', presence: inside, verdict: 'CANNOT_TELL' },
];

describe('The verdict of an exit', () => {
  for (const { when, finding, presence, verdict } of exits) {
    it(`is ${verdict} when ${when}`, () => assert.equal(verdictOfExit(finding, presence), verdict));
  }
});

const own = { at: DOORS_AT, stationId: 'north', isUndone: false };

const undos: readonly {
  readonly when: string;
  readonly undo: { readonly at: number; readonly stationId: string | null };
  readonly undone: typeof own | null;
  readonly verdict: Given;
}[] = [
  {
    when: 'the station made the scan just now',
    undo: { at: DOORS_AT, stationId: 'north' },
    undone: own,
    verdict: 'UNDONE',
  },
  {
    when: 'ten minutes are between the two',
    undo: { at: DOORS_AT + 10 * MINUTE, stationId: 'north' },
    undone: own,
    verdict: 'UNDONE',
  },
  {
    when: 'a millisecond more is',
    undo: { at: DOORS_AT + 10 * MINUTE + 1, stationId: 'north' },
    undone: own,
    verdict: 'NOT_UNDOABLE',
  },
  {
    when: 'another station made it',
    undo: { at: DOORS_AT, stationId: 'south' },
    undone: own,
    verdict: 'NOT_UNDOABLE',
  },
  {
    when: 'no entry or exit has that id',
    undo: { at: DOORS_AT, stationId: 'north' },
    undone: null,
    verdict: 'NOT_UNDOABLE',
  },
  {
    when: 'it is undone already',
    undo: { at: DOORS_AT, stationId: 'north' },
    undone: { ...own, isUndone: true },
    verdict: 'NOT_UNDOABLE',
  },
  {
    when: 'an operator undoes it by hand, an hour after',
    undo: { at: DOORS_AT + 60 * MINUTE, stationId: null },
    undone: own,
    verdict: 'UNDONE',
  },
];

describe('The verdict of an UNDO', () => {
  for (const { when, undo, undone, verdict } of undos) {
    it(`is ${verdict} when ${when}`, () => assert.equal(verdictOfUndo(undo, undone), verdict));
  }
});

describe('What an entry should have been refused for', () => {
  it('never asks who is inside', () => {
    assert.equal(unfitFor(ticket, entrance, DOORS_AT), null);
    assert.equal(unfitFor(voided, entrance, DOORS_AT), 'VOID');
    assert.equal(unfitFor(ticket, entrance, ENDS_AT + 1), 'OVER');
  });
});

describe('What a scan counts as', () => {
  it('is its verdict where the station gave none', () => {
    assert.equal(outcomeOf({ verdict: 'NOT_YET', given: null }), 'NOT_YET');
    assert.ok(hasHappened({ kind: 'ENTRY', verdict: 'ADMIT', given: null }));
    assert.ok(!hasHappened({ kind: 'ENTRY', verdict: 'VOID', given: null }));
  });

  it('is what the station gave, whatever the service would have said', () => {
    assert.ok(hasHappened({ kind: 'ENTRY', verdict: 'VOID', given: 'ADMIT' }));
    assert.ok(hasHappened({ kind: 'EXIT', verdict: 'NOT_INSIDE', given: 'EXIT' }));
    assert.ok(hasHappened({ kind: 'UNDO', verdict: 'NOT_UNDOABLE', given: 'UNDONE' }));
  });

  it('is a refusal where the station let nobody in, also after an ADMIT of the service', () => {
    assert.ok(!hasHappened({ kind: 'ENTRY', verdict: 'ADMIT', given: 'CANNOT_TELL' }));
    assert.equal(outcomeOf({ verdict: 'ADMIT', given: 'CANNOT_TELL' }), 'CANNOT_TELL');
  });

  it('fits its kind: every verdict fits one, and no verdict of one kind another', () => {
    const kindsOf = (given: Given): string => SCAN_KINDS.filter((kind) => fitsKind(kind, given)).join(' ');
    const expected: Readonly<Record<string, string>> = {
      ADMIT: 'ENTRY',
      UNDONE: 'UNDO',
      NOT_UNDOABLE: 'UNDO',
      EXIT: 'EXIT',
      NOT_INSIDE: 'EXIT',
      ID_REUSED: 'ENTRY EXIT UNDO',
      CANNOT_TELL: 'ENTRY EXIT',
      UNKNOWN: 'ENTRY EXIT',
      FORGED: 'ENTRY EXIT',
      WRONG_EVENT: 'ENTRY EXIT',
    };
    for (const given of GIVEN) assert.equal(kindsOf(given), expected[given] ?? 'ENTRY', given);
    assert.equal(VERDICTS.length, 15);
  });
});

const encode = (claims: unknown): string => Buffer.from(JSON.stringify(claims)).toString('base64url');
const signature = 'A'.repeat(86);

describe('A code', () => {
  it('is two base64url parts, the second of 86 characters, the first JSON with ticket_id', () => {
    const code = readCode(
      `${encode({ ticket_id: 't', event_id: 'e', kid: 'k', ticket_type_id: 'floor' })}.${signature}`,
    );
    assert.equal(code?.ticketId, 't');
    assert.equal(code.eventId, 'e');
    assert.equal(code.keyId, 'k');
    assert.equal(code.ticketTypeId, 'floor');
    assert.equal(code.performanceId, null);
    assert.equal(code.signature, signature);
  });

  it('is JSON in UTF-8', () => {
    const payload = encode({ ticket_id: 'k\u00e4\u20ac\u{1f39f}' });
    assert.deepEqual(readCode(`${payload}.${signature}`), {
      ...{ payload, signature, ticketId: 'k\u00e4\u20ac\u{1f39f}' },
      ...{ eventId: null, performanceId: null, seatId: null, ticketTypeId: null, keyId: null },
    });
  });

  it('is nothing else', () => {
    const good = encode({ ticket_id: 't' });
    const others = [
      '',
      good,
      `${good}.${signature}A`,
      `${good}.${signature.slice(1)}`,
      `${good}.${signature}.x`,
      `.${signature}`,
      `${encode({ ticket: 't' })}.${signature}`,
      `${encode({ ticket_id: 1 })}.${signature}`,
      `${encode(null)}.${signature}`,
      `${encode('x')}.${signature}`,
      `abcde.${signature}`,
      `${Buffer.from([0xff, 0xfe]).toString('base64url')}.${signature}`,
      `${good}=.${signature}`,
      'https://example.com/vcard/4711',
    ];
    for (const text of others) assert.equal(readCode(text), null, text);
  });

  it('is never an error, whatever was read', () => {
    fc.assert(fc.property(anyText({ maxLength: 300 }), (text) => readCode(text) === null));
  });
});

describe('The digest of a ticket', () => {
  it('is the first 12 characters of the base64url SHA-256 of its id', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 200 }), (text) => {
        const hash = (): ReturnType<typeof createHash> => createHash('sha256').update(text.toWellFormed());
        assert.equal(ticketDigest(text), hash().digest('base64url').slice(0, 12));
        assert.equal(sha256Hex(text), hash().digest('hex'));
      }),
    );
  });
});
