/**
 * The form in which the service suggests the best seats for a ticket type and a number of people, beside those that are
 * chosen: where it suggests some of these, it is asked again, for as many more.
 */
import { useState } from 'preact/hooks';
import type { EventPayload, TicketAvailability } from '#client/bodies.ts';
import { inWords, price, texts } from '../app/language.ts';
import { Stepper } from '../parts/controls.tsx';
import { Notice } from '../../notice.tsx';
import { BusyButton, SparkIcon } from '../../buttons.tsx';
import { client } from '../app/service.ts';
import { ticketTypeOf } from './selection.ts';
import { rowFor } from '../../seat-choice/picked.ts';

interface BestSeatsProps {
  readonly event: EventPayload;
  readonly performanceId: string;
  readonly rows: readonly TicketAvailability[];
  readonly localityId: string;
  /** The ticket type that the buyer chose; null for the first. */
  readonly kind: string | null;
  readonly onKind: (ticketTypeId: string) => void;
  /** The seats that are chosen and stay so. */
  readonly standing: ReadonlySet<string>;
  /** Reports seats that were not chosen. */
  readonly onSeats: (seatIds: readonly string[], ticketTypeId: string) => void;
}

/** How often the service is asked for seats beside those that are chosen. */
const TRIES_MAX = 3;

export function BestSeats({ event, performanceId, rows, localityId, kind, onKind, standing, onSeats }: BestSeatsProps) {
  const types = event.ticketTypes.filter((type) => type.locality_id === localityId && rowFor(rows, type.id));
  const [units, setUnits] = useState(2);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const ticketTypeId = types.find(({ id }) => id === kind)?.id ?? types[0]?.id;
  if (ticketTypeId === undefined) return null;
  const type = ticketTypeOf(event, ticketTypeId)!;
  const most = Math.max(
    1,
    Math.min(type.max_per_order ?? 20, Math.floor((event.max_tickets_per_order ?? 20) / type.group_size)),
  );

  const search = async (): Promise<readonly string[]> => {
    const count = Math.min(units, most) * type.group_size;
    let found: readonly string[] = [];
    for (let [asked, tries] = [count, 0]; found.length < count && tries < TRIES_MAX; tries += 1) {
      const seats = await client.suggestSeats(event.slug, { ticketTypeId, count: asked }, { performanceId });
      found = seats.map(({ id }) => id).filter((id) => !standing.has(id));
      if (seats.length === 0) break;
      asked = count + seats.length - found.length;
    }
    return found.slice(0, count);
  };
  const find = async (submit: SubmitEvent): Promise<void> => {
    submit.preventDefault();
    setBusy(true);
    setTrouble(null);
    try {
      const seats = await search();
      if (seats.length > 0) onSeats(seats, ticketTypeId);
      else setTrouble(texts.plan.best.none);
    } catch (error) {
      setTrouble(inWords(error, { timezone: event.timezone }));
    } finally {
      setBusy(false);
    }
  };

  return (
    <form class="best" onSubmit={(submit) => void find(submit)}>
      <label class="field">
        <span>{texts.plan.best.ticket}</span>
        <select value={ticketTypeId} onChange={(change) => onKind(change.currentTarget.value)}>
          {types.map(({ id, name }) => (
            <option value={id}>
              {name} · {price(rowFor(rows, id)!.price, event.currency)}
            </option>
          ))}
        </select>
      </label>
      <Stepper
        label={type.group_size > 1 ? texts.plan.best.groups : texts.plan.best.together}
        value={Math.min(units, most)}
        min={1}
        max={most}
        onChange={setUnits}
      />
      <BusyButton class="button" isBusy={isBusy}>
        {!isBusy && <SparkIcon />} {texts.plan.best.find}
      </BusyButton>
      {trouble !== null && <Notice tone="warn">{trouble}</Notice>}
    </form>
  );
}
