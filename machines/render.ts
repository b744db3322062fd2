/** Writes README.md of this folder anew from the machines: `npm run render`. */
import { writeFileSync } from 'node:fs';
import { renderReadme } from './readme.ts';

writeFileSync(new URL('README.md', import.meta.url), renderReadme());
