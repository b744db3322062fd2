/** The same with two threads that answer. */
import { importGroup } from '../groups.ts';

importGroup('api-threads');
