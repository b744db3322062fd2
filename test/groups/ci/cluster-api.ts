/** Tests of `test/api` over three nodes. */
import { importGroup } from '../../groups.ts';

importGroup('ci/cluster-api');
