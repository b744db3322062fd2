/**
 * The latest facts of the journal, a page at a time, by event, order and type where asked. The filters are in the
 * address.
 *
 * 1. A page of chosen facts is made from a bounded part of the journal: one that is empty and not the last is followed
 *    by the next.
 */
import { useState } from 'preact/hooks';
import { usePolled, type Api } from '../app/api.ts';
import type { Fact, JournalPage as JournalBody, OverviewEvent } from '../app/bodies.ts';
import { FACT_TYPES } from '../app/fact-types.ts';
import { number, moment } from '../app/format.ts';
import { Breadcrumbs, FilterChoice, FilterForm, PageButtons, PageTitle } from '../parts/frame.tsx';
import { linkTo, queryOf, useFilters } from '../app/router.ts';
import { Table } from '../parts/table.tsx';

interface JournalPageProps {
  readonly api: Api;
  readonly events: readonly OverviewEvent[];
}

const POLL_MS = 2_000;
/** Empty pages that are passed over at once (rule 1). */
const EMPTY_PAGES_MAX = 20;

export function JournalPage({ api, events }: JournalPageProps) {
  const { event, order, type } = useFilters('event', 'order', 'type');
  const names = new Map(events.map(({ id, name }) => [id, name]));
  const links: [string, string][] = event === '' ? [] : [[linkTo('events', event), names.get(event) ?? event]];
  return (
    <>
      <Breadcrumbs links={links} />
      <PageTitle>Journal</PageTitle>
      <FilterForm path={['journal']}>
        <input
          name="order"
          key={order}
          type="search"
          defaultValue={order}
          placeholder="Order, ord_…"
          aria-label="Order id"
          autocomplete="off"
        />
        <FilterChoice name="event" label="Event" chosen={event} options={[...names]} />
        <FilterChoice name="type" label="Type" chosen={type} options={FACT_TYPES.map((each) => [each, each])} />
      </FilterForm>
      <FactPages
        key={`${event} ${order} ${type}`}
        api={api}
        filters={{ event_id: event, order_id: order, type }}
        names={names}
      />
    </>
  );
}

interface FactPagesProps {
  readonly api: Api;
  readonly filters: { readonly event_id: string; readonly order_id: string; readonly type: string };
  /** The names of events, by id. */
  readonly names: ReadonlyMap<string, string>;
}

function FactPages({ api, filters, names }: FactPagesProps) {
  /** Where each opened page begins; the last one is shown, without one the newest facts. */
  const [befores, setBefores] = useState<readonly number[]>([]);
  const address = `/admin/journal?${queryOf({ ...filters, before: String(befores.at(-1) ?? '') })}`;
  const isNewest = befores.length === 0;
  const read = () => readOn(api, filters, befores.at(-1) ?? null);
  const { value, trouble } = usePolled<JournalBody>(address, read, isNewest ? POLL_MS : null);
  return (
    <>
      <p class="quiet small">
        {isNewest ? 'The newest first, as it happens. ' : ''}Secrets are shown as ***, those of holds and queue entries
        with a label each; <code>holdfast journal</code> prints a whole sale.
      </p>
      {trouble !== null && <p class="alert">{trouble}</p>}
      {value !== null && <FactTable facts={value.facts} names={names} isLast={value.next_before === null} />}
      <PageButtons
        opened={befores}
        next={value?.next_before ?? null}
        show={setBefores}
        names={{ back: 'Later', on: 'Earlier' }}
      />
    </>
  );
}

async function readOn(api: Api, filters: FactPagesProps['filters'], from: number | null): Promise<JournalBody> {
  let before = from;
  for (let pages = 1; ; pages += 1) {
    const page = await api<JournalBody>(
      'GET',
      `/admin/journal?${queryOf({ ...filters, before: String(before ?? '') })}`,
    );
    if (page.facts.length > 0 || page.next_before === null || pages === EMPTY_PAGES_MAX) return page;
    before = page.next_before;
  }
}

interface FactTableProps {
  readonly facts: readonly Fact[];
  readonly names: ReadonlyMap<string, string>;
  readonly isLast: boolean;
}

function FactTable({ facts, names, isLast }: FactTableProps) {
  if (facts.length === 0) {
    return <p class="quiet empty">{isLast ? 'Nothing here.' : 'Nothing in this part of the journal; look earlier.'}</p>;
  }
  return (
    <Table label="Facts" columns={[['No.', 'number'], ['When'], ['Event', 'wide-only'], ['What'], ['Details']]}>
      {facts.map(({ seq, at, event_id: id, type, data }) => (
        <tr key={`${id} ${seq}`}>
          <td class="number">{number(seq)}</td>
          <td class="stamp">{moment(at, 'medium')}</td>
          <td class="event-name wide-only">
            {id === null ? 'the service' : <a href={linkTo('events', id)}>{names.get(id) ?? id}</a>}
          </td>
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
    </Table>
  );
}
