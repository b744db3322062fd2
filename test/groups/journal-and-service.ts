/** Journals, archives and keys, and the rules of the source tree. */
import { importGroup } from '../groups.ts';

importGroup('journal-and-service');
