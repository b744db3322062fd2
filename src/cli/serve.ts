/** `holdfast serve`: the service alone. What it logs and how it ends is told in `src/serve.ts`. */
import { SETTINGS, type Setting } from '#src/config.ts';
import { serve } from '#src/serve.ts';
import type { Command, ExitCode } from './command.ts';

const settings: readonly (readonly [string, Setting])[] = Object.entries(SETTINGS);

export const serveCommand: Command = {
  usage: 'serve',
  description: [
    'Serves from DATA_DIR until SIGTERM or SIGINT. Logs JSON lines on stdout; the one with "msg":"ready" has the addresses ' +
      "of the public listener and the operators' listener.",
    'Exit codes: 0 after a signal, 2 a bad setting, 3 the data folder is in use, 4 the journal could not be written, ' +
      '5 the journal is damaged or shorter than it must be.',
  ],
  glossary: {
    heading: 'Settings, from the environment',
    entries: settings.map(([name, setting]) => [name, `${setting.meaning}${defaultOf(setting)}`] as const),
  },
  options: [],
  positionals: { min: 0, max: 0 },
  examples: [
    { line: 'holdfast serve', does: 'serves from ./data at http://127.0.0.1:8080, for operators at port 8081' },
    { line: 'DATA_DIR=/srv/tickets CATALOG=events/ holdfast serve', does: 'loads the catalogue in events/ first' },
  ],
  async run() {
    await serve({ demo: false });
    return new Promise<ExitCode>(() => {});
  },
};

function defaultOf(setting: Setting): string {
  return setting.default === null ? '' : ` (${setting.default})`;
}
