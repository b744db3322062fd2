/** Stations without a screen, at a real service: what they send, what they decide alone, and that nothing is lost. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ScanStation, type ShownScan } from '../../../src/web/door/app/station.ts';
import { stationRequests } from '../../../src/web/door/app/requests.ts';
import { signatureCheck } from '../../../src/web/door/app/check.ts';
import type { StationStore } from '../../../src/web/door/app/store.ts';
import {
  buyTickets,
  codesOf,
  countsOf,
  doorsGala,
  makeStation,
  newScanId,
  scanAll,
  scanOf,
} from '../../fixtures/doors.ts';
import { gala } from '../../fixtures/events.ts';
import { serviceWith, type TestService } from '../../fixtures/service.ts';
import { MINUTE, SECOND } from '../../fixtures/test-service.ts';
import { readCode } from '#client/doors/code.ts';
import { mergeScans, type MergedScan } from '#client/doors/merging.ts';
import { verdictOfEntry, verdictOfExit, type Reentry } from '#client/doors/verdict.ts';
import { fc } from '../../property.ts';
import { memoryStore } from './memory-store.ts';

type Network = 'up' | 'cut' | 'answers lost' | 'busy' | 429 | 'silent';

class Device {
  readonly service: TestService;
  readonly store: StationStore;
  network: Network = 'up';
  requests: { readonly path: string; readonly body: string }[] = [];
  subtle: typeof crypto.subtle | undefined = crypto.subtle;
  station: ScanStation;

  constructor(service: TestService, store: StationStore = memoryStore()) {
    this.service = service;
    this.store = store;
    this.station = this.#page();
  }

  #page(): ScanStation {
    const send = (async (path: string, init: RequestInit) => {
      this.requests.push({ path, body: String(init.body ?? '') });
      if (this.network === 'busy') return new Response('{}', { status: 503 });
      if (this.network === 429) return new Response('{}', { status: 429 });
      if (this.network === 'cut') throw new TypeError('no network');
      if (this.network === 'silent') return new Promise((_, reject) => init.signal!.addEventListener('abort', reject));
      const answer = await fetch(new URL(path, this.service.publicUrl), init);
      if (this.network === 'answers lost') throw new TypeError('no answer');
      return answer;
    }) as typeof fetch;
    return new ScanStation({
      store: this.store,
      requests: stationRequests(send),
      checkSignature: signatureCheck(this.subtle),
      now: () => this.service.now() + 5 * MINUTE,
      newId: newScanId,
      version: 'test',
    });
  }

  /** Ends the page and opens it again. */
  async reload(): Promise<void> {
    this.station = this.#page();
    await this.station.open();
  }

  async reconnect(): Promise<void> {
    this.network = 'up';
    await this.station.refresh();
  }

  async scan(code: string, kind: 'ENTRY' | 'EXIT' = 'ENTRY'): Promise<ShownScan> {
    return (await this.station.scan(code, kind))!;
  }

  async verdict(code: string, kind: 'ENTRY' | 'EXIT' = 'ENTRY'): Promise<readonly [string, boolean]> {
    const { verdict, isOwn } = await this.scan(code, kind);
    return [verdict, isOwn];
  }
}

describe('A station', () => {
  const service = serviceWith([
    doorsGala(),
    doorsGala({ id: 'evt_other', slug: 'other' }),
    doorsGala({ id: 'evt_merge', slug: 'merge' }),
    doorsGala({ id: 'evt_feed', slug: 'feed' }),
    doorsGala({ id: 'evt_always', slug: 'always', reentry: 'ALWAYS' }),
    doorsGala({ id: 'evt_undo', slug: 'undo' }),
    doorsGala({ id: 'evt_never', slug: 'never', reentry: 'NEVER' }),
    gala(),
  ]);

  const paired = async (
    body: object = {},
    eventId = 'evt_doors',
    choice = { performanceId: 'eve', doorId: 'main' },
  ) => {
    const device = new Device(service);
    const { token, id } = await makeStation(service, body, eventId);
    await device.station.open();
    assert.equal(await device.station.pair(token), null);
    await device.station.choose(choice);
    return Object.assign(device, { token, id });
  };
  const revoke = ({ id }: { readonly id: string }) =>
    service.admin.post(`/admin/events/evt_doors/stations/${id}/revoke`);
  const buy = async (...given: Parameters<typeof buyTickets> extends [unknown, ...infer Rest] ? Rest : never) =>
    codesOf(await buyTickets(service, ...given));

  it('takes a token that the service knows, and the only date and door that it may stand at', async () => {
    const device = new Device(service);
    await device.station.open();
    assert.equal(device.station.view.state, 'unpaired');
    assert.equal(await device.station.pair('gtk_1_wrong'), 'unknown');
    assert.equal(device.station.view.state, 'unpaired');
    assert.equal(await device.station.scan('x', 'ENTRY'), null, 'it does not scan');
    const { token } = await makeStation(service, { performance_ids: ['eve'], door_ids: ['stand'] });
    await device.station.pair(token);
    const { state, choice, head } = device.station.view;
    assert.deepEqual([state, choice], ['ready', { performanceId: 'eve', doorId: 'stand' }]);
    assert.deepEqual(
      head?.performances.map(({ id }) => id),
      ['eve'],
    );
  });

  it('is not ready before its first whole sync, and cannot tell then', async () => {
    const device = new Device(service);
    device.network = 'cut';
    await device.station.open();
    const { token } = await makeStation(service);
    await device.station.pair(token);
    assert.equal(device.station.view.state, 'not-ready');
    assert.equal(await device.station.scan('x', 'ENTRY'), null, 'it does not know where it stands');
    await device.reconnect();
    assert.equal(device.station.view.state, 'ready');
  });

  it('shows what the service says, and keeps nothing of it', async () => {
    const device = await paired();
    const [code = ''] = await buy('seat');
    const shown = await device.scan(code);
    assert.deepEqual([shown.verdict, shown.isOwn, shown.ticket?.row_label], ['ADMIT', false, '1']);
    assert.deepEqual(await device.verdict(code), ['ALREADY_ADMITTED', false]);
    assert.equal(device.station.view.inside, 1);
    assert.deepEqual((await device.store.read()).scans, []);
    assert.deepEqual(await device.verdict(code, 'EXIT'), ['EXIT', false]);
    assert.equal(device.station.view.inside, 0);
  });

  it('stores a scan before it is sent', async () => {
    const device = await paired();
    const order: string[] = [];
    const { write } = device.store;
    device.store.write = async (changes) => {
      await write(changes);
      if (changes.put !== undefined) order.push(`stored ${String(changes.put[0]?.given)}`);
      if (changes.remove !== undefined) order.push('removed');
    };
    device.requests = { push: () => order.push('sent') } as unknown as Device['requests'];
    await device.scan((await buy())[0]!);
    assert.deepEqual(order, ['stored null', 'sent', 'removed']);
    order.length = 0;
    device.network = 'cut';
    await device.scan((await buy())[0]!);
    assert.deepEqual(order, ['stored null', 'sent', 'stored ADMIT']);
    order.length = 0;
    device.network = 'up';
  });

  for (const network of ['cut', 'busy', 429, 'answers lost'] as const) {
    it(`decides by the same rule when the network is ${network}, and sends it afterwards`, async () => {
      const device = await paired();
      const [inside = '', outside = ''] = await buy('single', 2);
      const [late = ''] = await buy('single', 1, { performance: 'late' });
      const [other = ''] = await buy('single', 1, { eventId: 'evt_other' });
      const order = await buyTickets(service);
      const [voided = ''] = codesOf(order);
      await service.admin.post(`/admin/orders/${order.order_id}/cancel`);
      await device.verdict(inside);
      await device.station.refresh();
      const before = await countsOf(service);
      device.network = network;
      const [payload = ''] = outside.split('.');
      const verdicts: string[] = [];
      for (const code of [
        inside,
        outside,
        outside,
        late,
        other,
        voided,
        'BEGIN:VCARD',
        `${payload}.${'A'.repeat(86)}`,
      ]) {
        const [verdict, isOwn] = await device.verdict(code);
        assert.ok(isOwn);
        verdicts.push(verdict);
      }
      assert.deepEqual(verdicts, [
        ...['ALREADY_ADMITTED', 'ADMIT', 'ALREADY_ADMITTED', 'WRONG_PERFORMANCE', 'WRONG_EVENT', 'VOID', 'UNKNOWN'],
        'FORGED',
      ]);
      assert.deepEqual(await device.verdict(inside, 'EXIT'), ['EXIT', true]);
      assert.deepEqual(await device.verdict(inside), ['ADMIT', true]);
      const { state, waiting } = device.station.view;
      assert.deepEqual([state, waiting], ['offline', 10]);
      await device.reconnect();
      assert.deepEqual([device.station.view.state, device.station.view.waiting], ['ready', 0]);
      const after = await countsOf(service);
      assert.deepEqual(
        [after.entries - before.entries, after.exits - before.exits, after.admitted - before.admitted],
        [2, 1, 1],
      );
      assert.equal(after.conflicts, before.conflicts);
      await device.station.refresh();
      assert.deepEqual(await device.verdict(outside), ['ALREADY_ADMITTED', false]);
    });
  }

  it('waits a second for an answer', async () => {
    const device = await paired();
    const [code = ''] = await buy();
    device.network = 'silent';
    const begin = performance.now();
    assert.deepEqual(await device.verdict(code), ['ADMIT', true]);
    assert.ok(performance.now() - begin >= SECOND - 5);
    await device.reconnect();
  });

  it('shows the type and the seat of a ticket also alone, and what a refusal is about', async () => {
    const device = await paired();
    const [seat = ''] = await buy('seat');
    const [single = ''] = await buy('single');
    const [late = ''] = await buy('single', 1, { performance: 'late' });
    device.network = 'cut';
    const { ticket } = await device.scan(seat);
    assert.equal(ticket?.ticket_type_name, 'Seat');
    assert.match(String(ticket?.seat_id), /./);
    const again = await device.scan(seat);
    assert.equal(again.admitted?.door_name, 'Main door');
    assert.equal((await device.scan(late)).performance?.name, 'Late');
    await device.station.choose({ performanceId: 'eve', doorId: 'stand' });
    const wrong = await device.scan(single);
    assert.deepEqual([wrong.verdict, wrong.door_ids], ['WRONG_DOOR', ['main']]);
    await device.station.choose({ performanceId: 'late', doorId: 'main' });
    const early = await device.scan(late);
    assert.deepEqual([early.verdict, early.opens_at], ['NOT_YET', '2027-05-09T19:00:00.000Z']);
    await device.reconnect();
  });

  it('cannot tell without WebCrypto, and with a key that it does not know', async () => {
    const device = await paired();
    const [code = ''] = await buy();
    device.subtle = undefined;
    await device.reload();
    device.network = 'cut';
    assert.deepEqual(await device.verdict(code), ['CANNOT_TELL', true]);
    device.subtle = crypto.subtle;
    await device.reload();
    const [payload = '', signature = ''] = code.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const ofOther = Buffer.from(JSON.stringify({ ...claims, kid: 'other' })).toString('base64url');
    assert.deepEqual(await device.verdict(`${ofOther}.${signature}`), ['CANNOT_TELL', true]);
    assert.deepEqual(await device.verdict(code), ['ADMIT', true]);
    await device.reconnect();
    const { refused } = await countsOf(service);
    assert.equal(refused['CANNOT_TELL'], 2);
  });

  it('checks signatures without the curve in WebCrypto', async () => {
    const device = await paired();
    device.subtle = {
      ...{ digest: crypto.subtle.digest.bind(crypto.subtle) },
      importKey: () => Promise.reject(new DOMException('no such curve', 'NotSupportedError')),
    } as unknown as typeof crypto.subtle;
    await device.reload();
    const [code = ''] = await buy();
    device.network = 'cut';
    const [payload = '', signature = ''] = code.split('.');
    assert.deepEqual(await device.verdict(`${payload}.${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`), [
      'FORGED',
      true,
    ]);
    assert.deepEqual(await device.verdict(code), ['ADMIT', true]);
    await device.reconnect();
  });

  it('shows nothing of a scan that the device cannot store, and lets nobody in by it', async () => {
    const device = await paired();
    const [code = ''] = await buy();
    const before = await countsOf(service);
    const { write } = device.store;
    device.network = 'answers lost';
    device.store.write = (changes) =>
      changes.put?.[0]?.given === 'ADMIT' ? Promise.reject(new Error('the disk is full')) : write(changes);
    await assert.rejects(device.station.scan(code, 'ENTRY'), /full/);
    device.store.write = write;
    assert.deepEqual([device.station.view.waiting, device.station.view.inside], [1, before.inside]);
    await device.reconnect();
    assert.equal((await countsOf(service)).entries, before.entries);
    assert.deepEqual(await device.verdict(code), ['ADMIT', false]);
  });

  it('takes back what it scanned last, with and without the service', async () => {
    const device = await paired();
    for (const network of ['up', 'cut'] as const) {
      const [code = ''] = await buy();
      device.network = network;
      assert.equal(await device.station.undo(), null, 'nothing was scanned');
      await device.verdict(code);
      const { inside } = device.station.view;
      assert.deepEqual([(await device.station.undo())?.verdict, device.station.view.inside], ['UNDONE', inside - 1]);
      assert.deepEqual(await device.verdict(code), ['ADMIT', network === 'cut']);
      assert.equal((await device.station.undo())?.verdict, 'UNDONE');
    }
    await device.reload();
    const { inside } = device.station.view;
    device.network = 'up';
    const before = await countsOf(service);
    await device.station.refresh();
    const { entries } = await countsOf(service);
    assert.deepEqual([entries, device.station.view.inside], [before.entries, inside], 'nobody entered by it');
  });

  it('decides alone after an undo as the rule does over all that it synced', async () => {
    const step = fc.constantFrom(
      ...(['own entry', 'own exit', 'entry', 'exit', 'undo', 'cut', 'send', 'seen', 'void'] as const),
    );
    const verdicts = new Set<string>();
    const run = async (eventId: string, reentry: Reentry): Promise<void> => {
      const [own, other] = [await paired({}, eventId), await paired({}, eventId)];
      const last = ['send', 'send', 'cut', 'undo'] as const;
      const steps = fc.array(step, { maxLength: 10, size: 'max' });
      await fc.assert(
        fc.asyncProperty(steps, fc.constantFrom('ENTRY', 'EXIT'), async (all, kind) => {
          const order = await buyTickets(service, 'single', 1, { eventId });
          const [code = ''] = codesOf(order);
          const scans = new Map<string, MergedScan>();
          let [isVoid, newest] = [false, ''];
          const scan = async (device: typeof own, kindOfScan: 'ENTRY' | 'EXIT'): Promise<string> => {
            const at = device.station.now();
            const { id, verdict } = await device.scan(code, kindOfScan);
            const hasPassed = verdict === (kindOfScan === 'ENTRY' ? 'ADMIT' : 'EXIT');
            const kept = { id, kind: kindOfScan, at, stationId: device.id, isUndone: false, unfit: null };
            if (hasPassed) scans.set(id, kept);
            if (device === own) newest = hasPassed ? id : '';
            return verdict;
          };
          await own.station.undo();
          for (const what of [...all, ...last]) {
            service.wait(2 * SECOND);
            if (what === 'own entry' || what === 'own exit') await scan(own, what === 'own entry' ? 'ENTRY' : 'EXIT');
            else if (what === 'entry' || what === 'exit') await scan(other, what === 'entry' ? 'ENTRY' : 'EXIT');
            else if (what === 'cut') own.network = other.network = 'cut';
            else if (what === 'seen') await own.station.seen(own.station.view.conflicts);
            else if (what === 'undo') {
              const undone = await own.station.undo();
              const target = scans.get(newest);
              assert.equal(undone?.verdict, target && 'UNDONE');
              if (target !== undefined) scans.set(newest, { ...target, isUndone: true });
              newest = '';
            } else if (what === 'void') {
              await service.admin.post(`/admin/orders/${order.order_id}/cancel`, {});
              isVoid = true;
            } else {
              own.network = other.network = 'up';
              for (const { station } of [own, other, own]) await station.refresh();
            }
          }
          const { isInside, admission } = mergeScans([...scans.values()], reentry);
          const entrance = { performanceId: 'eve', doorsAt: null, endsAt: null, ticketTypeIds: null };
          const ticket = { performanceId: 'eve', ticketTypeId: 'single', isVoid };
          const presence = { isInside, hasEntered: admission !== null };
          const expected =
            kind === 'ENTRY'
              ? verdictOfEntry(ticket, entrance, own.station.now(), presence, reentry)
              : verdictOfExit(ticket, presence);
          const found = await scan(own, kind);
          verdicts.add(found);
          // The feed says that it left, not by whose entry it had come in.
          const mayRefuse = reentry === 'NEVER' && [...scans.values()].some((each) => each.kind === 'EXIT');
          const isRefused = mayRefuse && expected === 'ADMIT' && found === 'ALREADY_ADMITTED';
          if (!isRefused) assert.equal(found, expected, JSON.stringify([...scans.values()]));
          own.network = other.network = 'up';
        }),
        { numRuns: 30 },
      );
    };
    await run('evt_undo', 'AFTER_EXIT');
    await run('evt_never', 'NEVER');
    assert.deepEqual([...verdicts].toSorted(), ['ADMIT', 'ALREADY_ADMITTED', 'EXIT', 'NOT_INSIDE', 'VOID']);
  });

  it('sends what was never shown as what let nobody in', async () => {
    const device = await paired();
    const [code = ''] = await buy();
    const before = await countsOf(service);
    device.network = 'answers lost';
    await device.scan(code);
    const [scan] = (await device.store.read()).scans;
    assert.ok(scan !== undefined);
    // As the page that ended had left it.
    await device.store.write({ put: [{ ...scan, given: null }] });
    await device.reload();
    device.network = 'up';
    assert.equal(device.station.view.waiting, 1);
    await device.station.refresh();
    const { entries } = await countsOf(service);
    assert.equal(entries, before.entries);
    assert.deepEqual(await device.verdict(code), ['ADMIT', false]);
  });

  it('lists what is refused, sends the rest, and sends it again once it is paired anew', async () => {
    const device = await paired();
    const codes = await buy('single', 3);
    device.network = 'cut';
    for (const code of codes) await device.verdict(code);
    const [first, ...others] = (await device.store.read()).scans;
    await device.store.write({ put: [{ ...first!, door_id: 'gone' }] });
    await device.reload();
    await device.reconnect();
    const { waiting, refused } = device.station.view;
    assert.deepEqual([waiting, refused.map(({ id }) => id)], [0, [first!.id]]);
    assert.deepEqual(refused[0]?.refused, { status: 403, code: 'STATION_NOT_ALLOWED' });
    assert.equal(others.length, 2);
    const sent = device.requests.length;
    await device.station.refresh();
    assert.equal(device.requests.length, sent + 1, 'only the sync is sent');
    await device.store.write({ put: [{ ...first!, refused: { status: 403, code: 'STATION_NOT_ALLOWED' } }] });
    await device.reload();
    await device.station.pair((await makeStation(service)).token);
    assert.deepEqual([device.station.view.waiting, device.station.view.refused], [0, []]);
  });

  it('scans no more once it is revoked, keeps its queue, and sends it when it is paired anew', async () => {
    const device = await paired();
    const [one = '', other = ''] = await buy('single', 2);
    const before = await countsOf(service);
    device.network = 'cut';
    assert.deepEqual(await device.verdict(one), ['ADMIT', true]);
    await revoke(device);
    await device.reconnect();
    assert.deepEqual([device.station.view.state, device.station.view.waiting], ['revoked', 1]);
    assert.equal(await device.station.scan(other, 'ENTRY'), null);
    await device.reload();
    const sent = device.requests.length;
    await device.station.refresh();
    assert.deepEqual([device.station.view.state, device.requests.length], ['revoked', sent]);
    await device.station.unpair();
    assert.deepEqual([device.station.view.state, device.station.view.waiting], ['unpaired', 1]);
    await device.station.pair((await makeStation(service)).token);
    assert.deepEqual([device.station.view.state, device.station.view.waiting], ['ready', 0]);
    assert.equal((await countsOf(service)).entries, before.entries + 1);
  });

  it('shows nothing of a scan that comes after it was revoked, and keeps it as what let nobody in', async () => {
    const device = await paired();
    const [code = ''] = await buy();
    await revoke(device);
    assert.equal(await device.station.scan(code, 'ENTRY'), null);
    assert.equal(device.station.view.state, 'revoked');
    assert.deepEqual(
      (await device.store.read()).scans.map(({ given }) => given),
      ['CANNOT_TELL'],
    );
  });

  it('knows after a reload without a network what it knew before', async () => {
    const device = await paired();
    const codes = await buy('single', 3);
    await device.verdict(codes[0]!);
    device.network = 'cut';
    await device.verdict(codes[1]!);
    const { inside } = device.station.view;
    await device.reload();
    assert.deepEqual([device.station.view.state, device.station.view.inside], ['offline', inside]);
    const verdicts: string[] = [];
    for (const code of codes) verdicts.push((await device.verdict(code))[0]);
    assert.deepEqual(verdicts, ['ALREADY_ADMITTED', 'ALREADY_ADMITTED', 'ADMIT']);
    await device.reconnect();
  });

  it('knows what other stations let in and out, and forgets none of its own meanwhile', async () => {
    const [one, other] = [await paired(), await paired()];
    const [code = ''] = await buy();
    await one.verdict(code);
    await other.station.refresh();
    other.network = 'cut';
    assert.deepEqual(await other.verdict(code), ['ALREADY_ADMITTED', true]);
    service.wait(SECOND);
    assert.deepEqual(await other.verdict(code, 'EXIT'), ['EXIT', true]);
    service.wait(SECOND);
    await other.reconnect();
    await one.station.refresh();
    one.network = 'cut';
    assert.deepEqual(await one.verdict(code), ['ADMIT', true]);
    await one.reconnect();
  });

  interface Entry {
    readonly scan_id: string;
    readonly station_id: string | null;
    readonly at: string;
  }
  /** Entries of a ticket at a station, each with when one was with which it conflicts, by the operators' list. */
  const conflictsOf = async (eventId: string, ticketId: string, stationId: string): Promise<readonly string[]> => {
    const { body } = await service.admin.get<{
      readonly conflicts: readonly {
        readonly ticket_id: string;
        readonly first: Entry | null;
        readonly second: Entry;
      }[];
    }>(`/admin/events/${eventId}/doors/conflicts?limit=1000`);
    return body.conflicts
      .filter(({ ticket_id: of }) => of === ticketId)
      .flatMap(({ first, second }) => (first === null ? [] : [[first, second] as const, [second, first] as const]))
      .filter(([own]) => own.station_id === stationId)
      .map(([own, other]) => `${own.scan_id} ${other.at}`);
  };
  /** The conflicts that a station names. */
  const named = ({ station }: Device) =>
    station.view.conflicts.map(({ kind, verdict, admitted, at }) => [kind, verdict, admitted?.at ?? null, at]);
  /** Two stations that stand apart, and one ticket for them. */
  const apart = async (eventId = 'evt_doors') => {
    const stand = { performanceId: 'eve', doorId: 'stand' };
    const [code = ''] = await buy('seat', 1, { eventId });
    const stations = [
      await paired({ name: 'North' }, eventId),
      await paired({ name: 'South' }, eventId, stand),
    ] as const;
    return { code, stations };
  };

  it('names what it let in although another station had: the other one, the ticket and its seat, until it is seen', async () => {
    const { code, stations } = await apart();
    const [north, south] = stations;
    south.network = 'cut';
    assert.deepEqual(await north.verdict(code), ['ADMIT', false]);
    service.wait(MINUTE);
    assert.deepEqual(await south.verdict(code), ['ADMIT', true]);
    assert.deepEqual(named(south), [], 'it does not know yet');
    await south.reconnect();
    const [conflict] = south.station.view.conflicts;
    const { verdict, admitted, ticket } = conflict!;
    assert.deepEqual(
      [verdict, admitted?.door_name, admitted?.station_name, ticket?.ticket_type_name, ticket?.row_label],
      ['ALREADY_ADMITTED', 'Main door', 'North', 'Seat', '1'],
    );
    assert.equal(Date.parse(conflict!.at) - Date.parse(admitted!.at), MINUTE);
    assert.deepEqual(named(north), [], 'it does not know yet');
    await north.station.refresh();
    const [ofNorth, ...others] = north.station.view.conflicts;
    const said = [
      ofNorth!.at,
      ofNorth!.admitted?.door_name,
      ofNorth!.admitted?.station_name,
      ofNorth!.ticket?.row_label,
    ];
    assert.deepEqual(said, [admitted!.at, 'Stand door', 'South', '1']);
    assert.deepEqual([ofNorth!.admitted?.at, ofNorth!.admitted?.offline, others], [conflict!.at, true, []]);
    const before = named(south);
    await south.reload();
    assert.deepEqual(named(south), before, 'it is stored');
    await south.station.pair((await makeStation(service)).token);
    assert.deepEqual(named(south), before, 'another pairing leaves it');
    for (const device of stations) {
      await device.station.seen(device.station.view.conflicts);
      assert.deepEqual(named(device), []);
      await device.reload();
      assert.deepEqual(named(device), []);
    }
    await north.verdict(code, 'EXIT');
    await north.station.refresh();
    await north.station.pair(north.token);
    assert.deepEqual(named(north), [], 'what somebody has seen does not come back');
  });

  it('takes back what an operator undid elsewhere', async () => {
    const { code, stations } = await apart();
    const [north, south] = stations;
    for (const device of stations) {
      device.network = 'cut';
      await device.verdict(code);
      service.wait(MINUTE);
      await device.reconnect();
    }
    await north.station.refresh();
    assert.deepEqual([named(north).length, named(south).length], [1, 1]);
    await north.station.seen(north.station.view.conflicts);
    const { ticketId } = readCode(code)!;
    const undone = { kind: 'UNDO', undoes: south.station.view.conflicts[0]!.id, note: 'Counted twice' };
    assert.equal((await service.admin.post(`/admin/tickets/${ticketId}/scans`, undone)).status, 201);
    for (const { station } of stations) await station.refresh();
    assert.deepEqual([named(north), named(south)], [[], []]);
    north.network = 'cut';
    assert.equal((await north.station.undo())?.verdict, 'UNDONE');
    assert.deepEqual(await north.verdict(code), ['ADMIT', true], 'no other entry is left, although one was seen');
  });

  it('names what another station had let in before, once that is known: at both then', async () => {
    for (const network of ['up', 'cut'] as const) {
      const { code, stations } = await apart();
      const [north, south] = stations;
      [north.network, south.network] = [network, 'cut'];
      assert.deepEqual(await south.verdict(code), ['ADMIT', true]);
      service.wait(MINUTE);
      assert.deepEqual(await north.verdict(code), ['ADMIT', network === 'cut']);
      await north.reconnect();
      assert.deepEqual(named(north), []);
      await south.reconnect();
      assert.equal(named(south)[0]?.[1], 'ALREADY_ADMITTED');
      await north.station.refresh();
      const [conflict, ...others] = north.station.view.conflicts;
      const { verdict, admitted, ticket, at } = conflict!;
      assert.deepEqual(
        [verdict, admitted?.door_name, admitted?.station_name, ticket?.ticket_type_name, others.length],
        ['ALREADY_ADMITTED', 'Stand door', 'South', 'Seat', 0],
      );
      assert.equal(Date.parse(at) - Date.parse(admitted!.at), MINUTE);
      await north.station.refresh();
      assert.equal(named(north).length, 1, 'once');
    }
  });

  it('names nothing where a ticket went out between, may enter always, or its entry was taken back', async () => {
    const { code, stations } = await apart();
    const [north, south] = stations;
    // South lets in, out and in again before it has sent anything; what North did lies between.
    south.network = 'cut';
    await south.verdict(code);
    service.wait(MINUTE);
    await south.verdict(code, 'EXIT');
    service.wait(MINUTE);
    await north.verdict(code);
    await north.station.refresh();
    service.wait(MINUTE);
    await north.verdict(code, 'EXIT');
    service.wait(MINUTE);
    await south.verdict(code);
    south.network = 'up';
    for (const { station } of [south, north]) await station.refresh();
    assert.deepEqual(named(north), []);

    const always = await apart('evt_always');
    const [open, other] = always.stations;
    other.network = 'cut';
    await other.verdict(always.code);
    service.wait(MINUTE);
    await open.verdict(always.code);
    await open.station.refresh();
    other.network = 'up';
    for (const { station } of [other, open]) await station.refresh();
    assert.deepEqual([named(open), named(other)], [[], []]);

    const undone = await apart();
    const [first, second] = undone.stations;
    second.network = 'cut';
    await first.verdict(undone.code);
    await second.verdict(undone.code);
    assert.equal((await second.station.undo())?.verdict, 'UNDONE');
    await second.reconnect();
    assert.deepEqual(named(second), [], 'taken back before it was sent');
    second.network = 'cut';
    const [again = ''] = await buy('seat');
    await first.verdict(again);
    await second.verdict(again);
    await second.reconnect();
    assert.equal(named(second).length, 1);
    await second.station.undo();
    assert.deepEqual(named(second), [], 'taken back after it was sent');
  });

  it('names by the feed exactly what is a conflict at the service, each once', async () => {
    const pair = await Promise.all([paired({}, 'evt_feed'), paired({}, 'evt_feed')]);
    const kinds = ['ENTRY', 'ENTRY', 'EXIT', 'cut', 'send', 'undo'] as const;
    const step = fc.tuple(fc.constantFrom(...pair), fc.constantFrom(...kinds));
    const [one, other] = pair;
    const first = [[one, 'cut'] as const, [one, 'ENTRY'] as const, [other, 'ENTRY'] as const];
    const last = [other, one, other].map((each) => [each, 'send'] as const);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12, size: 'max' }), async (steps) => {
        const order = await buyTickets(service, 'single', 1, { eventId: 'evt_feed' });
        const [code = ''] = codesOf(order);
        for (const [device, what] of [...first, ...steps, ...last]) {
          service.wait(2 * SECOND);
          if (what === 'cut') device.network = 'cut';
          else if (what === 'undo') await device.station.undo();
          else if (what !== 'send') await device.scan(code, what);
          if (what !== 'send') continue;
          await device.reconnect();
        }
        for (const { id, station } of pair) {
          const { conflicts } = station.view;
          const byFeed = conflicts.filter(({ digest }) => digest !== undefined);
          const told = byFeed.map((each) => `${each.id} ${each.admitted!.at}`);
          assert.deepEqual(told.sort(), (await conflictsOf('evt_feed', order.tickets[0]!, id)).toSorted());
          count += told.length;
          await station.seen(conflicts);
        }
      }),
      { numRuns: 40 },
    );
    assert.ok(count > 0, 'some are named');
  });

  it('names exits and void tickets that the service would have refused, the 50 newest of all', async () => {
    const device = await paired();
    const [code = ''] = await buy();
    await device.verdict(code);
    await device.station.refresh();
    device.network = 'cut';
    const [result] = await scanAll(service, await makeStation(service), scanOf(service, code, { kind: 'EXIT' }));
    assert.equal(result!.verdict, 'EXIT');
    service.wait(SECOND);
    assert.deepEqual(await device.verdict(code, 'EXIT'), ['EXIT', true]);
    const order = await buyTickets(service);
    await service.admin.post(`/admin/orders/${order.order_id}/cancel`);
    service.wait(SECOND);
    await device.verdict(codesOf(order)[0]!);
    await device.reconnect();
    const kinds = () => device.station.view.conflicts.map(({ kind, verdict }) => `${kind} ${verdict}`);
    assert.deepEqual(kinds(), ['ENTRY VOID', 'EXIT NOT_INSIDE']);
    const codes: string[] = [];
    while (codes.length < 50) codes.push(...(await buy('single', 5)));
    const station = await makeStation(service);
    device.network = 'cut';
    await scanAll(service, station, ...codes.map((each) => scanOf(service, each)));
    service.wait(SECOND);
    for (const each of codes) await device.verdict(each);
    await device.reconnect();
    assert.deepEqual(new Set(kinds()), new Set(['ENTRY ALREADY_ADMITTED']));
    assert.equal(kinds().length, 50);
  });

  it('says how many scans wait and what it runs', async () => {
    const device = await paired();
    device.network = 'cut';
    await device.verdict('nothing');
    device.network = 'up';
    device.requests = [];
    await device.station.pair(device.token);
    assert.match(device.requests[0]!.path, /queued=1&version=test/);
    assert.match(device.requests.at(-1)!.path, /after=.*queued=0/);
  });

  it('loses and doubles nothing, whatever the network does and whoever is reloaded', async () => {
    const networks: readonly Network[] = ['up', 'up', 'cut', 'busy', 'answers lost'];
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('scan' as const), ticket: fc.nat(3), exit: fc.boolean() }) },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constantFrom('reload' as const, 'undo' as const, 'refresh' as const) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('network' as const), network: fc.constantFrom(...networks) }),
      },
    );
    const codes = await buy('single', 4, { eventId: 'evt_merge' });
    const devices = [await paired({}, 'evt_merge'), await paired({}, 'evt_merge')];
    let [entries, exits] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), step), { maxLength: 30 }), async (steps) => {
        for (const [number, what] of steps) {
          const device = devices[number]!;
          service.wait(SECOND);
          if (what.do === 'network') device.network = what.network;
          if (what.do === 'reload') await device.reload();
          if (what.do === 'refresh') await device.station.refresh();
          if (what.do === 'undo') {
            const undone = device.station.view.undoable;
            if ((await device.station.undo())?.verdict !== 'UNDONE') continue;
            if (undone!.kind === 'ENTRY') entries -= 1;
            else exits -= 1;
          }
          if (what.do !== 'scan') continue;
          const { verdict } = await device.scan(codes[what.ticket]!, what.exit ? 'EXIT' : 'ENTRY');
          if (verdict === 'ADMIT') entries += 1;
          if (verdict === 'EXIT') exits += 1;
        }
        for (const device of devices) device.network = 'up';
        // What another station sends last, the first knows by its next round.
        for (const device of [...devices, ...devices]) await device.station.refresh();
        const counts = await countsOf(service, 'eve', 'evt_merge');
        assert.deepEqual([counts.entries, counts.exits], [entries, exits]);
        assert.deepEqual(
          devices.map(({ station }) => station.view.waiting),
          [0, 0],
        );
        const inside = devices.map(({ station }) => station.view.inside);
        assert.equal(inside[0], inside[1]);
      }),
      { numRuns: 40 },
    );
  });

  it('has nothing about people on the device', async () => {
    const device = await paired();
    const [code = ''] = await buy('seat');
    device.network = 'cut';
    await device.verdict(code);
    await device.station.open();
    const stored = JSON.stringify(await device.store.read());
    assert.ok(stored.includes(code), 'the queue is there');
    assert.doesNotMatch(stored, /lovelace|@|ord_1_/i);
    await device.reconnect();
    const synced = JSON.stringify(await device.store.read());
    assert.doesNotMatch(synced, /lovelace|@|ord_1_|tkt_1_/i);
  });
});
