/** Many requests at the same moment: nothing is held or sold twice. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { EventBody } from '#http/buyers/events/schema.ts';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { OccupancyBody } from '#http/buyers/seating.ts';
import { audit } from '../fixtures/checks.ts';
import { as, HOLDS, newSession, type Answer, type ItemRequest } from '../fixtures/client.ts';
import { clubNight, floor, seat, theatreRun } from '../fixtures/events.ts';
import { MINUTE, serviceWith } from '../fixtures/service.ts';

const SESSIONS = 1_000;

const service = serviceWith([clubNight(), theatreRun()]);
beforeEach(() => service.wait(60 * MINUTE));

interface Try {
  readonly session: string;
  readonly answer: Answer<HoldBody>;
}

/** Many sessions that all request these items at once. */
function rush(eventId: string, items: (n: number) => readonly ItemRequest[], count = SESSIONS): Promise<Try[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const session = newSession();
      const body = { event_id: eventId, session_key: session, items: items(n) };
      return { session, answer: await service.post<HoldBody>(HOLDS, body) };
    }),
  );
}

function won(tries: readonly Try[]): Try[] {
  return tries.filter(({ answer }) => answer.status === 201);
}

function codesOfLosers(tries: readonly Try[]): string[] {
  const losers = tries.filter(({ answer }) => answer.status !== 201);
  return [...new Set(losers.map(({ answer }) => (answer.body as unknown as { code: string }).code))];
}

describe('A thousand parallel requests', () => {
  it('for the last 10 tickets: exactly 10 sessions get one', async () => {
    await service.hold({ session_key: newSession(), items: [floor(90)] });
    const tries = await rush('evt_club', () => [floor(1)]);
    assert.equal(won(tries).length, 10);
    assert.deepEqual(codesOfLosers(tries), ['INSUFFICIENT_TICKETS']);
    const { held, available } = (await audit(service, 'evt_club')).get('night')!;
    assert.deepEqual([held, available], [100, 0]);
    const { body } = await service.get<EventBody>('/api/events/public/club-night');
    assert.deepEqual([body.ticketAvailability[0]!.available, body.ticketAvailability[0]!.reserved], [0, 100]);
  });

  it('for the same seat: exactly one session gets it', async () => {
    const tries = await rush('evt_play', () => [seat('stalls', 'fri', 1, { seat_ids: ['S-A-5'] })]);
    assert.equal(won(tries).length, 1);
    assert.deepEqual(codesOfLosers(tries), ['SEAT_TAKEN']);
    const { body } = await service.get<OccupancyBody>(
      '/api/events/public/the-play/seating/occupancy?performance_id=fri',
    );
    assert.deepEqual(body.held, ['S-A-5']);
    assert.equal((await audit(service, 'evt_play')).get('fri')!.held, 1);
  });

  it('for the best seats: each seat is held once, and every seat that can be assigned is held', async () => {
    const tries = await rush('evt_play', (n) => [seat('stalls', 'fri', 1 + (n % 2))], 300);
    const seats = won(tries).flatMap(({ answer }) => answer.body.items[0]!.seat_ids);
    assert.equal(new Set(seats).size, seats.length);
    assert.equal(seats.length, 22, 'all but the wheelchair places');
    assert.equal((await audit(service, 'evt_play')).get('fri')!.held, 22);
  });

  it('over two performances: all or nothing for each of them', async () => {
    const tries = await rush(
      'evt_play',
      (n) => [seat('standing', 'fri', 1), seat('standing', 'sat', 1 + (n % 2))],
      300,
    );
    const performances = await audit(service, 'evt_play');
    const lines = won(tries).map(({ answer }) => answer.body.items.map((item) => item.ticket_count));
    assert.equal(performances.get('fri')!.held, lines.length);
    assert.equal(
      performances.get('sat')!.held,
      lines.reduce((sum, [, saturday]) => sum + saturday!, 0),
    );
    assert.equal(performances.get('sat')!.held, 20);
  });

  it('of one session leave one ACTIVE hold', async () => {
    const session = newSession();
    const body = { event_id: 'evt_club', session_key: session, items: [floor(2)] };
    const answers = await Promise.all(Array.from({ length: 200 }, () => service.post<HoldBody>(HOLDS, body)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    const read = await Promise.all(
      answers.map((answer) => service.get<HoldBody>(`${HOLDS}/${answer.body.id}`, as(session))),
    );
    const statuses = read.map((answer) => answer.body.status);
    assert.equal(statuses.filter((status) => status === 'ACTIVE').length, 1);
    assert.equal(statuses.filter((status) => status === 'RELEASED').length, 199);
    assert.equal((await audit(service, 'evt_club')).get('night')!.held, 2);
  });
});

describe('Many sessions that place and release holds', () => {
  it('leave counters that add up after every round', async () => {
    const sessions = Array.from({ length: 60 }, () => newSession());
    const holds = new Map<string, HoldBody>();
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(
        sessions.map(async (session, n) => {
          const known = holds.get(session);
          const turn = (n + round) % 3;
          if (known === undefined || turn === 0) {
            const items = [seat('stalls', n % 2 === 0 ? 'fri' : 'sat', 1 + (n % 3)), seat('standing', 'fri', 1)];
            const body = { event_id: 'evt_play', session_key: session, items };
            const answer = await service.post<HoldBody>(HOLDS, body);
            if (answer.status === 201) holds.set(session, answer.body);
          } else if (turn === 1) {
            const { performance_id: date } = known.items[0]!;
            const items = [seat(known.items[0]!.ticket_type_id, date, 1 + (round % 2))];
            const answer = await service.patch<HoldBody>(`${HOLDS}/${known.id}`, { items }, as(session));
            if (answer.status === 200) holds.set(session, answer.body);
          } else {
            await service.delete(`${HOLDS}/${known.id}`, as(session));
            holds.delete(session);
          }
        }),
      );
      const performances = await audit(service, 'evt_play');
      for (const date of ['fri', 'sat']) {
        const mine = [...holds.values()]
          .flatMap(({ items }) => items)
          .filter((item) => item.performance_id === date)
          .reduce((sum, item) => sum + item.ticket_count, 0);
        assert.equal(performances.get(date)!.held, mine, `round ${round}, ${date}`);
      }
    }
  });
});
