/** `holdfast backup`: a consistent, verified copy of the data folder, also while a service runs on it. */
import { copyUpTo } from '#persistence/folder/backup.ts';
import { verifyFolder } from '#offline/verification.ts';
import { SECRET_FILES } from '#service/secrets.ts';
import { DATA_OPTION, inColumns, type CliCommand } from '../terminal/command.ts';
import { dataFolder, keptFiles, keysOption } from './data-folder.ts';
import { followVerification, isGood, keysLine, leftLines, problemLines, reportJson, summaryLines } from './summary.ts';

export const command: CliCommand = {
  usage: 'backup OUT [--keys FILE | --without-keys] [--data DIR]',
  description: [
    'Copies everything that was on disk when the command started to the new data folder OUT: journal, archive, snapshots, ' +
      'secrets and token (readable by their owner only; keep OUT as safe as the data folder). A service may run on the data folder meanwhile. ' +
      'The copy is verified as by holdfast verify, the archive included. Serve from it with DATA_DIR=OUT. Damaged snapshots are ' +
      'not copied; archive and journal have their facts. Exit code 1 when a fact is missing.',
    'The keys that open personal data are copied to OUT/keys.db, or to FILE: a copy of the journal without its keys tells nothing of ' +
      'any person, and may be kept for years where the keys are kept for weeks. With --without-keys they are not copied. Who ' +
      'restores the copy with a copy of the keys that is older than an erasure could read what was erased until a service has ' +
      'started on both: delete old copies of keys.',
    'Where NATS_URL is set, it copies the cluster CLUSTER_NAME instead, also while nodes serve: all shards, each with its whole ' +
      'chain checked, become one journal in OUT, from which a single machine can serve with the secrets of the nodes; the keys of ' +
      "personal data become a file as a single machine's do. During the copy OUT takes about twice its final size.",
  ],
  options: [
    DATA_OPTION,
    { name: 'keys', value: 'FILE', help: 'where the keys of personal data are copied to (default: OUT/keys.db)' },
    { name: 'without-keys', help: 'leave the keys of personal data out' },
  ],
  positionals: { min: 1, max: 1 },
  examples: [
    { line: 'holdfast backup backups/monday', does: 'copies ./data, or DATA_DIR, to backups/monday' },
    { line: 'holdfast verify backups/monday', does: 'verifies the copy again' },
    {
      line: 'holdfast backup backups/monday --keys keys/monday.db',
      does: 'puts the keys of personal data elsewhere, so that they can be deleted earlier',
    },
    {
      line: 'NATS_URL=nats://a:4222 holdfast backup backups/monday',
      does: 'copies all shards of the cluster holdfast',
    },
  ],
  async run(call) {
    const { output } = call;
    if (call.environment['NATS_URL']) return (await import('./cluster-moving.ts')).backUpAllShards(call);
    const folder = dataFolder(call);
    const out = call.positionals[0]!;
    const files = keptFiles(folder);
    const onProgress = ({ seq, headSeq }: { seq: number; headSeq: number }) => output.progress('copying', seq, headSeq);
    const to = keysOption(call);
    const keys = to === null ? null : { to };
    output.text(...secretLines(out, files, to), '');
    const { snapshotsLeft, keys: keysFile } = await copyUpTo(folder, out, {}, { files, keys, onProgress });
    const report = await verifyFolder(out, followVerification(output), { keys: to });
    output.text(...summaryLines(report), '');
    output.json({ ...reportJson(report), from: folder, to: out, snapshotsLeft, keysFile });
    output.text(...leftLines(snapshotsLeft));
    if (!isGood(report)) {
      output.text(`${out} has the same problems as ${folder}:`, ...problemLines(report));
      return 1;
    }
    output.text(`${out} has everything that was answered before the command started.`);
    if (keysFile !== null) output.text(keysLine(keysFile));
    return 0;
  },
};

/** What in a copy must be kept from others, with what it is; the keys are `undefined` where their place is the copy. */
function secretLines(out: string, files: readonly string[], keys: string | null | undefined): readonly string[] {
  const secrets = files.flatMap((file) =>
    SECRET_FILES[file] === undefined ? [] : [[file, SECRET_FILES[file]] as const],
  );
  if (keys === undefined) secrets.unshift(['keys.db', 'the keys of personal data (--without-keys leaves them out)']);
  if (secrets.length === 0) return [];
  return [
    `Secrets beside the journal in ${out}; who has them can read and change what they open:`,
    ...inColumns(secrets),
  ];
}
