/** Processes and nodes that are killed at work again and again, all that `npm run cluster` starts, and a short soak. */
import { importGroup } from '../../groups.ts';

importGroup('ci/drills');
