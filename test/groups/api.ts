/** What buyers, shops and operators see over HTTP. */
import { importGroup } from '../groups.ts';

importGroup('api');
