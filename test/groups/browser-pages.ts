/** The console, the reference and the way through the shop, in a browser. */
import { importGroup } from '../groups.ts';

importGroup('browser-pages');
