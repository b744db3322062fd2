import type { FoundProblem } from '#domain/schema-problems.ts';

/** Reports one problem. */
export type Report = (path: string, message: string) => void;

/** Problems in one answer; with more than that, a file is better corrected in rounds. */
export const problemsMax = 1_000;

/**
 * Collects further problems after those of the schema, one for each path. A problem at a path that the schema refused,
 * or above one, is a consequence of that refusal and is dropped.
 */
export function collectProblems(earlier: readonly FoundProblem[]): {
  problems: FoundProblem[];
  report: Report;
} {
  const problems = [...earlier];
  const paths = new Set<string>();
  const isConsequence = (path: string): boolean => earlier.some((problem) => `${problem.path}/`.startsWith(`${path}/`));
  const report: Report = (path, message) => {
    if (problems.length >= problemsMax || paths.has(path) || isConsequence(path)) return;
    paths.add(path);
    problems.push({ path, message });
  };
  return { problems, report };
}
