/** The doors of a date: who came and who is inside, entries a minute, conflicts, stations, and tickets by hand. */
import { useState } from 'preact/hooks';
import type { DoorCounts } from '#client/doors/wire.ts';
import { addressOf, textOfError, usePolled, type Api } from '../app/api.ts';
import type { OverviewEvent, OverviewPerformance, ScanConflicts } from '../app/bodies.ts';
import { moment, number } from '../app/format.ts';
import { linkTo, queryOf } from '../app/router.ts';
import { Bars } from '../parts/charts.tsx';
import type { Option } from '../parts/fields.tsx';
import { Breadcrumbs, PageTitle, Tiles } from '../parts/frame.tsx';
import { Stations } from '../parts/stations.tsx';
import { TicketAtDoor, wordsOf } from '../parts/ticket-at-door.tsx';
import { Table } from '../parts/table.tsx';

interface DoorsPageProps {
  readonly api: Api;
  readonly event: OverviewEvent;
  readonly performance: OverviewPerformance;
}

const POLL_MS = 2_000;
const CONFLICTS_SHOWN = '20';

type Counts = DoorCounts['performances'][number];

/** The part of a definition that names the doors. */
interface Defined {
  readonly definition: { readonly doors?: readonly Option[] };
}

const ONLY_DOOR: readonly Option[] = [{ id: 'main', name: 'Entrance' }];

const nameOf = (doors: readonly Option[], doorId: string): string =>
  doors.find(({ id }) => id === doorId)?.name ?? doorId;

export function DoorsPage({ api, event, performance }: DoorsPageProps) {
  const address = addressOf('events', event.id);
  const query = queryOf({ performance_id: performance.id });
  const counted = usePolled<DoorCounts>(
    `${event.id} ${performance.id}`,
    () => api('GET', `${address}/doors?${query}`),
    POLL_MS,
  );
  const defined = usePolled<Defined>(address, () => api('GET', address), null);
  const counts = counted.value?.performances[0];
  const trouble = counted.trouble ?? defined.trouble;
  if (counts === undefined || defined.value === null) {
    return trouble === null ? <p class="quiet">…</p> : <p class="alert">{trouble}</p>;
  }
  const doors = defined.value.definition.doors ?? ONLY_DOOR;
  return (
    <>
      <Breadcrumbs links={[[linkTo('events', event.id), event.name]]} />
      <div class="heading">
        <PageTitle>{`Doors: ${performance.name}`}</PageTitle>
        <div class="actions">
          <AttendeeList
            api={api}
            address={`${address}/attendees?${query}&format=csv`}
            fileName={`${performance.id}.csv`}
          />
        </div>
      </div>
      <p class="quiet small">{moment(performance.starts_at)}</p>
      {trouble !== null && <p class="alert">{trouble}</p>}
      <CountTiles counts={counts} />
      <div class="cards">
        <section class="card">
          <h2>Entries a minute</h2>
          <Bars
            label="Entries in each of the last 60 minutes"
            values={counts.minutes.map(({ entries }) => entries)}
            since="60 min ago"
          />
        </section>
        <section class="card">
          <h2>By door</h2>
          <DoorTable counts={counts} doors={doors} />
        </section>
        <TicketAtDoor
          api={api}
          doors={doors}
          eventId={event.id}
          performanceId={performance.id}
          onScan={counted.reload}
        />
      </div>
      <Conflicts api={api} address={`${address}/doors/conflicts?${query}&limit=${CONFLICTS_SHOWN}`} doors={doors} />
      <Stations api={api} address={`${address}/stations`} doors={doors} performance={performance} />
    </>
  );
}

interface AttendeeListProps {
  readonly api: Api;
  readonly address: string;
  readonly fileName: string;
}

/** The button that fetches who may come, for a door without a network. */
function AttendeeList({ api, address, fileName }: AttendeeListProps) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const fetchList = (): void => {
    setTrouble(null);
    api.download(address, fileName).catch((error: unknown) => setTrouble(textOfError(error)));
  };
  return (
    <>
      <button type="button" class="button" onClick={fetchList}>
        List of who may come
      </button>
      {trouble !== null && (
        <p class="alert" role="alert">
          {trouble}
        </p>
      )}
    </>
  );
}

function CountTiles({ counts }: { readonly counts: Counts }) {
  const refused = Object.values(counts.refused).reduce((sum, count) => sum + count, 0);
  return (
    <Tiles
      tiles={[
        ['Expected', number(counts.expected)],
        ['Came', number(counts.admitted)],
        ['Inside', number(counts.inside)],
        ['Last minute', number(counts.minutes.at(-1)?.entries ?? 0)],
        ['Refused', number(refused)],
        ['Conflicts', number(counts.conflicts), counts.conflicts > 0],
      ]}
    />
  );
}

function DoorTable({ counts, doors }: { readonly counts: Counts; readonly doors: readonly Option[] }) {
  const refused = Object.entries(counts.refused).map(([verdict, count]) => `${number(count)} ${wordsOf(verdict)}`);
  return (
    <>
      <Table
        isInCard
        label="Entries and exits by door"
        columns={[['Door'], ['Entries', 'number'], ['Exits', 'number']]}
      >
        {counts.doors.map(({ id, entries, exits }) => (
          <tr key={id} data-door={id}>
            <td>{nameOf(doors, id)}</td>
            <td class="number">{number(entries)}</td>
            <td class="number">{number(exits)}</td>
          </tr>
        ))}
      </Table>
      {refused.length > 0 && <p class="quiet small">Refused: {refused.join(', ')}</p>}
    </>
  );
}

interface ConflictsProps {
  readonly api: Api;
  readonly address: string;
  readonly doors: readonly Option[];
}

/** The newest first. */
function Conflicts({ api, address, doors }: ConflictsProps) {
  const { value, trouble } = usePolled<ScanConflicts>(address, () => api('GET', address), POLL_MS);
  if (value === null) return trouble === null ? null : <p class="alert">{trouble}</p>;
  if (value.conflicts.length === 0) return null;
  const whereOf = (scan: ScanConflicts['conflicts'][number]['second']): string =>
    `${moment(scan.at, 'medium')}, ${nameOf(doors, scan.door_id)}, ${scan.station_name ?? 'by hand'}`;
  return (
    <section>
      <h2>Conflicts</h2>
      <Table label="Conflicts" columns={[['What'], ['When and where'], ['Before', 'wide-only'], ['Order']]}>
        {value.conflicts.map(({ kind, first, second, order_id: orderId }) => (
          <tr key={`${kind} ${second.scan_id}`} data-conflict={kind}>
            <td>{wordsOf(kind)}</td>
            <td>{whereOf(second)}</td>
            <td class="wide-only">{first === null ? '' : whereOf(first)}</td>
            <td>{orderId === null ? 'none' : <a href={linkTo('orders', orderId)}>…{orderId.slice(-8)}</a>}</td>
          </tr>
        ))}
      </Table>
      {value.next_cursor !== null && (
        <p class="quiet">The newest {value.conflicts.length} are shown; the API lists all.</p>
      )}
    </section>
  );
}
