/**
 * fast-check for the suite. The same cases are played in every run, so that a red suite always means the change at
 * hand; `FC_SEED=random` (or a number) plays others, and the failing seed it prints is what reproduces a finding.
 */
import fc from 'fast-check';

const seed = process.env['FC_SEED'] ?? '20261121';
if (seed !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });

export { fc };
