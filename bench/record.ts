/** What was measured, kept as it came: one JSON file a scenario in `record/`, from which the report is drawn. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import type { Findings } from './scenario.ts';
import type { Machine } from './machine.ts';
import { SCENARIOS } from './scenarios.ts';

export interface Result {
  readonly scenario: string;
  readonly about: string;
  /** How long the scenario took in all. */
  readonly seconds: number;
  readonly findings: Findings;
  readonly trouble: string | null;
}

export interface Recorded extends Result {
  /** A day, as RFC 3339 writes it. */
  readonly measuredOn: string;
  readonly machine: Machine;
}

export const RECORD = new URL('./record/', import.meta.url);

export async function writeRecord(result: Result, machine: Machine): Promise<void> {
  const recorded: Recorded = { ...result, measuredOn: new Date().toISOString().slice(0, 10), machine };
  mkdirSync(RECORD, { recursive: true });
  const text = await format(JSON.stringify(recorded), { parser: 'json', printWidth: 120 });
  writeFileSync(new URL(`${result.scenario}.json`, RECORD), text);
}

/** What is kept, in the order of the scenarios. */
export function readRecord(): readonly Recorded[] {
  return SCENARIOS.map(({ name }) => new URL(`${name}.json`, RECORD))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Recorded);
}
