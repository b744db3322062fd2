import { eventIdsIn, readEventState, slugsIn } from '#actors/reading.ts';
import { viewJournal, type JournalView } from '#persistence/sqlite/view.ts';
import { CommandFailure, suggestion } from './command.ts';
import type { EventState } from '#domain/event-state.ts';

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
export async function readEvent(folder: string, view: JournalView, name: string): Promise<EventState> {
  const slugs = await slugsIn(folder, view);
  const state =
    (await readEventState(folder, view, name)) ?? (await readEventState(folder, view, slugs.get(name) ?? ''));
  if (state !== null) return state;
  const known = suggestion(name, [...eventIdsIn(view), ...slugs.keys()]);
  throw new CommandFailure(`there is no event ${name} in ${folder}${known}`, 'holdfast inspect lists all events.');
}
