/** Calls that the tests of faults share: commands of `holdfast`, holds over HTTP, and the check of a 503. */
import assert from 'node:assert/strict';
import type { HoldBody } from '#http/buyers/holds.ts';
import { holdfast, succeeded } from '../cli/holdfast.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { HOLDS, type Answer, type Json, type ServiceClient } from '../fixtures/client.ts';
import { clubNight, floor } from '../fixtures/events.ts';

/** General admission for 100,000; its holds do not expire within a test. */
export const bigClub = clubNight({
  hold_minutes: 600,
  payment_minutes: 700,
  localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 100_000 }],
}) as Json;

interface Verified {
  readonly ok: boolean;
  readonly facts: number;
  readonly head_seq: number;
  readonly state_fingerprint: string | null;
  readonly [figure: string]: unknown;
}

/** Runs a command of `holdfast` with --json to its end; its exit code must be 0. */
export async function command(folder: string, ...args: readonly string[]): Promise<Json> {
  const { json } = succeeded(await holdfast([...args, '--json'], { DATA_DIR: folder }));
  return json<Json>();
}

/** Runs `holdfast verify`, which must find nothing wrong in the folder. */
export async function verifies(folder: string): Promise<Verified> {
  return (await command(folder, 'verify')) as Verified;
}

export function place(service: ServiceClient, sessionKey: string, quantity = 1): Promise<Answer<HoldBody>> {
  return service.call<HoldBody>('POST', HOLDS, {
    body: { event_id: 'evt_club', session_key: sessionKey, items: [floor(quantity)] },
  });
}

export function readHold(service: ServiceClient, { id }: HoldBody, sessionKey: string): Promise<Answer<HoldBody>> {
  return service.call<HoldBody>('GET', `${HOLDS}/${id}`, { sessionKey });
}

export async function isReady(service: ServiceClient): Promise<boolean> {
  return (await service.call('GET', '/health/ready')).status === 200;
}

/** 503 OVERLOADED, with Retry-After. */
export function assertOverloaded(answer: Answer<unknown>): void {
  assertRefused(answer, 503, 'OVERLOADED');
  assert.ok(Number(answer.headers.get('retry-after')) >= 1, 'Retry-After is at least a second');
}
