/** The other pages of the shop, in a browser. */
import { importGroup } from '../groups.ts';

importGroup('browser-shop');
