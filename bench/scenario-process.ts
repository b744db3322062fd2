/**
 * One scenario in a process of its own: its name and pace come as arguments; what it does now, and its findings at the end,
 * leave as messages.
 */
import { settingsOf, type Findings } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

export type ScenarioMessage = { readonly step: string } | { readonly findings: Findings };

const [name, pace] = process.argv.slice(2);
const scenario = SCENARIOS.find((each) => each.name === name);
if (scenario === undefined) throw new Error(`no scenario ${String(name)}`);
const tell = (step: string): void => void process.send!({ step } satisfies ScenarioMessage);
const findings = await scenario.run(settingsOf(pace === 'quick', tell));
process.send!({ findings } satisfies ScenarioMessage, () => process.exit(0));
