/** Several nodes and what they share. */
import { importGroup } from '../groups.ts';

importGroup('cluster');
