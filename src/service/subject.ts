/**
 * What is kept about a person, for a command on a data folder: the body of `GET /admin/subject`, with two differences.
 *
 * 1. The history of an order is read from the journal, which has more of it than the order itself.
 * 2. Tickets have no codes: the folder is only read, and codes need its key. The person finds them on the order's page.
 */
import type { OrderView } from '#domain/view.ts';
import { toSubjectBody, type SubjectBody, type SubjectFact } from '#http/operators/subject.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { SubjectPage } from '#privacy/subject-search.ts';
import type { TicketCodes } from '#tickets/signing.ts';

export type SubjectReport = SubjectBody;

const NO_CODES: TicketCodes = { codeOf: () => null, prepare: () => Promise.resolve() };

/** `factsAbout` has the facts of the journal that name an order or its hold. */
export function toSubjectReport(
  subject: { readonly email: string; readonly found: SubjectPage; readonly at: number },
  factsAbout: (order: OrderView) => readonly FactRow[],
): Promise<SubjectReport> {
  return toSubjectBody(subject, NO_CODES, (order) => factsAbout(order).map(toFact));
}

function toFact({ seq, type, at, data }: FactRow): SubjectFact {
  const { amountCents, totalCents, currency } = JSON.parse(data) as {
    readonly amountCents?: number;
    readonly totalCents?: number;
    readonly currency?: string;
  };
  return { seq, type, at, amount: amountCents ?? totalCents, currency };
}
