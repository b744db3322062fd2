/** `holdfast serve`: runs the service; see `src/service/serve.ts`. */
import { SETTINGS, type Setting } from '#service/settings.ts';
import { serve } from '#service/serve.ts';
import type { CliCommand, ExitCode } from '../terminal/command.ts';

const settings: readonly (readonly [string, Setting])[] = Object.entries(SETTINGS);

export const command: CliCommand = {
  usage: 'serve',
  description: [
    'Runs the service on DATA_DIR until SIGTERM or SIGINT. Logs JSON lines on stdout; the line with "msg":"ready" has the addresses ' +
      "of the public listener and the operators' listener.",
    'Exit codes: 0 after a signal, 1 a defect, 2 a setting, the catalogue, a port or a NATS server cannot be used, 3 the data folder ' +
      'is in use, 4 the journal or the keys could not be written, 5 the journal, the keys or a kept secret is damaged, the journal ' +
      'or the keys are missing, or a later version wrote the folder.',
  ],
  glossary: {
    heading: 'Settings, from the environment',
    entries: settings.map(([name, setting]) => [name, `${setting.meaning}${defaultOf(setting)}`] as const),
  },
  options: [],
  positionals: { min: 0, max: 0 },
  examples: [
    { line: 'holdfast serve', does: 'serves ./data at http://127.0.0.1:8080, operators at port 8081' },
    { line: 'DATA_DIR=/srv/tickets CATALOG=events/ holdfast serve', does: 'loads the catalogue in events/ first' },
  ],
  async run({ environment }) {
    await serve({ demo: false, environment });
    return new Promise<ExitCode>(() => {});
  },
};

function defaultOf(setting: Setting): string {
  return setting.default === null ? '' : ` (${setting.default})`;
}
