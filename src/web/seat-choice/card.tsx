/**
 * The card of a seat: where it is, what it costs, as which kind of ticket it is chosen, and for whom a wheelchair place
 * is.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { EventPayload, TicketAvailability, TicketType } from '#client/bodies.ts';
import type { Colours } from '../seat-map/colours.ts';
import { isOwn, type Appearance } from '../seat-map/draw-plan.ts';
import type { SeatPlan } from '../seat-map/plan.ts';
import { traitsOf } from './appearances.ts';
import { rowFor } from './picked.ts';
import { seatName, type SeatWords } from './words.ts';

interface SeatCardProps {
  readonly words: SeatWords;
  readonly event: EventPayload;
  readonly rows: readonly TicketAvailability[];
  readonly plan: SeatPlan;
  readonly colours: Colours;
  readonly seat: number;
  readonly appearance: Appearance;
  readonly types: readonly TicketType[];
  /** The type as which it is chosen. */
  readonly chosenId: string | null;
  readonly onKind: (ticketTypeId: string) => void;
  readonly onRemove: () => void;
  readonly onClose: () => void;
  /** A question before the seat is chosen. */
  readonly question: ComponentChildren;
}

export function SeatCard(props: SeatCardProps) {
  const { words, plan, seat, appearance, types, colours, question } = props;
  const isBuyable = appearance === 'free' || isOwn(appearance);
  const [section, traits] = [plan.sectionNames[seat] ?? '', traitsOf(words, plan, seat)];
  const zone = colours.zones[plan.zoneOf[seat]!]?.fill;
  return (
    <>
      <p class="card-title">
        {isBuyable && <span class="card-zone" style={{ background: zone }} />}
        <b>{section}</b> {seatName(words, plan, seat)}
      </p>
      <p class="small quiet">
        {[...traits.filter((trait) => trait !== section), words.plan.states[appearance]].join(' · ')}
      </p>
      {question ?? (isBuyable && types.length > 0 && <Kinds {...props} />)}
      {question === null && isOwn(appearance) && (
        <div class="card-actions">
          <button type="button" class="button small" onClick={props.onRemove}>
            {words.plan.card.remove}
          </button>
          <button type="button" class="button small" onClick={props.onClose}>
            {words.plan.card.done}
          </button>
        </div>
      )}
    </>
  );
}

/** The kinds of ticket with their prices and conditions: to choose from once the seat is chosen, else to read. */
function Kinds({ words, event, rows, seat, appearance, types, chosenId, onKind }: SeatCardProps) {
  const priceOf = (type: TicketType): string => {
    const amount = words.price(rowFor(rows, type.id)!.price, event.currency);
    return type.group_size > 1 ? words.plan.card.groupOf(amount, type.group_size) : amount;
  };
  const isChoice = isOwn(appearance) && types.length > 1;
  return (
    <div class="card-kinds" {...(isChoice && { role: 'radiogroup', 'aria-label': words.plan.card.kinds })}>
      {types.map((type) => {
        const about = (
          <span>
            <span class="card-kind">
              <span>{type.name}</span> <b>{priceOf(type)}</b>
            </span>
            {type.description !== '' && <span class="small quiet">{type.description}</span>}
          </span>
        );
        if (!isChoice) return <p key={type.id}>{about}</p>;
        return (
          <label key={type.id}>
            <input type="radio" name={`kind-${seat}`} checked={type.id === chosenId} onChange={() => onKind(type.id)} />
            {about}
          </label>
        );
      })}
    </div>
  );
}

interface WheelchairProps {
  readonly words: SeatWords;
  readonly types: readonly TicketType[];
  /** The name of the seat for a companion; null when there is none. */
  readonly companion: string | null;
  readonly onTake: (ticketTypeId: string, isAccompanied: boolean) => void;
  readonly onClose: () => void;
}

/** Whether somebody needs a wheelchair place, who comes along, and what to do instead. */
export function WheelchairQuestion({ words, types, companion, onTake, onClose }: WheelchairProps) {
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus({ preventScroll: true }), []);
  const own = types.find(({ accessible }) => accessible)!;
  const t = words.plan.wheelchair;
  return (
    <div class="card-question" role="group" aria-label={t.question}>
      <p>{t.question}</p>
      <button ref={first} type="button" class="button primary" onClick={() => onTake(own.id, false)}>
        {t.yes}
      </button>
      {companion !== null && (
        <button type="button" class="button" onClick={() => onTake(own.id, true)}>
          {t.companion(companion)}
        </button>
      )}
      <button type="button" class="button plain" onClick={onClose}>
        {t.no}
      </button>
      <p class="small quiet">{t.plea}</p>
    </div>
  );
}
