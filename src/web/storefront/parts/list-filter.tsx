/** The search above a long list of events; what is chosen stands in the page's address. */
import type { EventListEntry } from '#client/bodies.ts';
import { choicesOf, QUERY_LENGTH_MAX, queryOf, type Filter } from '#client/event-filter.ts';
import { month as monthText, texts } from '../app/language.ts';
import { go, homePath, Link } from '../app/router.tsx';

interface ListFilterProps {
  readonly events: readonly EventListEntry[];
  readonly filter: Filter;
  /** How many events fit; null where nothing is chosen, or while more are read. */
  readonly found: number | null;
}

export function ListFilter({ events, filter, found }: ListFilterProps) {
  const { list } = texts;
  const { cities, months, currency } = choicesOf(events);
  const set = (change: Partial<Filter>): void =>
    go(`${homePath}${queryOf({ ...filter, ...change })}`, { replace: true });
  return (
    <form class="list-filter" role="search" onSubmit={(submit) => submit.preventDefault()}>
      <label>
        {list.search}
        <input
          type="search"
          value={filter.q}
          placeholder={list.searchHint}
          maxLength={QUERY_LENGTH_MAX}
          onInput={({ currentTarget }) => set({ q: currentTarget.value })}
        />
      </label>
      {cities.length > 1 && (
        <Choice
          label={list.city}
          all={list.anyCity}
          value={filter.city}
          options={cities.map((city) => [city, city])}
          onChoose={(city) => set({ city })}
        />
      )}
      {months.length > 1 && (
        <Choice
          label={list.month}
          all={list.anyMonth}
          value={filter.month}
          options={months.map((month) => [month, monthText(`${month}-15`, 'UTC')])}
          onChoose={(month) => set({ month })}
        />
      )}
      {currency !== null && (
        <label>
          {list.priceUpTo(currency)}
          <input
            type="number"
            min="0"
            step="1"
            inputMode="numeric"
            value={filter.price}
            onInput={({ currentTarget }) => set({ price: currentTarget.value })}
          />
        </label>
      )}
      <p class="quiet" role="status">
        {found === null ? '' : list.found(found)}
      </p>
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly all: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
}

function Choice({ label, all, value, options, onChoose }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">{all}</option>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Where nothing fits: why, and the way back to everything. */
export function NoneFits() {
  return (
    <div class="none-fits">
      <h2>{texts.list.noneFits}</h2>
      <p>{texts.list.noneFitsHint}</p>
      <p>
        <Link to={homePath} class="button primary">
          {texts.list.showAll}
        </Link>
      </p>
    </div>
  );
}
