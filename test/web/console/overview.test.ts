/** The answers that the console reads: the overview, the seats of drafts, and the latest facts of the journal. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { OverviewBody } from '#http/operators/console.ts';
import type { JournalFactBody } from '#http/operators/journal.ts';
import type { Json } from '../../fixtures/client.ts';
import { sample } from '../../fixtures/events.ts';
import { openService, type TestService } from '../../fixtures/service.ts';

interface JournalBody {
  readonly facts: readonly JournalFactBody[];
  readonly next_before: number | null;
}

describe('The operators’ API for the console', () => {
  let service: TestService;

  before(async () => {
    service = await openService({ environment: { LIVE_EVENTS_MAX: '1' } });
    const theatre = sample('theatre-run');
    const performances = theatre['performances'] as readonly Json[];
    await service.define({
      ...theatre,
      performances: performances.map((performance, n) => (n === 1 ? { ...performance, status: 'DRAFT' } : performance)),
    });
    await service.define(sample('lighthouse-rush'));
    await service.define(sample('club-night'));
    await hold('first-of-many');
  });
  after(() => service.close());

  const hold = (sessionKey: string) =>
    service.call('POST', '/api/checkout/holds', {
      body: {
        event_id: 'evt_club',
        session_key: sessionKey,
        items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 2 }],
      },
    });

  const overview = async () => {
    const answer = await service.operate<OverviewBody>('GET', '/admin/overview');
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.events;
  };
  const journal = async (query = '') => (await service.operate<JournalBody>('GET', `/admin/journal${query}`)).body;
  const countActive = () => service.internals.engine.events.actors.size;

  it('shows every event without activating those that are evicted', async () => {
    assert.equal((await overview()).length, 3);
    await hold('second-of-many');
    const before = countActive();
    const events = await overview();
    assert.equal(countActive(), before);
    const club = events.find(({ id }) => id === 'evt_club')!;
    assert.deepEqual([club.evicted, club.performances[0]!.held], [false, 4]);
    const evicted = events.filter((event) => event.evicted);
    assert.equal(evicted.length, 3 - before);
    for (const { performances } of evicted) assert.ok(performances[0]!.capacity > 0);
  });

  it('shows and blocks the seats of a DRAFT performance, which buyers do not see', async () => {
    const seats = '/admin/events/evt_theatre/performances/saturday/seats';
    const blocked = await service.operate('POST', seats, { body: { seat_ids: ['stalls-F-1'], action: 'block' } });
    assert.equal(blocked.status, 200);
    const { status, body } = await service.operate('GET', seats);
    assert.deepEqual([status, body['blocked']], [200, ['stalls-F-1']]);
    const changes = (await service.operate('GET', `${seats}?since=0`)).body['changes'];
    assert.deepEqual(changes, [{ id: 'stalls-F-1', state: 'BLOCKED' }]);
    const occupancy = '/api/events/public/the-glass-orchard/seating/occupancy?performance_id=saturday';
    assert.equal((await service.call('GET', occupancy)).body['code'], 'PERFORMANCE_NOT_FOUND');
    const unknown = seats.replace('saturday', 'never');
    assert.equal((await service.operate('GET', unknown)).body['code'], 'PERFORMANCE_NOT_FOUND');
  });

  it('lists the latest facts, the newest first, without secrets', async () => {
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

  it('lists all facts page by page, back to the first', async () => {
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

  it('answers 401 without the token, and no-store to caches', async () => {
    for (const path of ['/admin/overview', '/admin/journal']) {
      const { status, headers } = await fetch(service.adminUrl + path);
      assert.deepEqual([status, headers.get('cache-control')], [401, 'no-store']);
      assert.equal((await service.operate('GET', path)).headers.get('cache-control'), 'no-store');
    }
  });
});
