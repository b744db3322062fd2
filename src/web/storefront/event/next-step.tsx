/**
 * The button for the next step from the choice to the order: it joins the waiting room, holds what is chosen, or goes
 * on to the checkout. It is in the basket, and on a narrow screen in the bar at the foot.
 */
import type { EventPayload, Hold, HoldItemRequest } from '#client/bodies.ts';
import { ArrowIcon, BusyButton } from '../../buttons.tsx';
import { texts } from '../app/language.ts';
import { eventPath, Link } from '../app/router.tsx';
import { ticketCount } from './selection.ts';
import type { HoldStep } from './use-hold.ts';

const words = texts.basket;

export interface NextStepProps {
  readonly event: EventPayload;
  readonly items: readonly HoldItemRequest[];
  readonly hold: Hold | null;
  /** Whether the hold has exactly the selected items. */
  readonly isHeld: boolean;
  /** What is under way; meanwhile nothing else can be pressed. */
  readonly underWay: HoldStep | null;
  readonly needsPass: boolean;
  /** Why what is chosen cannot be held. */
  readonly obstacle: string | null;
  /** Holds what is selected and goes to the checkout. */
  readonly onContinue: () => void;
  readonly onHold: () => void;
  /** The price, where it does not stand beside the step. */
  readonly price?: string;
}

export function NextStep(props: NextStepProps) {
  const { event, items, hold, isHeld, underWay, needsPass, obstacle, price } = props;
  if (items.length === 0 && hold !== null) {
    return (
      <BusyButton
        class="button primary wide"
        isBusy={underWay === 'HOLD'}
        isOff={underWay !== null}
        onPress={props.onHold}
      >
        {words.giveAllBack}
      </BusyButton>
    );
  }
  if (isHeld && hold !== null) {
    return (
      <Link to={eventPath(event.slug, 'checkout')} class="button primary wide">
        {words.toCheckout} <ArrowIcon />
      </Link>
    );
  }
  if (needsPass) {
    return (
      <Link to={eventPath(event.slug, 'queue')} class="button primary wide">
        {words.joinWaitingRoom} <ArrowIcon />
      </Link>
    );
  }
  return (
    <BusyButton
      class="button primary wide"
      isBusy={underWay === 'CONTINUE'}
      isOff={underWay !== null || obstacle !== null}
      onPress={props.onContinue}
    >
      {words.continueWith(ticketCount(items, event))}
      {price !== undefined && ` · ${price}`}
    </BusyButton>
  );
}
