/** What happened last, as the journal keeps it: of everything or of one event, a page at a time. */
import { useState } from 'preact/hooks';
import type { Api } from '../api.ts';
import type { Fact, JournalPage as JournalBody, OverviewEvent } from '../bodies.ts';
import { figure, moment } from '../format.ts';
import { linkTo } from '../router.ts';
import { usePolled } from '../use-polled.ts';

interface JournalPageProps {
  readonly api: Api;
  readonly eventId: string | null;
  readonly events: readonly OverviewEvent[];
}

const LOOK_EVERY_MS = 2_000;

export function JournalPage({ api, eventId, events }: JournalPageProps) {
  /** Where the pages gone through begin; the last is the one shown, none for the newest. */
  const [befores, setBefores] = useState<readonly number[]>([]);
  const query = new URLSearchParams();
  if (eventId !== null) query.set('event_id', eventId);
  if (befores.length > 0) query.set('before', String(befores.at(-1)));
  const address = `/admin/journal?${query}`;
  const isNewest = befores.length === 0;
  const { value, trouble } = usePolled<JournalBody>(
    address,
    () => api('GET', address),
    isNewest ? LOOK_EVERY_MS : null,
  );
  const names = new Map(events.map(({ id, name }) => [id, name]));
  const nextBefore = value?.next_before ?? null;
  return (
    <>
      <p class="crumbs">
        <a href="#/">On sale now</a>
        {eventId !== null && (
          <>
            {' '}
            / <a href={linkTo('events', eventId)}>{names.get(eventId) ?? eventId}</a>
          </>
        )}
      </p>
      <h1>Journal</h1>
      <p class="quiet small">
        {isNewest ? 'The newest first, as it happens. ' : ''}Secrets are shown as ***, those of holds and places in line
        with a label each; <code>holdfast journal</code> prints a whole sale.
      </p>
      {trouble !== null && <p class="alert">{trouble}</p>}
      {value !== null && <FactTable facts={value.facts} names={names} />}
      <div class="actions">
        {!isNewest && (
          <button type="button" class="button" onClick={() => setBefores(befores.slice(0, -1))}>
            Later
          </button>
        )}
        {nextBefore !== null && (
          <button type="button" class="button" onClick={() => setBefores([...befores, nextBefore])}>
            Earlier
          </button>
        )}
      </div>
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
