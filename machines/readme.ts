/**
 * The law in print: the text of README.md in this folder, made from the machines alone.
 *
 * `render.ts` writes it; a test compares it with the file, so that the page can never say anything but the law.
 *
 *  1. The text depends on nothing but the machines: the same machines give the same bytes.
 *  2. Every status and every legal change of every machine is on the page.
 */
import type { AnyStateMachine } from 'xstate';
import type { Law, LegalChange } from './compile.ts';
import { holdLaw, holdMachine } from './hold.ts';
import { orderLaw, orderMachine } from './order.ts';
import { paymentLaw, paymentMachine } from './payment.ts';
import { performanceLaw, performanceMachine } from './performance.ts';
import { queueEntryLaw, queueEntryMachine } from './queue-entry.ts';
import { seatLaw, seatMachine } from './seat.ts';
import { serviceLaw, serviceMachine } from './service.ts';
import { waitingRoomLaw, waitingRoomMachine } from './waiting-room.ts';

/** One machine with the law compiled from it. */
export interface Chapter {
  readonly title: string;
  readonly machine: AnyStateMachine;
  readonly law: Law<string, string>;
}

/** All machines, in reading order. */
export const chapters: readonly Chapter[] = [
  { title: 'Hold', machine: holdMachine, law: holdLaw },
  { title: 'Order', machine: orderMachine, law: orderLaw },
  { title: 'Payment', machine: paymentMachine, law: paymentLaw },
  { title: 'Queue entry', machine: queueEntryMachine, law: queueEntryLaw },
  { title: 'Seat', machine: seatMachine, law: seatLaw },
  { title: 'Performance', machine: performanceMachine, law: performanceLaw },
  { title: 'Waiting room', machine: waitingRoomMachine, law: waitingRoomLaw },
  { title: 'Service', machine: serviceMachine, law: serviceLaw },
];

const introduction = `# The law

Every status in Holdfast and every legal change of it. This page is rendered from the machines beside it:
change a machine, run \`npm run render\`, and commit both.

Each file holds one flat [XState](https://stately.ai/docs) machine: a status has at most one target for each trigger, and there are
no guards and no actions. *When* says under which condition a change happens and *Also* what comes with it; both are judged and done in
\`src/domain\`. \`compile.ts\` turns each machine into a frozen table and refuses at start what a table cannot say.

XState itself runs the few (the service, each date, each waiting room's doors); the tables run the many (holds, orders, payments,
queue entries, seats). \`decide\` asks a table and refuses; \`evolve\` asks the same table and crashes, because a fact that the law
forbids is a defect or a corrupt journal. Nothing else assigns a status.
`;

/** Returns the whole page as Markdown. */
export function renderReadme(): string {
  const contents = chapters.map(({ title }) => `[${title}](#${title.toLowerCase().replaceAll(' ', '-')})`).join(' · ');
  return [introduction, `${contents}\n`, ...chapters.map(renderChapter)].join('\n');
}

function renderChapter({ title, machine, law }: Chapter): string {
  return [
    `## ${title}\n`,
    `${machine.root.description}\n`,
    renderDiagram(law),
    renderTable(
      ['Status', 'Means'],
      law.statuses.map((status) => [`\`${status}\``, machine.root.states[status]?.description ?? '']),
    ),
    renderTable(['From', 'Trigger', 'To', 'When', 'Also'], law.changes.map(renderChange)),
  ].join('\n');
}

function renderDiagram(law: Law<string, string>): string {
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...law.changes.map(({ from, trigger, to }) =>
      from === null ? `    [*] --> ${to}` : `    ${from} --> ${to}: ${trigger}`,
    ),
    ...law.ends.map((status) => `    ${status} --> [*]`),
    '```\n',
  ].join('\n');
}

function renderChange({ from, trigger, to, when, also }: LegalChange): string[] {
  return [from === null ? '(none)' : `\`${from}\``, trigger === null ? '' : `\`${trigger}\``, `\`${to}\``, when, also];
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(renderRow).join('\n') + '\n';
}

function renderRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
