/** The part of `holdfast import` that needs the client of NATS. */
import { importFolder, type ImportReport } from '#cluster/moving/import.ts';
import { QUEUES } from '#notifications/mail.ts';
import { openWhole } from '#persistence/folder/backup.ts';
import type { CliCall } from '../terminal/command.ts';
import { readSettings } from './data-folder.ts';
import { withCluster } from '../cluster/open.ts';

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
