import type { Transition } from '#machines/compile.ts';
import { chapters } from '#machines/readme.ts';
import diagrams from './diagrams.json' with { type: 'json' };

/** A machine with its diagram, as the page of states shows it. */
interface DrawnMachine {
  readonly title: string;
  readonly description: string;
  readonly transitions: readonly Transition[];
  readonly svg: string;
}

/** Every machine in reading order, with the diagram that `npm run render` drew of it. */
export function drawnMachines(): readonly DrawnMachine[] {
  return chapters.map(({ title, machine, table }) => ({
    title,
    description: machine.root.description ?? '',
    transitions: table.transitions,
    svg: (diagrams as Readonly<Record<string, string>>)[title]!,
  }));
}
