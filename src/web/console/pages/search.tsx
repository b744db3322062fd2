/**
 * Orders of all events by whatever is at hand. Names are sealed, so that a search opens orders part by part: the page
 * says how far it came, and goes on where asked.
 */
import { useEffect, useState } from 'preact/hooks';
import { textOfError, type Api } from '../app/api.ts';
import type { FoundOrders, OverviewEvent } from '../app/bodies.ts';
import { countOf, moment } from '../app/format.ts';
import { Breadcrumbs, FilterChoice, FilterForm, PageTitle } from '../parts/frame.tsx';
import { OrderTable } from '../parts/order-table.tsx';
import { linkTo, queryOf, useFilters } from '../app/router.ts';

/** Requests that follow one another by themselves while nothing is found: 20,000 orders. */
const ROUNDS_MAX = 10;

interface SearchPageProps {
  readonly api: Api;
  readonly events: readonly OverviewEvent[];
}

interface Search {
  readonly found: FoundOrders['found'];
  readonly searched: number;
  readonly last: FoundOrders;
}

export function SearchPage({ api, events }: SearchPageProps) {
  const { q, event } = useFilters('q', 'event');
  const { search, isBusy, trouble, goOn } = useSearch(api, q, event);
  return (
    <>
      <Breadcrumbs />
      <PageTitle>Search</PageTitle>
      <FilterForm path={['search']}>
        <input
          name="q"
          type="search"
          defaultValue={q}
          key={q}
          minLength={2}
          required
          placeholder="Name, part of a mail, number or code"
          aria-label="What to search for"
          autocomplete="off"
        />
        <FilterChoice name="event" label="Event" chosen={event} options={events.map(({ id, name }) => [id, name])} />
      </FilterForm>
      {trouble !== null && <p class="alert">{trouble}</p>}
      <div role="status">
        {isBusy && <p class="quiet">Searching…</p>}
        {search !== null && !isBusy && <Reached search={search} events={events} />}
      </div>
      {search !== null && search.found.length > 0 && (
        <OrderTable
          hasEvents
          orders={search.found.map(({ order, found_in: part }) => ({ order, note: NOTES[part] }))}
        />
      )}
      {search?.last.next_cursor != null && (
        <div class="actions">
          <button type="button" class="button" disabled={isBusy} onClick={goOn}>
            Search further
          </button>
        </div>
      )}
    </>
  );
}

const NOTES = {
  BUYER: 'buyer',
  GUEST: 'a guest',
  ORDER: 'order number',
  TICKET: 'ticket',
  PAYMENT: 'payment',
} as const;

/** What was found, and how far the search came. */
function Reached({ search, events }: { readonly search: Search; readonly events: readonly OverviewEvent[] }) {
  const { found, searched, last } = search;
  const count = found.length === 0 ? 'Nothing found' : `${countOf(found.length, 'order')} found`;
  const unread = last.unread_events.length === 0 ? '' : ` Not searched: ${last.unread_events.join(', ')}.`;
  if (last.next_cursor === null || last.reached === null) {
    const isAll = last.next_cursor === null ? '; that is everything' : '';
    return (
      <p class="quiet small">
        {count} in {countOf(searched, 'order')}
        {isAll}.{unread}
      </p>
    );
  }
  const { event_id: id, placed_at: placedAt } = last.reached;
  const name = events.find((event) => event.id === id)?.name ?? id;
  return (
    <p class="quiet small">
      {count} in {countOf(searched, 'order')} so far: the search came to <a href={linkTo('events', id)}>{name}</a>
      {placedAt !== null && `, back to ${moment(placedAt)}`}.{unread}
    </p>
  );
}

interface Searching {
  readonly search: Search | null;
  readonly isBusy: boolean;
  readonly trouble: string | null;
  readonly goOn: () => void;
}

function useSearch(api: Api, q: string, eventId: string): Searching {
  const [search, setSearch] = useState<Search | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  /** The search that the answers belong to. */
  const [begun, setBegun] = useState<{ readonly after: Search | null }>({ after: null });
  useEffect(() => setBegun({ after: null }), [q, eventId]);
  useEffect(() => {
    let isCurrent = true;
    const show = (next: Search | null): void => {
      if (isCurrent) setSearch(next);
    };
    if (begun.after === null) show(null);
    if (q === '') return;
    setBusy(true);
    setTrouble(null);
    searchOn(api, { q, event_id: eventId }, begun.after, () => isCurrent, show)
      .catch((error: unknown) => isCurrent && setTrouble(textOfError(error)))
      .finally(() => isCurrent && setBusy(false));
    return () => {
      isCurrent = false;
    };
  }, [begun]);
  return { search, isBusy, trouble, goOn: () => setBegun({ after: search }) };
}

/** Asks until something more is found, the search ends, or its rounds do. */
async function searchOn(
  api: Api,
  filters: { readonly q: string; readonly event_id: string },
  after: Search | null,
  isWanted: () => boolean,
  show: (search: Search) => void,
): Promise<void> {
  let search = after;
  for (let round = 0; round < ROUNDS_MAX && isWanted(); round += 1) {
    const query = queryOf({ ...filters, cursor: search?.last.next_cursor ?? '' });
    const last = await api<FoundOrders>('GET', `/admin/search?${query}`);
    search = {
      found: [...(search?.found ?? []), ...last.found],
      searched: (search?.searched ?? 0) + last.searched_orders,
      last,
    };
    show(search);
    if (last.next_cursor === null || last.found.length > 0) return;
  }
}
