/** The command line, files for operators, rehearsals. */
import { importGroup } from '../groups.ts';

importGroup('commands');
