/** Asks on the terminal before something that cannot be undone is done. */
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';

/** Where somebody may sit; questions go to stderr, so that stdout has results alone. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
}

/** Whether somebody can be asked. */
export function canAsk({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/** Whether the word `yes` was typed; anything else, and the end of the input, is a no. */
export async function confirm(question: string, { input, output }: Terminal): Promise<boolean> {
  const lines = createInterface({ input, output });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    const answer = await Promise.race([lines.question(`${question} `), ended]);
    return answer.trim().toLowerCase() === 'yes';
  } finally {
    lines.close();
  }
}
