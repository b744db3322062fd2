/** Tests of `test/api` with two threads that answer. */
import { importGroup } from '../../groups.ts';

importGroup('ci/threads');
