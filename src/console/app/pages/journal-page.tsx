/** The latest facts of the journal, of all events or of one, a page at a time. */
import { useState } from 'preact/hooks';
import { usePolled, type Api } from '../api.ts';
import type { Fact, JournalPage as JournalBody, OverviewEvent } from '../bodies.ts';
import { figure, moment } from '../format.ts';
import { Breadcrumbs, PageButtons } from '../parts/frame.tsx';
import { linkTo } from '../router.ts';

interface JournalPageProps {
  readonly api: Api;
  readonly eventId: string | null;
  readonly events: readonly OverviewEvent[];
}

const POLL_MS = 2_000;

export function JournalPage({ api, eventId, events }: JournalPageProps) {
  /** Where each opened page begins; the last one is shown, without one the newest facts. */
  const [befores, setBefores] = useState<readonly number[]>([]);
  const query = new URLSearchParams();
  if (eventId !== null) query.set('event_id', eventId);
  if (befores.length > 0) query.set('before', String(befores.at(-1)));
  const address = `/admin/journal?${query}`;
  const isNewest = befores.length === 0;
  const { value, trouble } = usePolled<JournalBody>(address, () => api('GET', address), isNewest ? POLL_MS : null);
  const names = new Map(events.map(({ id, name }) => [id, name]));
  return (
    <>
      <Breadcrumbs links={eventId === null ? [] : [[linkTo('events', eventId), names.get(eventId) ?? eventId]]} />
      <h1>Journal</h1>
      <p class="quiet small">
        {isNewest ? 'The newest first, as it happens. ' : ''}Secrets are shown as ***, those of holds and queue entries
        with a label each; <code>holdfast journal</code> prints a whole sale.
      </p>
      {trouble !== null && <p class="alert">{trouble}</p>}
      {value !== null && <FactTable facts={value.facts} names={names} />}
      <PageButtons
        opened={befores}
        next={value?.next_before ?? null}
        show={setBefores}
        names={{ back: 'Later', on: 'Earlier' }}
      />
    </>
  );
}

interface FactTableProps {
  readonly facts: readonly Fact[];
  readonly names: ReadonlyMap<string, string>;
}

function FactTable({ facts, names }: FactTableProps) {
  if (facts.length === 0) return <p class="quiet empty">Nothing here.</p>;
  return (
    <div class="table-frame card">
      <table>
        <thead>
          <tr>
            <th class="number">No.</th>
            <th>When</th>
            <th>Event</th>
            <th>What</th>
            <th>Details</th>
          </tr>
        </thead>
        <tbody>
          {facts.map(({ seq, at, event_id: id, type, data }) => (
            <tr key={seq}>
              <td class="number">{figure(seq)}</td>
              <td class="stamp">{moment(at, undefined, 'medium')}</td>
              <td>{id === null ? 'the service' : <a href={linkTo('events', id)}>{names.get(id) ?? id}</a>}</td>
              <td>
                <b>{type}</b>
              </td>
              <td class="details">
                <details>
                  <summary>
                    <code>{data}</code>
                  </summary>
                </details>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
