/** What is wrong in a catalogue file, and what must be there instead. */
export interface CatalogueProblem {
  /** JSON pointer (RFC 6901). */
  readonly path: string;
  readonly message: string;
}

/** Reports one problem. */
export type Report = (path: string, message: string) => void;

/** Problems in one answer; with more than that, a file is better corrected in rounds. */
export const problemsMax = 1_000;

/**
 * Collects further problems after those of the schema, one for each path. A problem at a path that the schema refused, or above
 * one, is a consequence of that refusal and is dropped.
 */
export function collectProblems(earlier: readonly CatalogueProblem[]): {
  problems: CatalogueProblem[];
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

/** Extends a JSON pointer by further steps, which are escaped. */
export function pointer(path: string, ...steps: readonly (string | number)[]): string {
  return steps.reduce<string>((soFar, step) => `${soFar}/${escapeStep(step)}`, path);
}

function escapeStep(step: string | number): string {
  return typeof step === 'number' ? String(step) : step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The steps of a JSON pointer, unescaped. */
export function pointerSteps(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
