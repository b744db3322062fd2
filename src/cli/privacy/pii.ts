/** `holdfast pii`: how much personal data of orders anybody can read who has a data folder's journal. Only reads. */
import { lostTexts, surveyPersonalData, type PersonalCounts, type PersonalSurvey } from '#offline/personal-survey.ts';
import { DATA_OPTION, type CliCommand } from '../terminal/command.ts';
import { dataFolder, withFolderArgument, withKeys, withView } from '../folder/data-folder.ts';
import { counted, grouped, table } from '../terminal/output.ts';

export const command: CliCommand = {
  usage: 'pii [FOLDER]',
  description: [
    'Counts the personal data that are readable in a data folder, by event and field, over all facts of journal and archive, also ' +
      'while a service runs on it: name, address, telephone and document number of customers and of attendees, tracking texts, and ' +
      'notes on orders. Says what is sealed, and how much of that can be opened with the keys in the folder, and what was erased. ' +
      'Prints no name and no address.',
    'Sealed texts are not readable: who has a copy of the journal without its keys cannot open them. Facts of versions without sealing ' +
      'are open; holdfast seal makes a folder in which they are sealed. Notes that operators wrote about dates and seats are ' +
      'counted apart. Not counted: codes of promoters and referrers, addresses to return to, references of payments, and session ' +
      "keys, which a shop's pages make up. Snapshots have what their facts have.",
    'Exit code 0 when nothing personal of an order is readable. Exit code 1 when something is, when a key is there though its order ' +
      'was erased, or when a part of the folder could not be read.',
  ],
  options: [DATA_OPTION],
  positionals: { min: 0, max: 1 },
  examples: [
    { line: 'holdfast pii', does: 'counts in ./data, or DATA_DIR, beside the service that runs on it' },
    { line: 'holdfast pii backups/monday --json', does: 'counts in a backup and prints the counts as JSON' },
  ],
  async run(call) {
    const { output } = call;
    const folder = dataFolder(withFolderArgument(call));
    const onProgress = (seq: number, headSeq: number): void => output.progress('reading facts', seq, headSeq);
    const survey = await withView(folder, (view) =>
      withKeys(folder, (keys) => surveyPersonalData(view, { keys, onProgress })),
    );
    const { total, unread } = survey;
    const ok = sumOf(total.fields) === 0 && total.keptKeys === 0 && unread.length === 0;
    output.json({ ok, folder, ...toJson(survey) });
    output.text(...readableLines(survey), ...sealedLines(total), '');
    output.text(...unread.map((what) => `could not be read: ${what}`));
    output.text(verdict(survey, folder));
    return ok ? 0 : 1;
  },
};

function toJson({ headSeq, events, total, unread }: PersonalSurvey): object {
  return { headSeq, unread, events: events.map(countsJson), total: countsJson(total) };
}

/** Names of fields are values here, so that they keep their form. */
function countsJson(counts: PersonalCounts): object {
  const listed = (of: PersonalCounts['fields']) => Object.entries(of).map(([field, count]) => ({ field, count }));
  const { fields, otherNotes } = counts;
  return { ...counts, fields: listed(fields), otherNotes: listed(otherNotes), lostTexts: lostTexts(counts) };
}

function sumOf(counts: PersonalCounts['fields']): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function readableLines({ events }: PersonalSurvey): string[] {
  const rows = events.flatMap(({ eventId, fields }) =>
    Object.entries(fields).map(([field, count]) => [eventId, field, count] as const),
  );
  return rows.length === 0 ? [] : [...table([['event', 'field', 'readable'], ...rows]), ''];
}

function sealedLines(total: PersonalCounts): string[] {
  const { orders, openOrders, sealedTexts, openableTexts, erasedOrders, keptKeys, otherNotes } = total;
  const lost = lostTexts(total);
  const notes = Object.entries(otherNotes).map(([type, count]) => `${grouped(count)} ${type}`);
  return [
    `orders     ${grouped(orders)}, of ${grouped(openOrders)} something is readable`,
    `sealed     ${counted(sealedTexts, 'text')}, the keys of ${grouped(openableTexts)} are in this folder`,
    `erased     ${counted(erasedOrders, 'order')}`,
    ...(keptKeys === 0 ? [] : [`           of these ${counted(keptKeys, 'key')} are still there`]),
    ...(lost === 0
      ? []
      : [`keys       ${grouped(lost)} missing without an erasure: those texts cannot be opened here`]),
    `notes      ${notes.length === 0 ? 'none' : notes.join(', ')} on facts that are about no order`,
  ];
}

function verdict({ total, unread }: PersonalSurvey, folder: string): string {
  const readable = sumOf(total.fields);
  if (readable > 0) {
    return `${counted(readable, 'personal value')} of ${counted(total.openOrders, 'order')} can be read in ${folder}: holdfast seal FROM TO seals them.`;
  }
  if (total.keptKeys > 0) {
    return `${counted(total.keptKeys, 'key')} of erased orders are in ${folder}: the next start of the service destroys them.`;
  }
  if (unread.length > 0) return `Nothing personal of an order was found in the part of ${folder} that can be read.`;
  return `Nothing personal of an order is readable in ${folder} without its keys.`;
}
