/** What the console reads, asked for without a browser: the overview, seats of drafts, and what happened last. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { OverviewBody } from '#http/schemas/console.ts';
import type { JournalFactBody } from '#http/schemas/journal.ts';
import type { Json } from '../fixtures/client.ts';
import { sample } from '../fixtures/events.ts';
import { openService, type TestService } from '../fixtures/service.ts';

interface JournalBody {
  readonly facts: readonly JournalFactBody[];
  readonly next_before: number | null;
}

describe('The console’s desk', () => {
  let house: TestService;

  before(async () => {
    house = await openService({ environment: { LIVE_EVENTS_MAX: '1' } });
    const theatre = sample('theatre-run');
    const dates = theatre['performances'] as readonly Json[];
    await house.define({
      ...theatre,
      performances: dates.map((date, n) => (n === 1 ? { ...date, status: 'DRAFT' } : date)),
    });
    await house.define(sample('lighthouse-rush'));
    await house.define(sample('club-night'));
    await hold('first-of-many');
  });
  after(() => house.close());

  const hold = (sessionKey: string) =>
    house.call('POST', '/api/checkout/holds', {
      body: {
        event_id: 'evt_club',
        session_key: sessionKey,
        items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 2 }],
      },
    });

  const overview = async () => {
    const answer = await house.operate<OverviewBody>('GET', '/admin/overview');
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.events;
  };
  const journal = async (query = '') => (await house.operate<JournalBody>('GET', `/admin/journal${query}`)).body;
  const awake = () => house.internals.engine.directory.awakeCount;

  it('shows every event, and lets those sleep that sleep', async () => {
    assert.equal((await overview()).length, 3);
    await hold('second-of-many');
    const before = awake();
    const events = await overview();
    assert.equal(awake(), before);
    const club = events.find(({ id }) => id === 'evt_club')!;
    assert.deepEqual([club.asleep, club.performances[0]!.held], [false, 4]);
    const asleep = events.filter((event) => event.asleep);
    assert.equal(asleep.length, 3 - before);
    for (const { performances } of asleep) assert.ok(performances[0]!.capacity > 0);
  });

  it('shows the seats of a draft date, and blocks them before buyers see any', async () => {
    const seats = '/admin/events/evt_theatre/performances/saturday/seats';
    const blocked = await house.operate('POST', seats, { body: { seat_ids: ['stalls-F-1'], action: 'block' } });
    assert.equal(blocked.status, 200);
    const { status, body } = await house.operate('GET', seats);
    assert.deepEqual([status, body['blocked']], [200, ['stalls-F-1']]);
    const changes = (await house.operate('GET', `${seats}?since=0`)).body['changes'];
    assert.deepEqual(changes, [{ id: 'stalls-F-1', state: 'BLOCKED' }]);
    const occupancy = '/api/events/public/the-glass-orchard/seating/occupancy?performance_id=saturday';
    assert.equal((await house.call('GET', occupancy)).body['code'], 'PERFORMANCE_NOT_FOUND');
    const nowhere = seats.replace('saturday', 'never');
    assert.equal((await house.operate('GET', nowhere)).body['code'], 'PERFORMANCE_NOT_FOUND');
  });

  it('tells what happened last, the newest first, without what opens doors', async () => {
    const { facts } = await journal('?event_id=evt_club&limit=2');
    assert.deepEqual(
      facts.map(({ type }) => type),
      ['HoldPlaced', 'HoldPlaced'],
    );
    assert.ok(facts[0]!.seq > facts[1]!.seq);
    const everything = JSON.stringify(await journal('?limit=200'));
    assert.match(everything, /\*\*\*/);
    assert.doesNotMatch(everything, /of-many|"seed\\":\\"[0-9a-f]/);
  });

  it('goes back page by page to the first fact', async () => {
    const seqs: number[] = [];
    let before: number | null = null;
    do {
      const page: JournalBody = await journal(before === null ? '?limit=2' : `?limit=2&before=${before}`);
      seqs.push(...page.facts.map(({ seq }) => seq));
      before = page.next_before;
    } while (before !== null);
    assert.deepEqual(
      seqs,
      Array.from({ length: seqs[0]! }, (_, n) => seqs[0]! - n),
    );
  });

  it('is open to nobody without the token, and kept by no cache', async () => {
    for (const path of ['/admin/overview', '/admin/journal']) {
      const { status, headers } = await fetch(house.adminUrl + path);
      assert.deepEqual([status, headers.get('cache-control')], [401, 'no-store']);
      assert.equal((await house.operate('GET', path)).headers.get('cache-control'), 'no-store');
    }
  });
});
