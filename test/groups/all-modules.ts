/** The modules of the product, from the state machines to the routes. */
import { importGroup } from '../groups.ts';

importGroup('all-modules');
