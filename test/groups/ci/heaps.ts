/** What is in memory: the bytes of an event's parts, and nothing readable of a person. */
import { importGroup } from '../../groups.ts';

importGroup('ci/heaps');
