/** All events, by first date. */
import { useEffect, useState } from 'preact/hooks';
import type { EventListEntry } from '#client/bodies.ts';
import { filterOf, isEmpty, SEARCH_PAGE } from '#client/event-filter.ts';
import { useLoaded } from '../../hooks.ts';
import { takeFirstList } from '../app/first-html.ts';
import { inWords, texts } from '../app/language.ts';
import { Cards, ListHeading } from '../parts/cards.tsx';
import { Frame } from '../parts/frame.tsx';
import { Loading } from '../parts/controls.tsx';
import { Notice } from '../../notice.tsx';
import { client, serviceNow } from '../app/service.ts';

const PAGE = 24;

/** Events that are read for a search; the list of a shop with more is cut there. */
const SEARCHED_MAX = 2_000;

/** `query` narrows the list. */
export function EventListPage({ query }: { readonly query: URLSearchParams }) {
  const [known] = useState(takeFirstList);
  const [more, setMore] = useState<readonly EventListEntry[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const filter = filterOf(query);
  const isNarrowed = !isEmpty(filter);
  const limit = isNarrowed ? SEARCH_PAGE : PAGE;
  const first = useLoaded('events', (signal) => client.listEvents({ limit, signal }), null, known.list);
  const isLoading = first.value === null;
  const events = isLoading ? known.found : [...first.value.events, ...more];
  const next = cursor === undefined ? (first.value?.next_cursor ?? null) : cursor;

  const showMore = async (limit: number): Promise<void> => {
    if (next === null) return;
    const page = await client.listEvents({ limit, cursor: next });
    setMore((old) => [...old, ...page.events]);
    setCursor(page.next_cursor);
  };
  // A search is of all events, also of those that were not shown yet.
  useEffect(() => {
    if (next !== null && events.length < SEARCHED_MAX && isNarrowed) {
      showMore(SEARCH_PAGE).catch(() => setCursor(null));
    }
  }, [isNarrowed, next]);

  return (
    <Frame title={texts.frame.shop} of={null}>
      <ListHeading />
      {isLoading && events.length === 0 && first.error === null && <Loading what={texts.list.loading} />}
      {first.error !== null && <Notice tone="bad">{inWords(first.error)}</Notice>}
      {!isLoading && events.length === 0 && <Notice tone="info">{texts.list.empty}</Notice>}
      {(!isLoading || events.length > 0) && (
        <Cards {...{ events, filter }} isWhole={!isLoading && next === null} now={serviceNow()} />
      )}
      {next !== null && !isNarrowed && (
        <p class="centred">
          <button type="button" class="button" onClick={() => void showMore(PAGE)}>
            {texts.list.more}
          </button>
        </p>
      )}
    </Frame>
  );
}
