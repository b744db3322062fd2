import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createOutput } from '#cli/terminal/output.ts';
import { holdfast, holdfastProcess, programOf, samples, succeeded, type Environment } from './holdfast.ts';
import { newFolder } from '../fixtures/folders.ts';

const COMMANDS = [
  'serve',
  'load',
  'verify',
  'upgrade',
  'snapshot',
  'backup',
  'import',
  'restore',
  'journal',
  'inspect',
  'export',
  'pii',
  'subject',
  'erase',
  'seal',
  'rehearse',
  'draw',
  'cluster',
  'notify',
];

describe('What a command waits for', () => {
  const printedAt = (isTTY: boolean): string => {
    const program = programOf();
    const output = createOutput(false, { stdout: program.stdout, stderr: Object.assign(program.stderr, { isTTY }) });
    for (const seconds of [0, 1]) output.waiting('waiting for a friend', seconds, 30);
    output.text('done');
    return program.printed()[1];
  };

  it('is one line with its limit, and on a terminal with the seconds, until there is a result', () => {
    assert.equal(printedAt(false), 'waiting for a friend, for up to 30 s\n');
    assert.equal(printedAt(true), '\r\u001b[Kwaiting for a friend: 0 of at most 30 s\r\u001b[K');
  });
});

describe('What a command prints', () => {
  it('has no control characters of texts that definitions and buyers wrote', async () => {
    const text = 'Ada\u001b[2J\u009bm\r\u0007';
    for (const isJson of [false, true]) {
      const program = programOf();
      const output = createOutput(isJson, program);
      output.text(text);
      output.json({ text });
      output.trouble(text);
      await output.raw(text.replace('\r', ''));
      assert.doesNotMatch(program.printed().join(''), /[^\P{Cc}\n]/u);
    }
  });
});

describe('Help', () => {
  it('lists every command, with and without the word help', async () => {
    const [bare, help] = await Promise.all([holdfastProcess([]), holdfast(['help'])]);
    assert.equal(bare.code, 0);
    assert.equal(bare.stdout, help.stdout);
    assert.match(bare.stdout, /orders, refunds, scans or attendees/);
    for (const command of COMMANDS) assert.match(bare.stdout, new RegExp(`^  ${command} +\\w`, 'm'));
  });

  for (const command of COMMANDS) {
    it(`explains ${command} with its use, its options and examples`, async () => {
      const { stdout } = succeeded(await holdfast([command, '--help']));
      assert.match(stdout, new RegExp(`^holdfast ${command}: (?:.+\n)+\nUsage: holdfast ${command}`));
      assert.match(stdout, /\nOptions:\n(.+\n)*  --json .+\n  --help .+\n/);
      assert.match(stdout, /\nExamples:\n  .*holdfast/);
      assert.ok(
        stdout.split('\n').every((line) => line.length <= 80),
        stdout,
      );
    });
  }
});

describe('The help of notify', () => {
  it('says that a copy of a cluster posts under other ids than its nodes did', async () => {
    const { stdout } = succeeded(await holdfast(['notify', '--help']));
    assert.match(stdout.replaceAll('\n', ' '), /from a backup of a cluster the ids are new/);
  });
});

describe('Wrong use', () => {
  type Case = readonly [args: readonly string[], line: RegExp];
  const ofFolders: readonly Case[] = [
    [['verfy'], /there is no command verfy; did you mean verify\?/],
    [['load', '--ofline', samples], /there is no option --ofline; did you mean --offline\?/],
    [['verify', '--data', 'no-such-folder'], /there is no folder no-such-folder/],
    [['load'], /an argument is missing: holdfast load FILE/],
    [['load', '--chekc', 'x'], /there is no option --chekc; did you mean --check\?/],
    [['verify', 'one', 'two'], /"two" is one argument too many: holdfast verify/],
    [['verify', 'no-such-folder'], /there is no folder no-such-folder/],
    [['verify', 'one', '--data', 'two'], /the folder is named twice: leave out one or --data/],
    [['verify', '--data'], /--data needs a value: DIR/],
    [['verify', '--json=yes'], /--json takes no value/],
    [['restore'], /--to is missing/],
    [['restore', '--to', 'x', '--seq', 'ten'], /--seq is "ten": it must be a whole number/],
    [['restore', '--to', 'x', '--time', 'noon'], /--time is "noon": it must be a time with its zone/],
    [['restore', '--to', 'x', '--time', '2027-02-29T18:00:00Z'], /--time is .+: it must be a time with its zone/],
    [['restore', '--to', 'x', '--time', '2027-05-07T18:00:00Z', '--seq', '1'], /exclude each other/],
    [['journal', '--type', 'HoldPlased'], /no fact of the type HoldPlased; did you mean HoldPlaced\?/],
    [['export', 'order', 'evt_club'], /there is no export of order; did you mean orders\?/],
    [['export', 'orders', 'evt_club', '--format', 'xls'], /--format is "xls": it must be csv or json/],
    [['inspect', '--performance', 'derby'], /--performance needs the event/],
    [['notify', '--from', '5', '--to', '3'], /--to 3 comes before --from 5/],
    [['verify', '--keys', samples], /--keys is ".+", which is a folder: name a file of keys/],
    [['snapshot', '--unnotified'], /--unnotified goes with --prune/],
    [['import'], /an argument is missing: holdfast import DIR/],
    [['import', samples], /NATS_URL is not set: it must be the NATS servers/],
  ];
  const ofClusters: readonly Case[] = [
    [['journal'], /ask a node for GET \/admin\/journal, or name one, as holdfast backup OUT makes it/],
    [['journal', '--reveal'], /ask a node for GET \/admin\/journal/],
    [['export', 'orders', 'evt_club'], /ask a node for GET \/admin\/events\/EVENT\/orders/],
    [['subject', '--email', 'a@b.c', '--out', 'x'], /ask a node for GET \/admin\/subject\?email=ADDRESS/],
    [['inspect'], /ask a node for GET \/admin\/overview/],
    [['snapshot'], /ask a node for POST \/admin\/snapshot/],
    [['pii'], /this command needs a data folder: name one, as holdfast backup OUT makes it/],
    [['verify'], /this command needs a data folder: name one/],
    [['upgrade', '--check'], /this command needs a data folder: name one/],
    [['restore', '--to', 'x'], /this command needs a data folder: name one/],
    [['erase', 'ord_1', '--yes', '--data', 'x'], /--data names the folder of a single machine, and NATS_URL a cluster/],
  ];
  const explained = (cases: readonly Case[], where: string, environment: Environment): void => {
    for (const [args, expected] of cases) {
      const line = args.map((arg) => (arg === samples ? 'FOLDER' : arg)).join(' ');
      it(`ends with exit code 2 and one line${where}: holdfast ${line}`, async () => {
        const { code, stdout, stderr } = await holdfast(args, environment);
        assert.equal(code, 2, stderr);
        assert.equal(stdout, '');
        assert.match(stderr, expected);
        assert.match(stderr, /^holdfast.*\n$/);
      });
    }
  };
  explained(ofFolders, '', { DATA_DIR: samples });
  explained(ofClusters, ', which says what to use with a cluster', {
    NATS_URL: 'nats://127.0.0.1:1',
    DATA_DIR: samples,
  });

  it('of several settings is one line too', async () => {
    const environment = { DATA_DIR: samples, ADMIN_PORT: '99999', LIVE_EVENTS_MAX: 'many', CLUSTER_SHARDS: 'many' };
    const receiver = { NOTIFY_URL: 'nowhere', NOTIFY_SECRET: 'short' };
    const nats = { NATS_URL: 'nowhere' };
    for (const [args, more] of [
      [['inspect'], {}],
      [['notify', '--from', '1'], receiver],
      [['cluster', 'status'], nats],
    ] as const) {
      const { code, stderr } = await holdfast(args, { ...environment, ...more });
      assert.equal(code, 2, stderr);
      assert.match(stderr, /^holdfast.+: it must be .+; .+: it must be .+\n$/);
    }
  });

  it('is the exit code of the program, and stands on its stderr alone', async () => {
    const { code, stdout, stderr } = await holdfastProcess(['verfy']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^holdfast: there is no command verfy; did you mean verify\?.*\n$/);
  });

  it('of settings names each bad setting', async () => {
    const { code, stderr } = await holdfastProcess(['serve'], { PORT: '99999', LOG_LEVEL: 'loud' });
    assert.equal(code, 2);
    assert.match(stderr, /^PORT is "99999": it must be .+\nLOG_LEVEL is "loud": it must be .+\n$/);
  });
});

describe('A command that fails', () => {
  it('prints a hint and ends with exit code 1, as JSON with --json', async (t) => {
    const folder = newFolder(t);
    const [text, json, ...others] = await Promise.all([
      holdfastProcess(['inspect', '--data', folder]),
      holdfast(['inspect', '--data', folder, '--json']),
      holdfast(['verify', folder]),
      holdfast(['upgrade', '--check', folder]),
    ]);
    assert.equal(text.code, 1);
    assert.match(text.stderr, /^holdfast inspect: there is no journal in .+\nName the data folder, .+\n$/);
    assert.equal(json.code, 1);
    assert.equal(json.json()['ok'], false);
    for (const { code, stderr } of others) {
      assert.equal(code, 1);
      assert.match(stderr, /there is no journal in /);
    }
  });

  it('says in two lines what the system refused, without a stack', async (t) => {
    const folder = newFolder(t);
    const data = path.join(folder, 'data');
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    assert.equal(
      (await holdfast(['load', '--offline', path.join(samples, 'club-night.json')], { DATA_DIR: data })).code,
      0,
    );
    for (const args of [
      ['backup', file],
      ['restore', '--to', path.join(file, 'out')],
    ]) {
      const { code, stderr } = await holdfast([...args, '--data', data]);
      assert.equal(code, 1);
      assert.match(stderr, /^holdfast \w+: ENOTDIR: .+\nName a folder that exists, or one that can be made\.\n$/);
    }
  });

  it('names the address at which no service answers', async (t) => {
    const environment = { DATA_DIR: newFolder(t), ADMIN_PORT: '9', ADMIN_TOKEN: 'xxxxxxxxxxxxxxxx' };
    const { code, stderr } = await holdfast(['load', path.join(samples, 'club-night.json')], environment);
    assert.equal(code, 1);
    assert.match(stderr, /no service answers at http:\/\/127\.0\.0\.1:9\nStart it, or set ADMIN_HOST/);
  });

  it('names every problem of every catalogue file with its path, and loads nothing', async (t) => {
    const folder = newFolder(t);
    const data = path.join(folder, 'data');
    mkdirSync(path.join(folder, 'events'));
    writeFileSync(path.join(folder, 'events/a.json'), '{"id": "evt_a", "max_ticket_per_email": 4}');
    writeFileSync(path.join(folder, 'events/b.json'), '{"id": ');
    const { code, stderr } = await holdfast(['load', '--offline', path.join(folder, 'events')], { DATA_DIR: data });
    assert.equal(code, 1);
    assert.match(stderr, /a\.json \/slug: is required/);
    assert.match(stderr, /a\.json \/max_ticket_per_email: unknown field; did you mean max_tickets_per_email\?/);
    assert.match(stderr, /b\.json: is not JSON/);
    const verify = await holdfast(['verify'], { DATA_DIR: data });
    assert.equal(verify.code, 2);
  });
});
