/** The checkout of an event: the form for what is held, else what became of it. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useLoaded } from '../../hooks.ts';
import { CheckoutForm } from '../checkout/form.tsx';
import { NothingHeld } from '../checkout/nothing-held.tsx';
import { useHold } from '../event/use-hold.ts';
import { texts } from '../app/language.ts';
import { BackLink, Frame, Unloaded } from '../parts/frame.tsx';
import { client } from '../app/service.ts';

export function CheckoutPage({ slug }: { readonly slug: string }) {
  const loaded = useLoaded(slug, (signal) => client.getEvent(slug, { signal }));
  const event = loaded.value;
  const keeper = useHold(slug, event?.id ?? null);
  useTopAfter(event === null || !keeper.isKnown ? null : keeper.hold !== null);
  if (event === null || !keeper.isKnown) {
    const error = event === null ? loaded.error : null;
    return <Unloaded error={error} title={texts.checkout.title} loading={texts.checkout.loading} />;
  }
  return (
    <Frame title={texts.checkout.titleOf(event.name)} of={event}>
      <BackLink event={event} />
      {keeper.hold === null ? (
        <NothingHeld event={event} keeper={keeper} />
      ) : (
        <CheckoutForm event={event} hold={keeper.hold} />
      )}
    </Frame>
  );
}

/**
 * What comes in place of the form is another page, and so is the form that comes in place of that: it opens at its top,
 * with the focus on its heading. Null as long as nothing is shown yet.
 */
function useTopAfter(isHeld: boolean | null): void {
  const wasHeld = useRef(isHeld);
  useLayoutEffect(() => {
    if (wasHeld.current !== null && isHeld !== null && wasHeld.current !== isHeld) {
      scrollTo(0, 0);
      document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
    }
    wasHeld.current = isHeld;
  }, [isHeld]);
}
