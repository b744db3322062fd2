/**
 * The parts of `holdfast backup` and `holdfast import` that need the client of NATS: all shards into an ordinary data
 * folder, and a data folder into an empty cluster.
 */
import { backUpCluster } from '#cluster/moving/backup.ts';
import { importFolder, type ImportReport } from '#cluster/moving/import.ts';
import { QUEUES } from '#notifications/mail.ts';
import { verifyFolder } from '#offline/verification.ts';
import { openWhole } from '#persistence/folder/backup.ts';
import { keysPath } from '#persistence/sqlite/key-file.ts';
import { WrongUse, type CliCall, type ExitCode } from '../terminal/command.ts';
import { keysOption, readSettings } from './data-folder.ts';
import { withCluster } from '../cluster/open.ts';
import { followVerification, isGood, keysLine, problemLines, reportJson, summaryLines } from './summary.ts';

export async function backUpAllShards(call: CliCall): Promise<ExitCode> {
  const { output } = call;
  if (call.has('data')) {
    throw new WrongUse('--data names the folder of a single machine, and NATS_URL a cluster: leave one of them out');
  }
  const out = call.positionals[0]!;
  const names = { shards: 'reading shards', facts: 'writing facts' };
  const to = keysOption(call);
  const { cluster, keysFile } = await withCluster(call, { mustExist: true }, async ({ settings, store, keys }) => {
    const { keys: copied } = await backUpCluster(store, {
      out,
      keys: { log: await keys.existingKeyLog(), to: to === undefined ? keysPath(out) : to },
      queues: QUEUES,
      onProgress: (of, done, total) => output.progress(names[of], done, total),
    });
    return { cluster: settings.clusterName, keysFile: copied };
  });
  const report = await verifyFolder(out, followVerification(output), { keys: to });
  output.text(...summaryLines(report), '');
  output.json({ ...reportJson(report), fromCluster: cluster, to: out, keysFile });
  if (!isGood(report)) {
    output.text(`${out} has problems, so the cluster ${cluster} has them too:`, ...problemLines(report));
    return 1;
  }
  output.text(
    `${out} has everything that the cluster ${cluster} answered before the command started.`,
    'It has no secrets: a single machine that serves from it needs the settings ADMIN_TOKEN, TICKET_KEY, WEBHOOK_SECRET_A and ' +
      'WEBHOOK_SECRET_B of the nodes.',
  );
  if (keysFile !== null) output.text(keysLine(keysFile));
  return 0;
}

export async function importIntoCluster(
  call: CliCall,
  folder: string,
  keysFile: string,
): Promise<ImportReport & { readonly cluster: string }> {
  const whole = openWhole(folder);
  const names = { reading: 'proving the folder', importing: 'importing facts' };
  try {
    return await withCluster(call, { mustExist: false }, async ({ settings: { clusterName }, keys, ...opened }) => {
      const report = await importFolder({
        folder: whole,
        keys: {
          file: keysFile,
          log: await keys.keyLog(),
          note: (keysId) => keys.noteKeysId(keysId),
          isLossAccepted: readSettings(call).keysLost,
        },
        ...opened,
        cluster: clusterName,
        queues: QUEUES,
        onProgress: (of, done, total) => call.output.progress(names[of], done, total),
      });
      return { ...report, cluster: clusterName };
    });
  } finally {
    whole.close();
  }
}
