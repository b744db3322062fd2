/**
 * The async hook of the test runner, which follows every promise of the process to know in which suite a test is
 * registered and which test an uncaught error came from.
 *
 * Once all tests are registered only the second is left, and it costs a sixth of the processor time: the hook is
 * disabled, and such an error fails the file in place of one of its tests. The runner enables it when the first test or
 * hook is registered, so this module is imported before any that does.
 */
import assert from 'node:assert/strict';
import { createHook, type AsyncHook } from 'node:async_hooks';

const enabled: AsyncHook[] = [];
const prototype = Object.getPrototypeOf(createHook({})) as AsyncHook;
const { enable } = prototype;
prototype.enable = function () {
  enabled.push(this);
  return enable.call(this);
};

/** Disables it when all tests are registered. */
export function disableRunnerHooks(): void {
  assert.ok(enabled.length > 0, 'the runner has enabled its hook before it could be seen');
  for (const hook of enabled) hook.disable();
}
