/** The files of a data folder that are nobody's but the service's: its keys and tokens, which a copy must not lose. */
import { readdirSync } from 'node:fs';

/** What journal, lock and watermark own; they are copied in ways of their own, or not at all. */
const JOURNAL_FILES = /^(journal|lock)\.db|^holdfast\.pid|^head\.witness|\.tmp$/;

/** The names of the files beside the journal. */
export function keptFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !JOURNAL_FILES.test(entry.name))
    .map(({ name }) => name);
}
