/** The recorded results: a JSON file for each scenario in `record/`, from which the report is made. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import type { Findings } from './scenario.ts';
import type { Machine } from './machine.ts';
import { SCENARIOS } from './scenarios.ts';

export interface Result {
  readonly scenario: string;
  readonly about: string;
  /** Duration of the whole scenario. */
  readonly seconds: number;
  readonly findings: Findings;
  readonly trouble: string | null;
}

export interface Recorded extends Result {
  /** A date (RFC 3339). */
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

/** In the order of the scenarios. */
export function readRecord(): readonly Recorded[] {
  return SCENARIOS.map(({ name }) => new URL(`${name}.json`, RECORD))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Recorded);
}
