/** Kills, faults, and tests that search with seeds. */
import { importGroup } from '../groups.ts';

importGroup('crashes');
