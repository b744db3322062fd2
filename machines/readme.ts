/**
 * Renders README.md of this folder from the machines.
 *
 * `render.ts` writes the file; a test compares it with this text, so that the page cannot differ from the tables.
 *
 *  1. The text depends on nothing but the machines: the same machines give the same bytes.
 *  2. Every status and every transition of every machine is on the page.
 */
import type { AnyStateMachine } from 'xstate';
import type { TransitionTable, Transition } from './compile.ts';
import { amendmentTransitions, amendmentMachine } from './amendment.ts';
import { holdTransitions, holdMachine } from './hold.ts';
import { orderTransitions, orderMachine } from './order.ts';
import { paymentTransitions, paymentMachine } from './payment.ts';
import { performanceTransitions, performanceMachine } from './performance.ts';
import { queueEntryTransitions, queueEntryMachine } from './queue-entry.ts';
import { refundTransitions, refundMachine } from './refund.ts';
import { seatTransitions, seatMachine } from './seat.ts';
import { serviceTransitions, serviceMachine } from './service.ts';
import { waitingRoomTransitions, waitingRoomMachine } from './waiting-room.ts';

/** One machine with the table compiled from it. */
interface Chapter {
  readonly title: string;
  readonly machine: AnyStateMachine;
  readonly table: TransitionTable<string, string>;
}

/** All machines, in reading order. */
export const chapters: readonly Chapter[] = [
  { title: 'Hold', machine: holdMachine, table: holdTransitions },
  { title: 'Order', machine: orderMachine, table: orderTransitions },
  { title: 'Payment', machine: paymentMachine, table: paymentTransitions },
  { title: 'Amendment', machine: amendmentMachine, table: amendmentTransitions },
  { title: 'Refund', machine: refundMachine, table: refundTransitions },
  { title: 'Queue entry', machine: queueEntryMachine, table: queueEntryTransitions },
  { title: 'Seat', machine: seatMachine, table: seatTransitions },
  { title: 'Performance', machine: performanceMachine, table: performanceTransitions },
  { title: 'Waiting room', machine: waitingRoomMachine, table: waitingRoomTransitions },
  { title: 'Service', machine: serviceMachine, table: serviceTransitions },
];

const introduction = `# Transition tables

Every status in Holdfast and every transition between them. This page is rendered from the machines beside it:
change a machine, run \`npm run render\`, and commit both.

Each file holds one flat [XState](https://stately.ai/docs) machine: a status has at most one target for each trigger, and there are
no guards and no actions. *When* says under which condition a transition happens and *Also* what comes with it; both are done in
\`src/domain\`. \`compile.ts\` turns each machine into a frozen table and refuses at start what a table cannot say.

XState itself runs the service's own lifecycle; tables run everything of which there are many (holds, orders, payments, queue
entries, seats, performances, waiting rooms). \`decide\` looks a transition up and refuses when there is none; \`evolve\` throws
then, because such a fact is a defect or comes from a corrupt journal. Nothing else assigns a status.
`;

/** Returns the whole page as Markdown. */
export function renderReadme(): string {
  const contents = chapters.map(({ title }) => `[${title}](#${title.toLowerCase().replaceAll(' ', '-')})`).join(' · ');
  return [introduction, `${contents}\n`, ...chapters.map(renderChapter)].join('\n');
}

function renderChapter({ title, machine, table }: Chapter): string {
  return [
    `## ${title}\n`,
    `${machine.root.description}\n`,
    renderDiagram(table),
    renderTable(
      ['Status', 'Means'],
      table.statuses.map((status) => [`\`${status}\``, machine.root.states[status]?.description ?? '']),
    ),
    renderTable(['From', 'Trigger', 'To', 'When', 'Also'], table.transitions.map(renderTransition)),
  ].join('\n');
}

function renderDiagram(table: TransitionTable<string, string>): string {
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...table.transitions.map(({ from, trigger, to }) =>
      from === null ? `    [*] --> ${to}` : `    ${from} --> ${to}: ${trigger}`,
    ),
    ...table.ends.map((status) => `    ${status} --> [*]`),
    '```\n',
  ].join('\n');
}

function renderTransition({ from, trigger, to, when, also }: Transition): string[] {
  return [from === null ? '(none)' : `\`${from}\``, trigger === null ? '' : `\`${trigger}\``, `\`${to}\``, when, also];
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(renderRow).join('\n') + '\n';
}

function renderRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
