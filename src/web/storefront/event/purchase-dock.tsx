/** The bar at the foot of an event's page: what is chosen, how long it is held, what it costs, and the next step. */
import type { TicketAvailability } from '#client/bodies.ts';
import { price, texts } from '../app/language.ts';
import { Dock } from '../parts/dock.tsx';
import { NextStep, type NextStepProps } from './next-step.tsx';
import type { Pass } from './pass.tsx';
import { nextStage } from './sale-start.tsx';
import { ticketCount, ticketTypeOf, totalOf } from './selection.ts';
import { serviceNow } from '../app/service.ts';

interface PurchaseDockProps extends NextStepProps {
  readonly rows: readonly TicketAvailability[];
  readonly pass: Pass;
  readonly trouble: string | null;
  readonly isSeated: boolean;
  /** Whether the plan fills the screen. */
  readonly isFull: boolean;
  readonly onFull: (isFull: boolean) => void;
}

export function PurchaseDock(props: PurchaseDockProps) {
  const { event, items, hold, trouble, obstacle, pass, isSeated, isFull, onFull } = props;
  const hasChoice = items.length > 0 || hold !== null;
  const lowest = lowestOf(props);
  const until = hold?.expires_at ?? (pass.isAdmitted ? pass.entry?.pass_expires_at : null);
  const opening = hasChoice ? null : nextStage(event, serviceNow());
  if (!hasChoice && lowest === null && opening === null) return null;
  const choose = (): void => {
    if (isSeated) return onFull(true);
    const first = document.querySelector<HTMLElement>('.ticket-row:not(.off) .stepper button:last-child');
    first?.scrollIntoView({ block: 'center' });
    first?.focus({ preventScroll: true });
  };
  const showBasket = (): void => {
    onFull(false);
    setTimeout(() => document.getElementById('your-tickets')?.scrollIntoView());
  };
  const text = hasChoice
    ? `${texts.frame.tickets(ticketCount(items, event))} · ${price(totalOf(items, event), event.currency)}`
    : lowest === null
      ? ''
      : texts.list.from(price(lowest, event.currency));
  const note = trouble !== null ? ({ tone: 'bad', text: trouble } as const) : null;
  return (
    <Dock
      text={text}
      until={until ?? opening?.starts_at}
      onText={hasChoice ? showBasket : undefined}
      note={note ?? (obstacle === null ? null : { tone: 'info', text: obstacle })}
    >
      {hasChoice || props.needsPass ? (
        <NextStep {...props} />
      ) : (
        !isFull && (
          <button type="button" class="button primary wide" onClick={choose}>
            {isSeated ? texts.event.chooseSeats : texts.nothingHeld.choose}
          </button>
        )
      )}
    </Dock>
  );
}

/** The lowest price on sale that anybody can pay; null where nothing is on sale. */
function lowestOf({ event, rows }: PurchaseDockProps): number | null {
  const open = rows.filter(
    (row) => row.on_sale && row.available > 0 && ticketTypeOf(event, row.ticket_type_id)?.accessible !== true,
  );
  return open.length === 0 ? null : Math.min(...open.map((row) => row.price));
}
