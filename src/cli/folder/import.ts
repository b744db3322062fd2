/** `holdfast import`: moves the data folder of a single machine into an empty cluster. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { keysPath } from '#persistence/sqlite/key-file.ts';
import { readServingPid } from '#persistence/sqlite/lock.ts';
import { clusterSettings } from '../cluster/access.ts';
import { CommandFailure, WrongUse, type CliCall, type CliCommand } from '../terminal/command.ts';
import { counted } from '../terminal/output.ts';

/** The files of secrets, and the settings that nodes need in their place. */
export const SECRETS = [
  ['admin-token', 'ADMIN_TOKEN'],
  ['ticket-key', 'TICKET_KEY'],
  ['webhook-secret-a', 'WEBHOOK_SECRET_A'],
  ['webhook-secret-b', 'WEBHOOK_SECRET_B'],
] as const;

export const command: CliCommand = {
  usage: 'import DIR [--keys FILE]',
  description: [
    'Moves a shop from one machine to a cluster: copies all facts of the data folder DIR, journal and archive, into the cluster of ' +
      'NATS_URL and CLUSTER_NAME. The folder is proved first and is not changed. The cluster must be empty, and no node and no ' +
      'service may run: stop the service on DIR, import, then start the nodes.',
    'The keys of personal data in DIR/keys.db, or in FILE, move along, without those of erased orders; so do the limits of each ' +
      'address. With an old backup as DIR, name the newest keys there are: what was erased since stays erased. Where a sealed text ' +
      'has no key although nobody erased it, the folder is refused; with KEYS_LOST=accept it is imported, and the text reads as erased.',
    'When an import ends before its end, the cluster has a part of the folder: delete its streams or choose another CLUSTER_NAME, and ' +
      'import again. holdfast backup OUT with the same NATS_URL makes a data folder of the cluster, so that a shop can move back.',
  ],
  options: [
    { name: 'keys', value: 'FILE', help: 'the keys of personal data to take (default: keys.db of the folder)' },
  ],
  positionals: { min: 1, max: 1 },
  examples: [
    {
      line: 'NATS_URL=nats://a:4222,nats://b:4222,nats://c:4222 holdfast import data',
      does: 'copies the folder data into the cluster on these servers',
    },
    {
      line: 'holdfast import backups/monday --keys keys/today.db',
      does: "imports a backup with today's keys, so that what was erased since stays erased",
    },
    { line: 'holdfast import backups/monday --json', does: 'imports a backup and prints the counts as JSON' },
  ],
  async run(call) {
    const { output } = call;
    clusterSettings(call);
    const folder = idleFolder(call);
    const { importIntoCluster } = await import('./cluster-moving.ts');
    const report = await importIntoCluster(call, folder, keysFile(call, folder));
    const { cluster, facts, events, shardsUsed, openable, lost } = report;
    const secrets = SECRETS.filter(([file]) => existsSync(join(folder, file)));
    const personal = { openable, lost };
    output.json({
      ok: true,
      from: folder,
      cluster,
      facts,
      events,
      shardsUsed,
      personal,
      keys: secrets.map(([file]) => file),
    });
    output.text(
      `${counted(facts, 'fact')} of ${counted(events, 'event')} are in the cluster ${cluster}, on ${counted(shardsUsed, 'shard')}.`,
      ...(openable === 0 ? [] : [`The keys of ${counted(openable, 'sealed text')} of personal data are there too.`]),
      ...(lost === 0 ? [] : [`${counted(lost, 'sealed text')} of personal data cannot be opened: the keys are lost.`]),
      ...secrets.map(([file, setting]) => `Start every node with ${setting} as in ${join(folder, file)}.`),
    );
    return 0;
  },
};

function keysFile(call: CliCall, folder: string): string {
  const file = call.text('keys');
  if (file === null) return keysPath(folder);
  if (!existsSync(file)) throw new WrongUse(`--keys: there is no file ${file}`);
  return file;
}

/** The folder that is named, when no service runs on it. */
function idleFolder({ positionals }: CliCall): string {
  const folder = positionals[0]!;
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new WrongUse(`there is no folder ${folder}: name the data folder to import`);
  const pid = readServingPid(folder);
  if (pid === null) return folder;
  throw new CommandFailure(
    `a service runs on ${folder} (process ${pid})`,
    'Stop it first: what it sells meanwhile would not be in the cluster.',
  );
}
