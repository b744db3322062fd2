/** What is wrong with a catalogue file: where, as a JSON pointer (RFC 6901), and what it must be instead. */
export interface CatalogueProblem {
  readonly path: string;
  readonly message: string;
}

/** Notes one problem; how many are kept and which are dropped as echoes is its owner's business. */
export type Report = (path: string, message: string) => void;

/** Extends a JSON pointer by further steps, escaping what the pointer syntax needs. */
export function pointer(path: string, ...steps: readonly (string | number)[]): string {
  return steps.reduce<string>((soFar, step) => `${soFar}/${escapeStep(step)}`, path);
}

function escapeStep(step: string | number): string {
  return typeof step === 'number' ? String(step) : step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Takes a JSON pointer apart into its steps. */
export function pointerSteps(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
