/**
 * `holdfast upgrade --check`: whether this version can take a data folder over, what will be different, and how to go
 * back.
 *
 * It only reads; a newer version takes a folder over when it is started on it.
 */
import product from '../../../package.json' with { type: 'json' };
import { readConfig } from '#service/config.ts';
import { checkUpgrade, type UpgradeReport } from '#offline/upgrade-check.ts';
import type { WayBack } from '#offline/format-changes.ts';
import { changedSettings, type SettingChange } from './changed-settings.ts';
import { DATA_OPTION, WrongUse, type CliCommand } from '../terminal/command.ts';
import { dataFolder, noJournal, withFolderArgument } from './data-folder.ts';
import { counted, grouped, table } from '../terminal/output.ts';
import { followVerification, isGood, problemLines, reportJson, summaryLines } from './summary.ts';

const OWN_LINE = `settings   version ${product.version}, which is this one, wrote this folder: all means what it meant`;

interface Trouble {
  readonly what: string;
  readonly hint: string;
}

export const command: CliCommand = {
  usage: 'upgrade --check [FOLDER]',
  description: [
    'Checks whether this version can take a data folder over, without writing to it, also while an older version runs on it. Every ' +
      'fact is replayed with this version and every snapshot is compared with the replay, as holdfast verify does. Facts that this ' +
      'version does not know are named, and so are settings of the environment and of events that mean something else than before.',
    'Tells how long a start and the first answers of the largest events will take on this machine: the journal is proved and the ' +
      'events are activated as they would be. Asks the folder itself which older versions can still read it: that is the way back, ' +
      'and it can end with the first fact or snapshot that this version writes, so take a holdfast backup before.',
    'Exit code 0 when nothing is in the way, else 1 with what to do. The upgrade is a start with the new version.',
  ],
  options: [
    { name: 'check', help: 'check, and change nothing; there is no other way to use this command' },
    DATA_OPTION,
  ],
  positionals: { min: 0, max: 1 },
  examples: [
    { line: 'holdfast upgrade --check', does: 'checks ./data, or DATA_DIR, beside the service that runs on it' },
    { line: 'holdfast upgrade --check backups/monday', does: 'checks a backup' },
  ],
  async run(call) {
    if (!call.has('check'))
      throw new WrongUse('--check is missing: the upgrade itself is a start with the new version');
    const { output } = call;
    const folder = dataFolder(withFolderArgument(call));
    const report = await checkUpgrade(folder, { ...followVerification(output), onStep: output.progress });
    if (report.verification?.journalId === null && isGood(report.verification)) throw noJournal(folder);
    // Changes since a released version are reported only where this version has not written to the folder yet.
    const isOwn = report.writtenBy === product.version;
    const settings = isOwn ? [] : changedSettings(call.environment, report.definitions);
    const troubles = [...troublesOf(report), ...badSettings(call.environment)];
    const { verification } = report;
    const good = troubles.length === 0 && verification !== null && isGood(verification);
    output.json(toJson(folder, report, settings, troubles, good));
    output.text(...(verification === null ? [] : [...summaryLines(verification), '']));
    output.text(
      ...timeLines(report),
      ...(isOwn ? [OWN_LINE] : settingLines(settings)),
      ...wayBackLines(report.waysBack),
      '',
    );
    if (good) {
      output.text(isOwn ? `Nothing changes for ${folder}.` : `This version can take ${folder} over.`);
      return 0;
    }
    output.text(`This version must not take ${folder} over yet:`);
    output.text(...troubles.flatMap(({ what, hint }) => [`  ${what}`, `      ${hint}`]));
    if (verification !== null) output.text(...problemLines(verification));
    return 1;
  },
};

function troublesOf({ tooNew, unknownFacts }: UpgradeReport): Trouble[] {
  const unknown = unknownFacts.map(({ type, count, firstSeq, eventIds }) => ({
    what: `${counted(count, 'fact')} of the type ${type}, the first is fact ${firstSeq} of ${eventIds.map(nameOf).join(', ')}`,
    hint: 'A newer version wrote it: run that version, or a later one.',
  }));
  return tooNew === null ? unknown : [{ what: tooNew.message, hint: tooNew.hint }];
}

function nameOf(eventId: string): string {
  return eventId === '' ? 'the service' : eventId;
}

/** Settings with which this version does not start. */
function badSettings(environment: Readonly<Record<string, string | undefined>>): Trouble[] {
  const reading = readConfig(environment);
  if (!('problems' in reading)) return [];
  return reading.problems.map((what) => ({ what, hint: 'With this setting the service does not start.' }));
}

// ── the report ───────────────────────────────────────────────────────────────────────────────────────────────────────

function timeLines({ startMs, firstAnswers }: UpgradeReport): string[] {
  if (startMs === null) return [];
  const rows = firstAnswers.map(({ eventId, facts, factsReplayed, ms }) => {
    return [eventId, facts, factsReplayed, ms === null ? 'cannot be activated' : `${grouped(Math.ceil(ms))} ms`];
  });
  const heading = ['largest events', 'facts', 'replayed', 'first answer after'];
  return [
    `start      ${grouped(Math.ceil(startMs))} ms to read the journal, beside the start of the process itself`,
    ...(rows.length === 0 ? [] : table([heading, ...rows])),
    '',
  ];
}

const EVENTS_NAMED_MAX = 5;

function settingLines(settings: readonly SettingChange[]): string[] {
  if (settings.length === 0) return ['settings   none that is used here means something else than before'];
  return settings.map(({ setting, after, what, eventIds }) => {
    const named = eventIds.slice(0, EVENTS_NAMED_MAX).join(', ');
    const more =
      eventIds.length > EVENTS_NAMED_MAX ? ` and ${counted(eventIds.length - EVENTS_NAMED_MAX, 'more', 'more')}` : '';
    return `settings   since ${after} ${setting} ${what}${eventIds.length === 0 ? '' : ` (${named}${more})`}`;
  });
}

function wayBackLines(waysBack: readonly WayBack[]): string[] {
  return waysBack.flatMap(({ version, reading, withoutSnapshots, inTheWay }) => {
    const before = withoutSnapshots ? ' once its folder snapshots is removed (the facts are in the journal)' : '';
    const verdicts = {
      YES: `can read this folder${before}`,
      MISREAD: `can read this folder${before}, but would misread what it does not know`,
      NO: 'cannot read this folder any more: the way back is a backup from before',
    };
    return [
      `way back   version ${version} ${verdicts[reading]}`,
      ...inTheWay.map((what) => `           it has ${what}`),
    ];
  });
}

function toJson(
  folder: string,
  { writtenBy, verification, unknownFacts, startMs, firstAnswers, waysBack }: UpgradeReport,
  settings: readonly SettingChange[],
  troubles: readonly Trouble[],
  ok: boolean,
): object {
  const proved = verification === null ? null : reportJson(verification);
  return {
    ok,
    folder,
    writtenBy,
    verification: proved,
    unknownFacts,
    startMs,
    firstAnswers,
    settings,
    waysBack,
    troubles,
  };
}
