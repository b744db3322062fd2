/** The storefront: shows the page that the address names, and reports payments made since the last visit. */
import { render } from 'preact';
import { reportPaid } from './checkout/funnel.ts';
import { CheckoutPage } from './pages/checkout.tsx';
import { DrawPage } from './pages/draw.tsx';
import { EventListPage } from './pages/event-list.tsx';
import { EventPage } from './pages/event.tsx';
import { Missing } from './parts/frame.tsx';
import { QueuePage } from './pages/queue.tsx';
import { dayAndHour } from './app/language.ts';
import { keepScrolls, useRoute } from './app/router.tsx';
import '../styles/fonts.css';
import '../styles/tokens.css';
import '../styles/reset.css';
import '../styles/base.css';
import '../styles/pages.css';
import '../styles/seat-map.css';
import '../styles/seats.css';

function Storefront() {
  const { route, query } = useRoute();
  switch (route.page) {
    case 'events':
      return <EventListPage query={query} />;
    case 'event':
      return <EventPage key={route.slug} slug={route.slug} performance={query.get('date')} />;
    case 'checkout':
      return <CheckoutPage key={route.slug} slug={route.slug} />;
    case 'queue':
      return <QueuePage key={route.slug} slug={route.slug} />;
    case 'draw':
      return <DrawPage key={route.slug} slug={route.slug} />;
    case 'unknown':
      return <Missing />;
  }
}

keepScrolls();
// Reading the script, the first format of a date and the page each take a slow phone long. In tasks of their own, they
// let it answer its buyer in between.
setTimeout(() => {
  dayAndHour(new Date().toISOString());
  setTimeout(() => {
    render(<Storefront />, document.getElementById('app')!);
    void reportPaid();
  });
});
