/**
 * The seats of a performance: their current states, and blocking and unblocking of picked seats.
 *
 *  1. Only AVAILABLE and BLOCKED seats can be picked, because a held or sold seat belongs to a buyer.
 *  2. A picked seat that was taken meanwhile is left out of the change.
 */
import { useMemo, useState } from 'preact/hooks';
import type { Occupancy, Seating, SeatState } from '#client/bodies.ts';
import { addressOf, usePolled, type Api } from '../api.ts';
import type { OverviewEvent, OverviewPerformance } from '../bodies.ts';
import { StockLegend } from '../parts/charts.tsx';
import { Confirmation } from '../parts/confirmation.tsx';
import { Breadcrumbs } from '../parts/frame.tsx';
import { SeatPlan } from '../parts/seat-plan.tsx';
import { linkTo } from '../router.ts';
import { drawnLocality, followStates, type DrawnLocality, type VersionedStates } from '../seats.ts';

interface SeatsPageProps {
  readonly api: Api;
  readonly event: OverviewEvent;
  readonly performance: OverviewPerformance;
  readonly reload: () => void;
}

type Action = 'block' | 'unblock';

const VERBS = { block: 'Block', unblock: 'Unblock' } as const;
const POLL_MS = 1_500;
const IDS_SHOWN_MAX = 12;

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
  const localities = useMemo(() => layout.value?.localities.map(drawnLocality) ?? [], [layout.value]);
  const states = polled.value?.states;
  const picks = usePicks((id) => states?.get(id) ?? 'AVAILABLE');
  const change = async (what: Action, note: string | null): Promise<void> => {
    await api('POST', address, { seat_ids: picks.of[what], action: what, note });
    picks.clear();
    polled.reload();
    reload();
  };
  const trouble = layout.trouble ?? polled.trouble;

  return (
    <>
      <Breadcrumbs links={[[linkTo('events', event.id), event.name]]} />
      <div class="heading">
        <h1>Seats, {performance.name}</h1>
        <StockLegend stock={performance} />
      </div>
      {trouble && <p class="alert">{trouble}</p>}
      <p class="quiet small">
        Click seats to pick them, with Shift a stretch of a row. Only free and blocked seats can be picked.
      </p>
      {states !== undefined &&
        localities.map((locality) => (
          <SeatPlan key={locality.id} locality={locality} taken={states} picked={picks.all} onToggle={picks.toggle} />
        ))}
      <PickBar picks={picks} localities={localities} onAction={setAction} />
      {action !== null && (
        <Confirmation
          title={`${VERBS[action]} ${count(picks.of[action].length)}?`}
          action={`${VERBS[action]} ${count(picks.of[action].length)}`}
          act={(_fields, note) => change(action, note)}
          onClose={() => setAction(null)}
        >
          <p class="small">{listed(picks.of[action])}</p>
          <p class="quiet small">
            {action === 'block' ? 'They leave the sale until they are unblocked.' : 'They return to the sale at once.'}
          </p>
        </Confirmation>
      )}
    </>
  );
}

interface Picks {
  readonly all: ReadonlySet<string>;
  /** The picked seats that each action can change. */
  readonly of: Readonly<Record<Action, readonly string[]>>;
  readonly toggle: (ids: readonly string[], isPicked: boolean) => void;
  readonly clear: () => void;
}

function usePicks(stateOf: (id: string) => SeatState): Picks {
  const [all, setAll] = useState<ReadonlySet<string>>(new Set());
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
          else if (stateOf(id) === 'AVAILABLE' || stateOf(id) === 'BLOCKED') next.add(id);
        }
        return next;
      }),
  };
}

function count(seats: number): string {
  return seats === 1 ? '1 seat' : `${seats} seats`;
}

function listed(ids: readonly string[]): string {
  const more = ids.length - IDS_SHOWN_MAX;
  return ids.slice(0, IDS_SHOWN_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

interface PickBarProps {
  readonly picks: Picks;
  readonly localities: readonly DrawnLocality[];
  readonly onAction: (action: Action) => void;
}

/** The number of picked seats, and the buttons for them. */
function PickBar({ picks, localities, onAction }: PickBarProps) {
  const known = useMemo(() => new Set(localities.flatMap(({ seats }) => seats.map(({ id }) => id))), [localities]);
  return (
    <div class="pick-bar" role="region" aria-label="Picked seats">
      <PickById known={known} onPick={(id) => picks.toggle([id], true)} />
      <span>
        <b>{picks.all.size}</b> picked
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
          {VERBS[action]} {picks.of[action].length}
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
