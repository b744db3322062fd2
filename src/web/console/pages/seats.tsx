/**
 * The seats of a performance: their current states, and blocking and unblocking of picked seats.
 *
 *  1. Only AVAILABLE and BLOCKED seats can be picked, because a held or sold seat belongs to a buyer.
 *  2. A picked seat that was taken meanwhile is left out of the change.
 *  3. A change of more seats than one request may name is made in several, each of them whole or not at all.
 */
import { useMemo, useState } from 'preact/hooks';
import type { Occupancy, Seating, SeatState } from '#client/bodies.ts';
import { addressOf, usePolled, type Api } from '../app/api.ts';
import type { OverviewEvent, OverviewPerformance } from '../app/bodies.ts';
import { countOf, number } from '../app/format.ts';
import { StockLegend } from '../parts/charts.tsx';
import { Confirmation } from '../parts/confirmation.tsx';
import { Breadcrumbs, PageTitle } from '../parts/frame.tsx';
import { PickedPlan } from '../seats/plan.tsx';
import { SeatSymbols } from '../../seat-map/symbols.tsx';
import { linkTo } from '../app/router.ts';
import {
  plannedLocality,
  followStates,
  seatsInWords,
  type PlannedLocality,
  type VersionedStates,
} from '../seats/states.ts';

interface SeatsPageProps {
  readonly api: Api;
  readonly event: OverviewEvent;
  readonly performance: OverviewPerformance;
  readonly reload: () => void;
}

type Action = 'block' | 'unblock';

const VERBS = { block: 'Block', unblock: 'Unblock' } as const;
const POLL_MS = 1_500;
const ROWS_SHOWN_MAX = 8;
/** As many as one request may name. */
const SEATS_A_REQUEST_MAX = 10_000;

export function SeatsPage({ api, event, performance, reload }: SeatsPageProps) {
  const address = addressOf('events', event.id, 'performances', performance.id, 'seats');
  const layout = usePolled<Seating>(event.id, () => api('GET', addressOf('events', event.id, 'seating')), null);
  const polled = usePolled<VersionedStates>(
    performance.id,
    async (before) => {
      const since = before === null ? '' : `?since=${before.version}`;
      return followStates(before, await api<Occupancy>('GET', address + since));
    },
    POLL_MS,
  );
  const [action, setAction] = useState<Action | null>(null);
  const localities = useMemo(() => layout.value?.localities.map(plannedLocality) ?? [], [layout.value]);
  const states = polled.value?.states;
  const picks = usePicks((id) => states?.get(id) ?? 'AVAILABLE');
  const change = async (what: Action, note: string | null): Promise<void> => {
    const ids = picks.of[what];
    for (let from = 0; from < ids.length; from += SEATS_A_REQUEST_MAX) {
      await api('POST', address, { seat_ids: ids.slice(from, from + SEATS_A_REQUEST_MAX), action: what, note });
    }
    picks.clear();
    polled.reload();
    reload();
  };
  const trouble = layout.trouble ?? polled.trouble;

  return (
    <>
      <Breadcrumbs links={[[linkTo('events', event.id), event.name]]} />
      <div class="heading">
        <PageTitle>{`Seats, ${performance.name}`}</PageTitle>
        <StockLegend stock={performance} />
      </div>
      {trouble && <p class="alert">{trouble}</p>}
      <Instructions />
      <SeatSymbols />
      {states !== undefined &&
        localities.map((locality) => (
          <PickedPlan
            key={locality.id}
            locality={locality}
            taken={states}
            picked={picks.all}
            onToggle={picks.toggle}
            onSelect={picks.select}
          />
        ))}
      <PickBar picks={picks} localities={localities} onAction={setAction} />
      {action !== null && (
        <Confirmation
          title={`${VERBS[action]} ${countOf(picks.of[action].length, 'seat')}?`}
          action={`${VERBS[action]} ${countOf(picks.of[action].length, 'seat')}`}
          act={(_fields, note) => change(action, note)}
          onClose={() => setAction(null)}
        >
          <RowList rows={seatsInWords(localities, new Set(picks.of[action]))} />
          <p class="quiet small">
            {action === 'block'
              ? 'They are held back from the sale until they are unblocked.'
              : 'They return to the sale at once.'}
          </p>
        </Confirmation>
      )}
    </>
  );
}

function Instructions() {
  return (
    <p class="quiet small">
      <span class="wide-only">
        Press seats, or draw a rectangle around them; Shift adds to what is picked. A press on the name of a row picks
        all of it. By keyboard: arrow keys move, Space picks, Shift with arrow keys picks a rectangle, Escape picks
        none.{' '}
      </span>
      Held and sold seats belong to buyers and cannot be picked.
    </p>
  );
}

interface Picks {
  readonly all: ReadonlySet<string>;
  /** The picked seats that each action can change. */
  readonly of: Readonly<Record<Action, readonly string[]>>;
  readonly toggle: (ids: readonly string[], isPicked: boolean) => void;
  /** Picks these seats and those of `base` alone. */
  readonly select: (ids: readonly string[], base: ReadonlySet<string>) => void;
  readonly clear: () => void;
}

function usePicks(stateOf: (id: string) => SeatState): Picks {
  const [all, setAll] = useState<ReadonlySet<string>>(new Set());
  const canPick = (id: string): boolean => stateOf(id) === 'AVAILABLE' || stateOf(id) === 'BLOCKED';
  return {
    all,
    of: {
      block: [...all].filter((id) => stateOf(id) === 'AVAILABLE'),
      unblock: [...all].filter((id) => stateOf(id) === 'BLOCKED'),
    },
    clear: () => setAll(new Set()),
    toggle: (ids, isPicked) =>
      setAll((before) => {
        const next = new Set(before);
        for (const id of ids) {
          if (!isPicked) next.delete(id);
          else if (canPick(id)) next.add(id);
        }
        return next;
      }),
    select: (ids, base) => setAll(new Set([...base, ...ids.filter(canPick)])),
  };
}

/** The seats of a change in words, row by row. */
function RowList({ rows }: { readonly rows: readonly string[] }) {
  const more = rows.length - ROWS_SHOWN_MAX;
  return (
    <ul class="small rows">
      {rows.slice(0, ROWS_SHOWN_MAX).map((row) => (
        <li key={row}>{row}</li>
      ))}
      {more > 0 && <li>and seats in {countOf(more, 'more row')}</li>}
    </ul>
  );
}

interface PickBarProps {
  readonly picks: Picks;
  readonly localities: readonly PlannedLocality[];
  readonly onAction: (action: Action) => void;
}

/** The number of picked seats, and the buttons for them. */
function PickBar({ picks, localities, onAction }: PickBarProps) {
  const known = useMemo(() => new Set(localities.flatMap(({ plan }) => plan.seats.map(({ id }) => id))), [localities]);
  return (
    <div class="pick-bar" role="region" aria-label="Picked seats">
      <PickById known={known} onPick={(id) => picks.toggle([id], true)} />
      <span role="status">
        <b>{number(picks.all.size)}</b> picked
      </span>
      <button type="button" class="button plain" disabled={picks.all.size === 0} onClick={picks.clear}>
        Clear
      </button>
      {(['unblock', 'block'] as const).map((action) => (
        <button
          key={action}
          type="button"
          class="button primary"
          disabled={picks.of[action].length === 0}
          onClick={() => onAction(action)}
        >
          {VERBS[action]} {number(picks.of[action].length)}
        </button>
      ))}
    </div>
  );
}

interface PickByIdProps {
  readonly known: ReadonlySet<string>;
  readonly onPick: (id: string) => void;
}

/** Picks a seat by its id, for operators with a list or without a pointer. */
function PickById({ known, onPick }: PickByIdProps) {
  const [text, setText] = useState('');
  const pick = (submission: SubmitEvent): void => {
    submission.preventDefault();
    if (!known.has(text.trim())) return;
    onPick(text.trim());
    setText('');
  };
  return (
    <form class="finder" onSubmit={pick}>
      <input
        type="text"
        value={text}
        placeholder="Seat id"
        aria-label="Seat id"
        autocomplete="off"
        onInput={(input) => setText(input.currentTarget.value)}
      />
      <button type="submit" class="button" disabled={!known.has(text.trim())}>
        Pick
      </button>
    </form>
  );
}
