import { startEngine, type Engine } from '#actors/engine.ts';
import { LIMITS } from '#src/config.ts';
import type { Call } from './command.ts';
import { readSettings } from './settings.ts';

/** Takes the data folder for this command, as a service would. Rejects with FolderInUse and as `startEngine` does. */
export function openOffline(call: Call): Promise<Engine> {
  const { dataDir, liveEventsMax } = readSettings(call);
  const { output } = call;
  return startEngine({
    folder: dataDir,
    liveEventsMax,
    mailboxCommandsMax: LIMITS.mailboxCommandsMax,
    onProgress: ({ seq, headSeq }) => output.progress('reading the journal', seq, headSeq),
    onFatal({ message, hint }) {
      output.trouble(message, hint);
      process.exit(1);
    },
  });
}
