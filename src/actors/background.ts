import { troubleChannel, type TroubleMessage } from './channels.ts';

/**
 * Work that nobody waits for. Its rejection is reported and ends nothing: an unhandled one would end the process, and with
 * it the sale of every other event.
 */
export function inBackground(where: string, work: Promise<unknown>): void {
  work.catch((error: unknown) => {
    troubleChannel.publish({ where, message: 'work in the background failed', error } satisfies TroubleMessage);
  });
}
