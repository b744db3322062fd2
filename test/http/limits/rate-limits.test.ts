/** The limits by client address: on changes, joins, wrong tokens and unknown codes; and which address counts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientAddresses, readTrustProxy } from '#http/protocol/client-address.ts';
import { createRateWindow } from '#http/limits/rate-limits.ts';
import { LIMITS } from '#service/limits.ts';
import { fc } from '../../property.ts';
import { ADMIN_TOKEN, clubHold, openApps, type Apps } from '../apps.ts';

const HOLDS = '/api/checkout/holds';
const MINUTE = 60_000;

interface Hops {
  readonly trust: string;
  readonly socket?: string;
  readonly forwarded?: string;
}

function counted({ trust, socket = '10.0.0.1', forwarded }: Hops): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return clientAddresses(readTrustProxy(trust)!)({ headers, raw: { socket: { remoteAddress: socket } } });
}

describe('The address that a request counts for', () => {
  it('is the one of the socket where no proxy is trusted', () => {
    assert.equal(counted({ trust: 'false', forwarded: '192.0.2.1' }), '10.0.0.1');
    assert.equal(counted({ trust: '0', forwarded: '192.0.2.1' }), '10.0.0.1');
  });

  it('is the one that the first of the trusted proxies saw, whatever the client wrote before it', () => {
    assert.equal(counted({ trust: '1', forwarded: '192.0.2.1' }), '192.0.2.1');
    assert.equal(counted({ trust: '1', forwarded: '203.0.113.9, 192.0.2.1' }), '192.0.2.1');
    assert.equal(counted({ trust: '2', forwarded: '203.0.113.9, 192.0.2.1, 10.0.0.2' }), '192.0.2.1');
    assert.equal(counted({ trust: '2', forwarded: '192.0.2.1' }), '192.0.2.1', 'fewer hops than proxies');
    assert.equal(counted({ trust: '1' }), '10.0.0.1');
  });

  it('is the last one that is not a trusted proxy', () => {
    const trust = '10.0.0.0/8, 2001:db8:ffff::/48';
    assert.equal(counted({ trust, forwarded: '203.0.113.9, 192.0.2.1, 10.0.0.2' }), '192.0.2.1');
    assert.equal(counted({ trust, socket: '192.0.2.7', forwarded: '203.0.113.9' }), '192.0.2.7', 'not past a stranger');
    assert.equal(counted({ trust, socket: '::ffff:10.0.0.1', forwarded: '203.0.113.9' }), '203.0.113.9');
    assert.equal(counted({ trust, socket: '2001:db8:ffff::1', forwarded: '203.0.113.9, 10.1.1.1:443' }), '203.0.113.9');
    assert.equal(counted({ trust, forwarded: '10.0.0.3, 10.0.0.2' }), '10.0.0.3', 'a client beside the proxies');
  });

  it('is never a text that is not an address', () => {
    for (const odd of ['not an address', '', 'unknown', '192.0.2', 'a'.repeat(5_000), '192.0.2.1 192.0.2.2']) {
      assert.equal(counted({ trust: '1', forwarded: odd }), '10.0.0.1', odd);
      assert.equal(counted({ trust: '1', forwarded: `192.0.2.1, ${odd}` }), '10.0.0.1', odd);
    }
  });

  it('is the /64 of an IPv6 client, and the IPv4 address where it is written as IPv6', () => {
    const of = (forwarded: string): string => counted({ trust: '1', forwarded });
    assert.equal(of('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
    assert.equal(of('2001:db8:1:2::9'), of('2001:db8:1:2:ffff::'));
    assert.notEqual(of('2001:db8:1:2::9'), of('2001:db8:1:3::9'));
    assert.equal(of('fe80::1%eth0'), 'fe80:0:0:0::/64');
    assert.equal(of('::1'), '0:0:0:0::/64');
    for (const same of ['::ffff:192.0.2.9', '::FFFF:c000:209', '[::ffff:192.0.2.9]:443', '192.0.2.9:1024']) {
      assert.equal(of(same), '192.0.2.9', same);
    }
    assert.equal(of('[2001:db8:1:2::9]:443'), '2001:db8:1:2::/64');
  });
});

describe('Any X-Forwarded-For', () => {
  const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).map((bytes) => bytes.join('.'));
  const entry = fc.oneof(
    octets,
    fc.ipV6(),
    fc.ipV6().map((address) => `[${address}]:443`),
    fc.string(),
  );
  const header = fc.array(entry, { maxLength: 6 }).map((entries) => entries.join(','));

  it('gives an address, and what a client writes before the proxies’ own entries changes nothing', () => {
    fc.assert(
      fc.property(header, header, fc.nat(3), (written, added, hops) => {
        for (const trust of [String(hops), '10.0.0.0/8, fd00::/8']) {
          const address = counted({ trust, forwarded: added });
          assert.match(address, /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-f]{1,4}(:[0-9a-f]{1,4}){3}::\/64)$/);
        }
        const proxied = Array.from({ length: hops }, (_, hop) => `192.0.2.${hop + 1}`).join(', ');
        const alone = counted({ trust: String(hops), forwarded: proxied });
        assert.equal(counted({ trust: String(hops), forwarded: `${written}, ${proxied}` }), alone);
      }),
    );
  });
});

describe('A window of a minute', () => {
  it('begins with the first that is counted, and ends by itself', () => {
    const clock = { ms: 1_000, now: () => clock.ms };
    const window = createRateWindow({ perMinuteMax: 2, keysMax: 10 }, clock);
    assert.deepEqual(window.count('a'), { isOver: false, left: 1, secondsLeft: 60 });
    clock.ms += MINUTE - 500;
    assert.deepEqual(window.count('a'), { isOver: false, left: 0, secondsLeft: 1 });
    assert.equal(window.count('a').isOver, true);
    assert.equal(window.read('a').isOver, true);
    assert.equal(window.read('b').isOver, false);
    clock.ms += 500;
    assert.equal(window.read('a').isOver, false);
    assert.equal(window.count('a', 3).isOver, true);
    clock.ms -= 10 * MINUTE;
    assert.equal(window.read('a').isOver, false, 'a clock that was set back locks nobody out');
  });

  it('drops the key that was counted longest ago when there are too many keys', () => {
    const window = createRateWindow({ perMinuteMax: 1, keysMax: 2 }, { now: () => 0 });
    for (const key of ['a', 'a', 'b', 'b', 'c', 'c']) window.count(key);
    assert.deepEqual(
      ['a', 'b', 'c'].map((key) => window.read(key).isOver),
      [false, true, true],
    );
  });
});

/** Places a hold by way of these hops. */
const placeAs = ({ app }: Apps, forwarded: string) =>
  app.inject({ method: 'POST', url: HOLDS, headers: { 'x-forwarded-for': forwarded }, payload: clubHold() });

describe('The rate limit', () => {
  it('counts changes by client address and answers with Retry-After', async () => {
    const apps = await openApps({ rateLimitPerMinute: 2, trustProxy: 1 });
    const place = (forwarded: string) => placeAs(apps, forwarded);
    assert.equal((await place('192.0.2.1')).statusCode, 201);
    const second = await place('192.0.2.1');
    assert.equal(second.statusCode, 201);
    assert.equal(second.headers['x-ratelimit-remaining'], '0');
    const third = await place('192.0.2.1');
    assert.equal(third.statusCode, 429);
    assert.equal(third.json<{ code: string }>().code, 'RATE_LIMITED');
    assert.equal(third.headers['retry-after'], '60');
    assert.equal((await place('198.51.100.7, 192.0.2.1')).statusCode, 429, 'an invented hop is no new client');
    assert.equal(
      (await place('192.0.2.1, 192.0.2.2')).statusCode,
      201,
      'nor is anybody locked out in whose name one calls',
    );
    for (let n = 0; n < 5; n += 1) assert.equal((await apps.app.inject('/api/events/public')).statusCode, 200);
    apps.clock.ms += MINUTE;
    assert.equal((await place('192.0.2.1')).statusCode, 201);
    await apps.close();
  });

  it('counts neither the reports of payment providers nor the sandbox', async () => {
    const apps = await openApps({ rateLimitPerMinute: 1 });
    const statusOf = async (url: string): Promise<number> =>
      (await apps.app.inject({ method: 'POST', url, payload: {} })).statusCode;
    const statuses: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      statuses.push(await statusOf('/api/payments/webhooks/provider_a'));
      statuses.push(await statusOf('/sandbox/payments/cs_1_unknown'));
    }
    assert.ok(!statuses.includes(429), statuses.join());
    assert.equal((await apps.app.inject({ method: 'POST', url: HOLDS, payload: clubHold() })).statusCode, 201);
    assert.equal(await statusOf(HOLDS), 429);
    await apps.close();
  });

  it('ignores X-Forwarded-For where no proxy is trusted', async () => {
    const apps = await openApps({ rateLimitPerMinute: 1 });
    const place = (forwarded: string) => placeAs(apps, forwarded);
    assert.equal((await place('192.0.2.1')).statusCode, 201);
    assert.equal((await place('192.0.2.2')).statusCode, 429);
    await apps.close();
  });
});

describe('The limits of a client', () => {
  const join = (apps: Apps, forwarded: string, session: number) =>
    apps.app.inject({
      method: 'POST',
      url: '/api/checkout/queue',
      headers: { 'x-forwarded-for': forwarded },
      payload: { event_id: 'evt_rush', session_key: `session-${session}` },
    });
  const joins = async (apps: Apps, address: (n: number) => string): Promise<number[]> => {
    const statuses: number[] = [];
    for (let n = 0; n < 31; n += 1) statuses.push((await join(apps, address(n), n)).statusCode);
    return statuses;
  };

  it('are 30 joins of waiting rooms a minute by default; an IPv6 client counts by its /64', async () => {
    const apps = await openApps({ trustProxy: 1 }, ['lighthouse-rush']);
    for (const address of [() => '192.0.2.1', (n: number) => `2001:db8:1:2:${n.toString(16)}::1`]) {
      const statuses = await joins(apps, address);
      assert.deepEqual([statuses.indexOf(429), statuses.length], [30, 31], address(0));
    }
    const refused = await join(apps, '192.0.2.1', 1);
    assert.deepEqual([refused.json<{ code: string }>().code, refused.headers['retry-after']], ['RATE_LIMITED', '60']);
    assert.equal((await join(apps, '192.0.2.2', 1)).statusCode, 200, 'another client goes on');
    apps.clock.ms += MINUTE;
    assert.notEqual((await join(apps, '192.0.2.1', 1)).statusCode, 429);
    await apps.close();
  });

  it('do not count clients of the loopback, and are off with CLIENT_LIMITS=off', async () => {
    for (const [settings, address] of [
      [{ trustProxy: 1 }, '127.0.0.1'],
      [{ trustProxy: 1 }, '::1'],
      // A proxy on this machine whose clients cannot be told apart.
      [{}, '192.0.2.1'],
      [{ trustProxy: 1, clientLimits: false }, '192.0.2.1'],
    ] as const) {
      const apps = await openApps(settings, ['lighthouse-rush']);
      assert.ok(!(await joins(apps, () => address)).includes(429), `${JSON.stringify(settings)} ${address}`);
      await apps.close();
    }
  });
});

describe('The admin token', () => {
  const read = (apps: Awaited<ReturnType<typeof openApps>>, token: string, forwarded: string) =>
    apps.admin.inject({
      url: '/admin/events',
      headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': forwarded },
    });

  it('after ten wrong ones in a minute is answered 429 to that address, and the right one always passes', async () => {
    const apps = await openApps({ trustProxy: 1 });
    const guess = (n: number, forwarded = '192.0.2.1') => read(apps, `guess-number-${n}-of-many`, forwarded);
    for (let n = 0; n < 10; n += 1) assert.equal((await guess(n)).statusCode, 401);
    const eleventh = await guess(11);
    assert.equal(eleventh.statusCode, 429);
    assert.equal(eleventh.json<{ code: string }>().code, 'RATE_LIMITED');
    assert.equal(eleventh.headers['retry-after'], '60');
    assert.equal((await guess(12, '192.0.2.2')).statusCode, 401, 'another address has guesses of its own');
    assert.equal((await read(apps, ADMIN_TOKEN, '192.0.2.1')).statusCode, 200);
    assert.equal((await guess(13)).statusCode, 429);
    apps.clock.ms += MINUTE;
    assert.equal((await guess(14)).statusCode, 401);
    await apps.close();
  });

  it('is required with 401 however often none is sent', async () => {
    const apps = await openApps();
    for (let n = 0; n < 15; n += 1) assert.equal((await apps.admin.inject('/admin/events')).statusCode, 401);
    await apps.close();
  });

  it('has one limit over all operators’ routes together, and a limited number of addresses is counted', async () => {
    const apps = await openApps({
      trustProxy: 1,
      limits: { ...LIMITS, wrongTokensPerMinuteMax: 1, rateLimitedAddressesMax: 2 },
    });
    const guess = async (url: string, forwarded: string) =>
      (await apps.admin.inject({ url, headers: { authorization: 'Bearer wrong', 'x-forwarded-for': forwarded } }))
        .statusCode;
    assert.deepEqual(
      [await guess('/admin/events', '192.0.2.1'), await guess('/admin/journal', '192.0.2.1')],
      [401, 429],
    );
    for (const other of ['192.0.2.2', '192.0.2.3']) assert.equal(await guess('/admin/events', other), 401);
    assert.equal(await guess('/admin/events', '192.0.2.1'), 401, 'forgotten, not kept for ever');
    await apps.close();
  });
});

describe('Codes that do not exist', () => {
  const guesser = async (settings: Parameters<typeof openApps>[0] = {}) => {
    const apps = await openApps({ trustProxy: 1, ...settings }, ['club-night', 'theatre-run']);
    let starts = 0;
    const start = (
      codes: { promo_code?: string; discount_code?: string },
      forwarded = '192.0.2.1',
      eventId = 'evt_club',
    ) => {
      starts += 1;
      const item = {
        ticket_type_id: 'single',
        selling_stage_id: 'regular',
        quantity: 1,
        discount_code: codes.discount_code,
      };
      return apps.app.inject({
        method: 'POST',
        url: '/api/checkout/start',
        headers: { 'x-forwarded-for': forwarded },
        payload: {
          event_id: eventId,
          items: [item],
          promo_code: codes.promo_code,
          customer: { email: `buyer-${starts}@example.com`, name: 'Ada' },
          accept_terms: true,
        },
      });
    };
    const codeOf = async (answer: ReturnType<typeof start>) => {
      const { statusCode, json } = await answer;
      return statusCode === 201 ? 201 : json<{ code: string }>().code;
    };
    return { apps, start, codeOf };
  };

  it('are answered 429 from the 21st in a minute on, for that address and event alone', async () => {
    const { apps, start, codeOf } = await guesser();
    for (let n = 0; n < 20; n += 1) {
      const named = n % 2 === 0 ? { promo_code: `GUESS${n}` } : { discount_code: `GUESS${n}` };
      assert.equal(await codeOf(start(named)), 'PROMO_CODE_INVALID');
    }
    const answer = await start({ promo_code: 'GUESS20' });
    assert.equal(answer.statusCode, 429);
    assert.equal(answer.json<{ code: string }>().code, 'RATE_LIMITED');
    assert.equal(answer.headers['retry-after'], '60');
    assert.equal(await codeOf(start({ promo_code: 'NIGHTOWL' })), 'RATE_LIMITED', 'a good one is no longer told apart');
    assert.equal(await codeOf(start({})), 201, 'buyers without a code go on');
    assert.equal(await codeOf(start({ promo_code: 'NIGHTOWL' }, '192.0.2.2')), 201);
    assert.equal(await codeOf(start({ promo_code: 'GUESS' }, '192.0.2.1', 'evt_theatre')), 'PERFORMANCE_REQUIRED');
    apps.clock.ms += MINUTE;
    assert.equal(await codeOf(start({ promo_code: 'NIGHTOWL' })), 201);
    await apps.close();
  });

  it('are all counted when they are sent concurrently, and when many are in one request', async () => {
    const { apps, start, codeOf } = await guesser();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => codeOf(start({ promo_code: `GUESS${n}` }))));
    assert.equal(answers.filter((code) => code === 'PROMO_CODE_INVALID').length, 20);
    assert.equal(answers.filter((code) => code === 'RATE_LIMITED').length, 30);
    const both = (n: number) => codeOf(start({ promo_code: `A${n}`, discount_code: `B${n}` }, '192.0.2.9'));
    for (let n = 0; n < 10; n += 1) assert.equal(await both(n), 'PROMO_CODE_INVALID');
    assert.equal(await both(10), 'RATE_LIMITED');
    await apps.close();
  });

  it('are forgotten when more addresses send them than can be counted', async () => {
    const limits = { ...LIMITS, rateLimitedAddressesMax: 2, guessesPerMinuteMax: 1 };
    const { apps, start, codeOf } = await guesser({ limits });
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1']) {
      assert.equal(await codeOf(start({ promo_code: 'GUESS' }, address)), 'PROMO_CODE_INVALID');
    }
    assert.equal(await codeOf(start({ promo_code: 'GUESS' })), 'RATE_LIMITED');
    await apps.close();
  });
});

describe('The cap on tickets of an e-mail address', () => {
  it('refuses 20 times a minute; then that address starts no checkout of the event, and learns nothing of others', async () => {
    const apps = await openApps({ trustProxy: 1 }, ['club-night', 'theatre-run']);
    const codeOf = async (email: string, quantity: number, from = '192.0.2.1') => {
      const item = { ticket_type_id: 'single', selling_stage_id: 'regular', quantity };
      const { statusCode, headers, json } = await apps.app.inject({
        method: 'POST',
        url: '/api/checkout/start',
        headers: { 'x-forwarded-for': from },
        payload: { event_id: 'evt_club', items: [item], customer: { email, name: 'Ada' }, accept_terms: true },
      });
      if (statusCode === 429) assert.ok(Number(headers['retry-after']) > 0);
      return statusCode === 201 ? 201 : json<{ code: string }>().code;
    };
    for (const times of [1, 2, 3]) assert.equal(await codeOf('ada@example.com', 8), 201, `${times} of three orders`);
    const over = () => codeOf('ada@example.com', 1);
    const refusals = await Promise.all(Array.from({ length: 20 }, over));
    assert.deepEqual(new Set(refusals), new Set(['MAX_TICKETS_PER_EMAIL_EXCEEDED']));
    assert.equal(await codeOf('bob@example.com', 1), 201);
    assert.deepEqual([await over(), await codeOf('eve@example.com', 1)], ['RATE_LIMITED', 'RATE_LIMITED']);
    assert.equal(await codeOf('eve@example.com', 1, '192.0.2.2'), 201);
    apps.clock.ms += MINUTE;
    assert.equal(await codeOf('eve@example.com', 1), 201);
    await apps.close();
  });
});
