import { eventIdsIn, readBoxOffice, slugsIn } from '#actors/reading.ts';
import { viewJournal, type JournalView } from '#persistence/sqlite/view.ts';
import { CommandFailure, suggestion } from './command.ts';
import type { BoxOffice } from '#domain/box-office.ts';

/** Runs a query over a view of the folder's journal, and closes it. Throws CommandFailure when there is no journal. */
export async function withView<Result>(folder: string, query: (view: JournalView) => Promise<Result>): Promise<Result> {
  const view = viewJournal(folder);
  if (view === null) {
    throw new CommandFailure(`there is no journal in ${folder}`, 'Name the data folder with --data or DATA_DIR.');
  }
  try {
    return await query(view);
  } finally {
    view.close();
  }
}

/** An event's box office by its id or slug. Throws CommandFailure, with a name that is close, when there is none. */
export async function readEvent(folder: string, view: JournalView, name: string): Promise<BoxOffice> {
  const slugs = await slugsIn(folder, view);
  const office =
    (await readBoxOffice(folder, view, name)) ?? (await readBoxOffice(folder, view, slugs.get(name) ?? ''));
  if (office !== null) return office;
  const known = suggestion(name, [...eventIdsIn(view), ...slugs.keys()]);
  throw new CommandFailure(`there is no event ${name} in ${folder}${known}`, 'holdfast inspect lists all events.');
}
