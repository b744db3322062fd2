/** The checkout of an event: the form for what is held, else what became of it. */
import { useLoaded } from '#client/browser/hooks.ts';
import { CheckoutForm } from '../event/checkout-form.tsx';
import { NothingHeld } from '../event/nothing-held.tsx';
import { useHold } from '../event/use-hold.ts';
import { texts } from '../language.ts';
import { Loading } from '../parts/controls.tsx';
import { Frame, Missing } from '../parts/frame.tsx';
import { BackIcon } from '../parts/icons.tsx';
import { eventPath, Link } from '../router.tsx';
import { client } from '../service.ts';

export function CheckoutPage({ slug }: { readonly slug: string }) {
  const loaded = useLoaded(slug, (signal) => client.getEvent(slug, { signal }));
  const event = loaded.value;
  const keeper = useHold(slug, event?.id ?? null);
  if (loaded.error !== null && event === null) return <Missing error={loaded.error} />;
  if (event === null || !keeper.isKnown) {
    return (
      <Frame title={texts.checkout.title}>
        <Loading what={texts.checkout.loading} />
      </Frame>
    );
  }
  return (
    <Frame title={texts.checkout.titleOf(event.name)} legal={event.legal}>
      <p class="back">
        <Link to={eventPath(slug)}>
          <BackIcon /> {event.name}
        </Link>
      </p>
      {keeper.hold === null ? (
        <NothingHeld event={event} keeper={keeper} />
      ) : (
        <CheckoutForm event={event} hold={keeper.hold} />
      )}
    </Frame>
  );
}
