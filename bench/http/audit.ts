/** The audit after a load: everything that was answered is on disk, and the counts are consistent. */
import { verifyFolder } from '#offline/verification.ts';
import type { Figure } from '../scenario.ts';

/**
 * Verifies the data folder of a stopped service: the chain of the journal, a replay of every fact, and the stock
 * counted again from the holds. Clients have answers for `ticketsAnswered` held or sold tickets and `ticketsBought`
 * sold ones.
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
