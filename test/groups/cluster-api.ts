/** The same over three nodes. */
import { importGroup } from '../groups.ts';

importGroup('cluster-api');
