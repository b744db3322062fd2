/**
 * The seats of a date: their states as they change, and blocking and unblocking what is picked.
 *
 *  1. Only AVAILABLE and BLOCKED seats can be picked: what is held or sold is somebody's.
 *  2. A pick that was taken meanwhile leaves the pick; the service refuses it in any case.
 */
import { useMemo, useState } from 'preact/hooks';
import type { Occupancy, Seating } from '#client/bodies.ts';
import { addressOf, type Api } from '../api.ts';
import type { OverviewDate, OverviewEvent } from '../bodies.ts';
import { StockLegend } from '../parts/charts.tsx';
import { Confirmation } from '../parts/confirmation.tsx';
import { SeatPlan } from '../parts/seat-plan.tsx';
import { linkTo } from '../router.ts';
import { drawnLocalities, followStates, type SeatStates } from '../seats.ts';
import { usePolled } from '../use-polled.ts';

interface SeatsPageProps {
  readonly api: Api;
  readonly event: OverviewEvent;
  readonly date: OverviewDate;
  readonly again: () => void;
}

type Action = 'block' | 'unblock';

const LOOK_EVERY_MS = 1_500;
const IDS_SHOWN_MAX = 12;

export function SeatsPage({ api, event, date, again }: SeatsPageProps) {
  const address = addressOf('events', event.id, 'performances', date.id, 'seats');
  const layout = usePolled<Seating>(event.id, () => api('GET', addressOf('events', event.id, 'seating')), null);
  const states = usePolled<SeatStates>(
    date.id,
    async (before) => {
      const since = before === null ? '' : `?since=${before.version}`;
      return followStates(before, await api<Occupancy>('GET', address + since));
    },
    LOOK_EVERY_MS,
  );
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [action, setAction] = useState<Action | null>(null);
  const localities = useMemo(() => (layout.value === null ? [] : drawnLocalities(layout.value)), [layout.value]);
  const taken = states.value?.taken;
  const known = useMemo(() => new Set(localities.flatMap(({ seats }) => seats.map(({ id }) => id))), [localities]);
  const stateOf = (id: string) => taken?.get(id) ?? 'AVAILABLE';
  const picks = {
    block: [...picked].filter((id) => stateOf(id) === 'AVAILABLE'),
    unblock: [...picked].filter((id) => stateOf(id) === 'BLOCKED'),
  };
  const toggle = (ids: readonly string[], isPicked: boolean): void =>
    setPicked((before) => {
      const next = new Set(before);
      for (const id of ids) {
        if (!isPicked) next.delete(id);
        else if (stateOf(id) === 'AVAILABLE' || stateOf(id) === 'BLOCKED') next.add(id);
      }
      return next;
    });
  const change = async (what: Action, note: string | null): Promise<void> => {
    await api('POST', address, { seat_ids: picks[what], action: what, note });
    setPicked(new Set());
    states.again();
    again();
  };

  return (
    <>
      <p class="crumbs">
        <a href="#/">On sale now</a> / <a href={linkTo('events', event.id)}>{event.name}</a>
      </p>
      <div class="heading">
        <h1>Seats, {date.name}</h1>
        <StockLegend stock={date} />
      </div>
      {(layout.trouble ?? states.trouble) && <p class="alert">{layout.trouble ?? states.trouble}</p>}
      <p class="quiet small">
        Click seats to pick them, with Shift a stretch of a row. Only free and blocked seats can be picked.
      </p>
      {taken !== undefined &&
        localities.map((locality) => (
          <SeatPlan key={locality.id} locality={locality} taken={taken} picked={picked} onToggle={toggle} />
        ))}
      <div class="pick-bar" role="region" aria-label="Picked seats">
        <PickById known={known} onPick={(id) => toggle([id], true)} />
        <span>
          <b>{picked.size}</b> picked
        </span>
        <button
          type="button"
          class="button plain"
          disabled={picked.size === 0}
          onClick={() => toggle([...picked], false)}
        >
          Clear
        </button>
        {(['unblock', 'block'] as const).map((each) => (
          <button
            key={each}
            type="button"
            class="button primary"
            disabled={picks[each].length === 0}
            onClick={() => setAction(each)}
          >
            {each === 'block' ? 'Block' : 'Unblock'} {picks[each].length}
          </button>
        ))}
      </div>
      {action !== null && (
        <Confirmation
          title={`${action === 'block' ? 'Block' : 'Unblock'} ${count(picks[action].length)}?`}
          action={`${action === 'block' ? 'Block' : 'Unblock'} ${count(picks[action].length)}`}
          act={(_fields, note) => change(action, note)}
          onClose={() => setAction(null)}
        >
          <p class="small">{listed(picks[action])}</p>
          <p class="quiet small">
            {action === 'block' ? 'They leave the sale until they are unblocked.' : 'They return to the sale at once.'}
          </p>
        </Confirmation>
      )}
    </>
  );
}

function count(seats: number): string {
  return seats === 1 ? '1 seat' : `${seats} seats`;
}

function listed(ids: readonly string[]): string {
  const more = ids.length - IDS_SHOWN_MAX;
  return ids.slice(0, IDS_SHOWN_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

interface PickByIdProps {
  readonly known: ReadonlySet<string>;
  readonly onPick: (id: string) => void;
}

/** Picks by typing, for who has a list or no pointer. */
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
