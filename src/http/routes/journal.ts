/**
 * What happened last, for the operators' console: the newest facts, the newest first.
 *
 * A window on the journal and no more: a whole sale is read with `holdfast journal`. What is shown of a fact is what is shown there.
 */
import { shownFact } from '#actors/shown-facts.ts';
import type { HttpApp } from '../app.ts';
import { bearer, errorResponses } from '../openapi.ts';
import type { OperatorPorts } from '../ports.ts';
import { printTime } from '../printing.ts';
import { ref } from '../schemas/fields.ts';
import { JournalPage, JournalQuery, type JournalFactBody } from '../schemas/journal.ts';

const FACTS_SHOWN = 50;
/** Facts looked at for those of one event: some 10 ms of reading. */
const FACTS_READ_MAX = 2_000;
/** Longer ones, such as whole definitions, are said by their size alone. */
const DATA_LENGTH_MAX = 4_000;

export function journalRoutes(
  app: HttpApp,
  { requireToken, facts, gauges }: Pick<OperatorPorts, 'requireToken' | 'facts' | 'gauges'>,
): void {
  app.get(
    '/admin/journal',
    {
      onRequest: requireToken,
      schema: {
        operationId: 'listFacts',
        tags: ['Service'],
        summary: 'Read what happened last, the newest fact first',
        description:
          '*** stands in place of secrets: session keys, seeds of draws, passes, ids of holds. A whole sale is read with `holdfast journal`.',
        security: bearer,
        querystring: JournalQuery,
        response: { 200: ref(JournalPage), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { limit = FACTS_SHOWN, before, event_id: eventId } = request.query;
      const end = Math.min(Number(before ?? Number.MAX_SAFE_INTEGER), gauges.journal.durableSeq + 1);
      const begin = Math.max(0, end - 1 - (eventId === undefined ? Number(limit) : FACTS_READ_MAX));
      const shown: JournalFactBody[] = [];
      for (const row of facts(begin)) {
        if (row.seq >= end) break;
        if (eventId !== undefined && row.eventId !== eventId) continue;
        shown.push({
          seq: row.seq,
          at: printTime(row.at),
          event_id: row.eventId === '' ? null : row.eventId,
          type: row.type,
          data: dataOf(row),
        });
        if (shown.length > Number(limit)) shown.shift();
      }
      shown.reverse();
      // A short page of all facts has come to the first; one of an event's may have more before the stretch that was read.
      const isEnd = eventId === undefined && shown.length < Number(limit);
      const first = shown.length === Number(limit) ? shown.at(-1)!.seq : begin + 1;
      return reply.send({ facts: shown, next_before: isEnd || first <= 1 ? null : first });
    },
  );
}

function dataOf({ type, data }: { readonly type: string; readonly data: string }): string {
  const shown = shownFact(type, data);
  return shown.length > DATA_LENGTH_MAX ? `(${data.length.toLocaleString('en')} characters)` : shown;
}
