/** One scenario in a process of its own: its name and settings come as arguments, its figures leave as a message. */
import { SCENARIOS } from './scenarios.ts';

const [name, pace] = process.argv.slice(2);
const scenario = SCENARIOS.find((each) => each.name === name);
if (scenario === undefined) throw new Error(`no scenario ${String(name)}`);
const figures = await scenario.run({ quick: pace === 'quick' });
process.send!(figures, () => process.exit(0));
