/**
 * Recent commands by their ids, so that a command that is sent again, to this owner or to a later one, is answered and
 * not executed twice.
 *
 * 1. A command is kept for EXECUTED_KEPT_MS after this owner learned of it, by its own stopwatch: the moments of facts
 *    come from the clocks of several machines. A caller tries again for a shorter time.
 */

import type { ExecutedCommand } from './records.ts';
import type { Timing } from '../timing.ts';

/** More than twice as long as a caller tries; a busy owner learns some ten thousand commands a second. */
export const EXECUTED_KEPT_MS = 30_000;

/** A command, and the last fact of its turn: its reply may leave when that one is durable. */
export interface KnownCommand extends ExecutedCommand {
  /** 0 where it was known at the start. */
  readonly seq: number;
}

interface RememberedCommand {
  readonly command: KnownCommand;
  readonly untilMs: number;
}

export class ExecutedCommands {
  readonly #timing: Timing;
  /** In the order in which they were learned. */
  readonly #kept = new Map<string, RememberedCommand>();

  constructor(timing: Timing, known: Iterable<ExecutedCommand>) {
    this.#timing = timing;
    for (const command of known) this.add(command, 0);
  }

  add(command: ExecutedCommand, seq: number): void {
    const nowMs = this.#timing.stopwatchMs();
    for (const [id, { untilMs }] of this.#kept) {
      if (untilMs > nowMs) break;
      this.#kept.delete(id);
    }
    this.#kept.set(command.id, { command: { ...command, seq }, untilMs: nowMs + EXECUTED_KEPT_MS });
  }

  get(id: string): KnownCommand | null {
    return this.#kept.get(id)?.command ?? null;
  }

  /** Those whose facts are durable. */
  durable(durableSeq: number): readonly ExecutedCommand[] {
    const commands = [...this.#kept.values()].map(({ command }) => command).filter(({ seq }) => seq <= durableSeq);
    return commands.map(({ id, eventId, at, reply }) => ({ id, eventId, at, reply }));
  }
}
