/**
 * Runs one scenario in a process of its own. The arguments are its name and pace; its steps and findings are sent as
 * messages.
 */
import { settingsOf, type Findings } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

export type ScenarioMessage = { readonly step: string } | { readonly findings: Findings };

const [name, pace] = process.argv.slice(2);
const scenario = SCENARIOS.find((each) => each.name === name);
if (scenario === undefined) throw new Error(`no scenario ${String(name)}`);
const report = (step: string): void => void process.send!({ step } satisfies ScenarioMessage);
const findings = await scenario.run(settingsOf(pace === 'quick', report));
process.send!({ findings } satisfies ScenarioMessage, () => process.exit(0));
