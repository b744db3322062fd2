/** After the load: is everything on disk that was answered, and do the books add up? */
import { verifyFolder } from '#actors/verification.ts';
import type { Figure } from '../scenario.ts';

/**
 * Reads the data folder of a stopped service from its first byte: the chain of the journal, a replay of every fact, and
 * the stock counted anew from the holds. `ticketsAnswered` were promised to clients, `ticketsBought` of them paid for.
 */
export async function auditFolder(folder: string, ticketsAnswered: number, ticketsBought = 0): Promise<Figure[]> {
  const report = await verifyFolder(folder);
  for (const problem of report.problems) process.stderr.write(`${JSON.stringify(problem)}\n`);
  const { capacity, held, sold } = report.figures.tickets;
  return [
    {
      name: 'audit: problems found',
      value: report.problems.length + report.moreProblems,
      unit: '',
      budget: { atMost: 0 },
    },
    { name: 'audit: tickets oversold', value: Math.max(0, held + sold - capacity), unit: '', budget: { atMost: 0 } },
    {
      name: 'audit: answered and not on disk',
      value: Math.max(0, ticketsAnswered - held - sold, ticketsBought - sold),
      unit: '',
      budget: { atMost: 0 },
    },
    { name: 'audit: facts replayed', value: report.facts, unit: '' },
  ];
}
