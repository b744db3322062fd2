/** The form in which the service suggests the best seats for a ticket type and a number of people. */
import { useState } from 'preact/hooks';
import type { EventPayload, Seat, TicketAvailability } from '#client/bodies.ts';
import { price } from '../app/format.ts';
import { texts } from '../app/language.ts';
import { inWords } from '../app/messages.ts';
import { Notice, Stepper } from '../parts/controls.tsx';
import { SparkIcon } from '../../buttons.tsx';
import { client } from '../app/service.ts';
import { rowFor, ticketTypeOf } from './selection.ts';

interface BestSeatsProps {
  readonly event: EventPayload;
  readonly performanceId: string;
  readonly rows: readonly TicketAvailability[];
  readonly localityId: string;
  readonly onSeats: (seats: readonly Seat[], ticketTypeId: string) => void;
}

export function BestSeats({ event, performanceId, rows, localityId, onSeats }: BestSeatsProps) {
  const types = event.ticketTypes.filter((type) => type.locality_id === localityId && rowFor(rows, type.id));
  const [chosen, choose] = useState<string | null>(null);
  const [units, setUnits] = useState(2);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const ticketTypeId = chosen ?? types[0]?.id;
  if (ticketTypeId === undefined) return null;
  const type = ticketTypeOf(event, ticketTypeId)!;
  const most = Math.max(
    1,
    Math.min(type.max_per_order ?? 20, Math.floor((event.max_tickets_per_order ?? 20) / type.group_size)),
  );

  const find = async (submit: SubmitEvent): Promise<void> => {
    submit.preventDefault();
    setBusy(true);
    setTrouble(null);
    try {
      const wanted = { ticketTypeId, count: Math.min(units, most) * type.group_size };
      const seats = await client.suggestSeats(event.slug, wanted, { performanceId });
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
        <select value={ticketTypeId} onChange={(change) => choose(change.currentTarget.value)}>
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
      <button class="button" disabled={isBusy}>
        <SparkIcon /> {texts.plan.best.find}
      </button>
      {trouble !== null && <Notice tone="warn">{trouble}</Notice>}
    </form>
  );
}
