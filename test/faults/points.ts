/**
 * Which of many points of failure a run of the suite tries: others in each run, by a seed that is printed and can be
 * given again.
 */
import { randomInt } from 'node:crypto';
import { chanceOf } from '../simulation/chance.ts';

/** `FAULT_SEED=N` repeats the choice of an earlier run. */
export const faultSeed = Number(process.env['FAULT_SEED'] ?? randomInt(1_000_000));
export const chance = chanceOf(faultSeed);
