/** How many bytes a record keeps. */
import { importGroup } from '../groups.ts';

importGroup('memory');
