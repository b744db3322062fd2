/** Pages for everybody: axe by day and by night, both languages, phones, large text, brands. */
import { importGroup } from '../../groups.ts';

importGroup('ci/audits');
