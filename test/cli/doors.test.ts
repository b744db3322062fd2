/** `holdfast doors` counts who came at a running service, and `holdfast export scans` writes it without people. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import {
  buyTickets,
  codesOf,
  doorsGala,
  makeStation,
  scanAll,
  scanOf,
  undoOf,
  type MadeStation,
} from '../fixtures/doors.ts';
import { ADMIN_TOKEN, openServiceWith, type TestService } from '../fixtures/service.ts';
import { holdfast, spawnHoldfast, succeeded } from './holdfast.ts';

let service: TestService;
let station: MadeStation;
let tickets: readonly string[];
let environment: Readonly<Record<string, string>>;

before(async () => {
  service = await openServiceWith([doorsGala()]);
  const { hostname, port } = new URL(service.adminUrl);
  environment = { DATA_DIR: service.folder, ADMIN_HOST: hostname, ADMIN_PORT: port, ADMIN_TOKEN };
  station = await makeStation(service, { name: '=North' });
  const seat = await buyTickets(service, 'seat', 1);
  const singles = await buyTickets(service, 'single', 2);
  tickets = [...seat.tickets, ...singles.tickets];
  const [first = '', second = '', third = ''] = [...codesOf(seat), ...codesOf(singles)];
  await scanAll(service, station, scanOf(service, first), scanOf(service, first), scanOf(service, 'A business card.'));
  const offline = { given: 'ADMIT', door_id: 'stand' };
  await scanAll(service, station, scanOf(service, second, offline), scanOf(service, 'what.somebody.has', offline));
  const mistake = scanOf(service, third);
  await scanAll(service, station, mistake, undoOf(service, mistake['id']));
  await service.admin.post(`/admin/tickets/${tickets[2]}/scans`, {
    kind: 'ENTRY',
    door_id: 'main',
    note: 'Ada asked.',
  });
});
after(() => service.close());

describe('export scans', () => {
  const rows = async (): Promise<readonly Readonly<Record<string, string | null>>[]> =>
    (await holdfast(['export', 'scans', 'doors', '--format', 'json'], environment)).json();

  it('writes time, place, verdict and ticket of every scan of a ticket, but for what was undone', async () => {
    const [seat, single, late] = tickets;
    const all = await rows();
    assert.deepEqual(Object.keys(all[0]!), [
      'time',
      'date',
      'door',
      'station',
      'kind',
      'verdict',
      'given',
      'ticket',
      'type',
      'seat',
    ]);
    const { time, ...first } = all[0]!;
    assert.equal(new Date(time!).getTime(), service.now());
    assert.match(first['seat']!, /./);
    assert.deepEqual(
      all.map((row) => [row['door'], row['station'], row['verdict'], row['given'], row['ticket'], row['type']]),
      [
        ['main', '=North', 'ADMIT', null, seat, 'seat'],
        ['main', '=North', 'ALREADY_ADMITTED', null, seat, 'seat'],
        ['stand', '=North', 'WRONG_DOOR', 'ADMIT', single, 'single'],
        ['stand', '=North', 'UNKNOWN', 'ADMIT', null, null],
        ['main', null, 'ADMIT', null, late, 'single'],
      ],
    );
  });

  it('is a table whose texts are no formulas, with nothing about people', async () => {
    const { stdout } = succeeded(await holdfast(['export', 'scans', 'evt_doors'], environment));
    const lines = stdout.split('\r\n');
    assert.equal(lines[0], '"time","date","door","station","kind","verdict","given","ticket","type","seat"');
    assert.equal(lines.length, 1 + 5 + 1);
    assert.match(lines[1]!, /,"'=North","ENTRY","ADMIT",,"tkt_/);
    assert.doesNotMatch(stdout, /example\.com|Ada/);
  });

  it('has beside it the list of who may come, with names', async () => {
    const { stdout } = succeeded(await holdfast(['export', 'attendees', 'evt_doors'], environment));
    const lines = stdout.split('\r\n');
    assert.equal(lines.length, 1 + tickets.length + 1);
    assert.deepEqual(
      lines.slice(1, -1).map((line) => line.split(',')[0]),
      tickets.map((id) => `"${id}"`),
    );
    assert.match(lines[1]!, /"VALID".*"seat".*"20\d\d-[^"]*Z","true"$/, 'it was let in');
    const json = (await holdfast(['export', 'attendees', 'doors', '--format', 'json'], environment)).json<unknown[]>();
    assert.equal(json.length, tickets.length);
  });

  it('is empty of an event where nobody was scanned, and is not of another name', async () => {
    const quiet = await openServiceWith([doorsGala()]);
    try {
      const { stdout } = await holdfast(['export', 'scans', 'doors', '--format', 'json', '--data', quiet.folder]);
      assert.equal(stdout, '[]\n');
    } finally {
      await quiet.close();
    }
    const { code, stderr } = await holdfast(['export', 'scan', 'doors'], environment);
    assert.equal(code, 2);
    assert.match(stderr, /did you mean scans/);
  });
});

describe('doors', () => {
  it('prints who is expected, came and is inside, by date and door, and the stations', async () => {
    const { stdout } = succeeded(await holdfast(['doors', 'doors', '--performance', 'eve'], environment));
    assert.match(stdout, /^eve +3 +3 +4 +\d+ +4 +0 +2$/m);
    assert.match(stdout, /^eve +stand +2 +0$/m);
    assert.match(stdout, /refused at eve: 1 ALREADY_ADMITTED, 1 UNKNOWN/);
    assert.match(stdout, /^=North: seen /m);
    assert.doesNotMatch(stdout, /late/);
  });

  it('prints the counts and stations for programs, by the id too', async () => {
    const { performances, stations } = (await holdfast(['doors', 'evt_doors', '--json'], environment)).json<{
      performances: readonly { id: string; inside: number }[];
      stations: readonly { name: string }[];
    }>();
    assert.deepEqual(
      performances.map(({ id, inside }) => [id, inside]),
      [
        ['eve', 4],
        ['late', 0],
      ],
    );
    assert.deepEqual(
      stations.map(({ name }) => name),
      ['=North'],
    );
  });

  it('prints where a gate is, if its address is known', async () => {
    const { id } = await makeStation(service, { name: 'Hall', kind: 'GATE', gate_url: 'https://gate.example' });
    const { stdout } = await holdfast(['doors', 'doors'], environment);
    assert.match(stdout, /^gate Hall at https:\/\/gate\.example: not seen yet/m);
    await service.admin.post(`/admin/events/evt_doors/stations/${id}/revoke`);
  });

  it('says which event or date there is not', async () => {
    const none = await holdfast(['doors', 'nothing'], environment);
    assert.deepEqual([none.code, /no such event/.test(none.stderr)], [1, true]);
    const date = await holdfast(['doors', 'doors', '--performance', 'never'], environment);
    assert.deepEqual([date.code, /no such date/.test(date.stderr)], [1, true]);
  });

  it('goes on with --watch, and prints what has changed', async () => {
    const child = spawnHoldfast(['doors', 'doors', '--performance', 'eve', '--watch'], environment);
    try {
      let printed = '';
      child.stdout!.setEncoding('utf8').on('data', (text: string) => (printed += text));
      while (!/^eve +3 +3 +4/m.test(printed)) await once(child.stdout!, 'data');
      await service.admin.post(`/admin/tickets/${tickets[0]}/scans`, { kind: 'EXIT', door_id: 'main' });
      while (!/^eve +3 +3 +3 +\d+ +4 +1/m.test(printed)) await once(child.stdout!, 'data');
    } finally {
      child.kill('SIGINT');
    }
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 0);
  });
});
