/**
 * More stock and dates of an event: a form over its definition, which it loads as a file is loaded.
 *
 * 1. It only adds: a date, places of a locality without seats, tickets of a type with a quota.
 * 2. What is shown as the difference is what is loaded; a definition that another one has loaded meanwhile is not
 *    overwritten.
 */
import { useState } from 'preact/hooks';
import { addressOf, usePolled } from '../app/api.ts';
import { moment, number } from '../app/format.ts';
import { queryOf } from '../app/router.ts';
import { Confirmation, type EventDialogProps } from './confirmation.tsx';
import type { Option } from './fields.tsx';

/** What of a definition the form changes; everything else stays as it is. */
interface Definition {
  readonly performances: readonly Option[];
  readonly localities: readonly (Option & { readonly seating: string; readonly capacity?: number })[];
  readonly ticketTypes: readonly (Option & { readonly quota?: number | null })[];
}

interface Defined {
  readonly definition: Definition;
  readonly version: number;
}

/** The wanted numbers, by what they count, and a date with its times as the fields have them. */
interface Wanted {
  readonly capacities: Readonly<Record<string, number>>;
  readonly quotas: Readonly<Record<string, number>>;
  readonly date: { readonly name: string; readonly startsAt: string; readonly endsAt: string };
}

const NOTHING: Wanted = { capacities: {}, quotas: {}, date: { name: '', startsAt: '', endsAt: '' } };

export function More(props: EventDialogProps) {
  const address = addressOf('events', props.event.id);
  const { value, trouble } = usePolled<Defined>(`more ${address}`, () => props.api('GET', address), null);
  if (value === null) return trouble === null ? null : <p class="alert">{trouble}</p>;
  return <MoreForm {...props} address={address} defined={value} />;
}

function MoreForm({
  event,
  api,
  reload,
  onClose,
  address,
  defined: { definition, version },
}: EventDialogProps & { readonly address: string; readonly defined: Defined }) {
  const [wanted, setWanted] = useState(NOTHING);
  const difference = differenceOf(definition, wanted);
  const load = async (_fields: FormData, note: string | null): Promise<void> => {
    if (difference.length === 0) throw new Error('Nothing is changed yet.');
    if ((await api<Defined>('GET', address)).version !== version) {
      throw new Error('Somebody has changed the event meanwhile: open the form again.');
    }
    await api('PUT', `${address}?${queryOf({ note: note ?? '' })}`, changed(definition, wanted));
    reload();
  };
  return (
    <Confirmation title={`More of ${event.name}`} action="Load this" act={load} onClose={onClose}>
      <Stock definition={definition} wanted={wanted} change={setWanted} />
      <DateFields wanted={wanted} change={setWanted} />
      <section aria-label="What changes">
        <h3>What changes</h3>
        {difference.length === 0 ? (
          <p class="quiet">Nothing yet.</p>
        ) : (
          <ul>
            {difference.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        )}
      </section>
    </Confirmation>
  );
}

interface FieldsProps {
  readonly wanted: Wanted;
  readonly change: (wanted: Wanted) => void;
}

function Stock({ definition, wanted, change }: FieldsProps & { readonly definition: Definition }) {
  const field = (what: 'capacities' | 'quotas', { id, name }: Option, before: number, unit: string) => (
    <label class="field" key={`${what} ${id}`}>
      {name} <span class="quiet">{unit}</span>
      <input
        type="number"
        min={before}
        step="1"
        required
        value={wanted[what][id] ?? before}
        onInput={({ currentTarget }) =>
          change({ ...wanted, [what]: { ...wanted[what], [id]: Number(currentTarget.value) } })
        }
      />
    </label>
  );
  return (
    <>
      {definition.localities.map(
        (each) => each.capacity !== undefined && field('capacities', each, each.capacity, 'places on each date'),
      )}
      {definition.ticketTypes.map(
        (each) => typeof each.quota === 'number' && field('quotas', each, each.quota, 'tickets on each date'),
      )}
    </>
  );
}

function DateFields({ wanted, change }: FieldsProps) {
  const { date } = wanted;
  const set = (changes: Partial<Wanted['date']>): void => change({ ...wanted, date: { ...date, ...changes } });
  return (
    <>
      <label class="field">
        Name of a new date <span class="quiet">empty: no new date</span>
        <input
          type="text"
          maxLength={200}
          value={date.name}
          onInput={({ currentTarget }) => set({ name: currentTarget.value })}
          autocomplete="off"
        />
      </label>
      {date.name.trim() !== '' && (
        <>
          <label class="field">
            It begins <span class="quiet">in your time zone</span>
            <input
              type="datetime-local"
              required
              value={date.startsAt}
              onInput={({ currentTarget }) => set({ startsAt: currentTarget.value })}
            />
          </label>
          <label class="field">
            It ends <span class="quiet">may stay empty</span>
            <input
              type="datetime-local"
              value={date.endsAt}
              onInput={({ currentTarget }) => set({ endsAt: currentTarget.value })}
            />
          </label>
        </>
      )}
    </>
  );
}

/** The new date as a definition has it; null where none is wanted, or its begin is missing. */
function dateOf({ performances }: Definition, { date }: Wanted) {
  const name = date.name.trim();
  if (name === '' || date.startsAt === '') return null;
  const id = idFor(name, new Set(performances.map((each) => each.id)));
  return { id, name, starts_at: timeOf(date.startsAt), ends_at: date.endsAt === '' ? null : timeOf(date.endsAt) };
}

const timeOf = (local: string): string => new Date(local).toISOString();

/** An id made of a name that no other date has. */
function idFor(name: string, taken: ReadonlySet<string>): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? ['date'];
  const base = words.join('-').slice(0, 60);
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? base : `${base}-${n}`;
    if (!taken.has(id)) return id;
  }
}

function changed(definition: Definition, wanted: Wanted): Definition {
  const date = dateOf(definition, wanted);
  const { capacities, quotas } = wanted;
  return {
    ...definition,
    performances: date === null ? definition.performances : [...definition.performances, date],
    localities: definition.localities.map((each) =>
      capacities[each.id] === undefined ? each : { ...each, capacity: capacities[each.id]! },
    ),
    ticketTypes: definition.ticketTypes.map((each) =>
      quotas[each.id] === undefined ? each : { ...each, quota: quotas[each.id]! },
    ),
  };
}

/** What the form changes, a line each (rule 2). */
function differenceOf(definition: Definition, wanted: Wanted): readonly string[] {
  const date = dateOf(definition, wanted);
  const line = ({ name }: Option, before: number, after: number | undefined, unit: string): string[] =>
    after === undefined || after === before ? [] : [`${name}: ${number(before)} → ${number(after)} ${unit}`];
  return [
    ...definition.localities.flatMap((each) =>
      line(each, each.capacity ?? 0, wanted.capacities[each.id], 'places on each date'),
    ),
    ...definition.ticketTypes.flatMap((each) =>
      line(each, each.quota ?? 0, wanted.quotas[each.id], 'tickets on each date'),
    ),
    ...(date === null ? [] : [`New date: ${date.name}, ${moment(date.starts_at)}, id ${date.id}, on sale at once`]),
  ];
}
