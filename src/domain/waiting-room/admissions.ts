/** When people were admitted lately: the memory behind "in no span of 60 s more than the rate". */

/**
 * The length of the span. It is half open: of two admissions at `t` and `t + 60,000` only one lies in any span, so the place
 * that an admission takes of the rate is free again from that very millisecond on.
 */
export const ADMISSION_SPAN_MS = 60_000;

/** Admissions of one turn. */
export interface AdmissionBatch {
  readonly at: number;
  readonly count: number;
}

/** The batches of the last span, oldest first; older ones may linger until the next admission. */
export interface RecentAdmissions {
  readonly batches: AdmissionBatch[];
  total: number;
}

export function noAdmissions(): RecentAdmissions {
  return { batches: [], total: 0 };
}

/** How many people were admitted in the span that ends with `now`, `now` included. */
export function admittedLately({ batches, total }: RecentAdmissions, now: number): number {
  let recent = total;
  for (const { at, count } of batches) {
    if (at > now - ADMISSION_SPAN_MS) break;
    recent -= count;
  }
  return recent;
}

/** Notes the admissions of a turn and forgets those that no span shares with them. */
export function noteAdmissions(admissions: RecentAdmissions, at: number, count: number): void {
  const { batches } = admissions;
  while (batches.length > 0 && batches[0]!.at <= at - ADMISSION_SPAN_MS) admissions.total -= batches.shift()!.count;
  batches.push({ at, count });
  admissions.total += count;
}
