/** The storefront: shows the page that the address names. */
import { render } from 'preact';
import { tellPaid } from './funnel.ts';
import { CheckoutPage } from './pages/checkout-page.tsx';
import { DrawPage } from './pages/draw-page.tsx';
import { EventListPage } from './pages/event-list.tsx';
import { EventPage } from './pages/event-page.tsx';
import { Missing } from './pages/missing.tsx';
import { QueuePage } from './pages/queue-page.tsx';
import { useAddress } from './router.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/pages.css';
import './styles/seats.css';

function Shop() {
  const { route, query } = useAddress();
  switch (route.page) {
    case 'events':
      return <EventListPage />;
    case 'event':
      return <EventPage key={route.slug} slug={route.slug} date={query.get('date')} />;
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

render(<Shop />, document.getElementById('app')!);
void tellPaid();
