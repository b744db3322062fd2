/** The console: the login page without a session, else the page that the address names. */
import { render } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { createApi, storedSession, storeSession, usePolled, type Api, type Session } from './app/api.ts';
import type { Overview } from './app/bodies.ts';
import { AmendPage } from './pages/amend.tsx';
import { ClusterPage } from './pages/cluster.tsx';
import { DoorsPage } from './pages/doors.tsx';
import { EventPage } from './pages/event.tsx';
import { JournalPage } from './pages/journal.tsx';
import { MoneyPage } from './pages/money.tsx';
import { LoginPage } from './pages/login.tsx';
import { OrderPage } from './pages/order.tsx';
import { OrdersPage } from './pages/orders.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { RefundsPage } from './pages/refunds.tsx';
import { SalePage, ServicePage } from './pages/sale.tsx';
import { SearchPage } from './pages/search.tsx';
import { SeatsPage } from './pages/seats.tsx';
import { withSample, type History } from './parts/charts.tsx';
import { Frame } from './parts/frame.tsx';
import { useRoute } from './app/router.ts';
import '../styles/console.css';

const POLL_MS = 2_000;
const EVENTS_SHOWN_MAX = 100;

function Console() {
  const [session, setSession] = useState<Session | null>(storedSession);
  const signIn = (next: Session | null): void => {
    storeSession(next);
    setSession(next);
  };
  if (session === null) return <LoginPage onSignedIn={signIn} />;
  return <SignedIn session={session} signOut={() => signIn(null)} />;
}

function SignedIn({ session, signOut }: { readonly session: Session; readonly signOut: () => void }) {
  const api = useMemo(() => createApi(session, signOut), [session]);
  const read = async (before: PolledOverview | null): Promise<PolledOverview> => {
    const overview = await api<Overview>('GET', `/admin/overview?limit=${EVENTS_SHOWN_MAX}`);
    return { overview, history: withSample(before?.history ?? [], overview) };
  };
  const { value, trouble, reload } = usePolled<PolledOverview>('overview', read, POLL_MS);
  return (
    <Frame service={value?.overview.service ?? null} trouble={trouble} operator={session.operator} signOut={signOut}>
      {value === null ? <p class="quiet">Loading…</p> : <Page api={api} polled={value} reload={reload} />}
    </Frame>
  );
}

interface PolledOverview {
  readonly overview: Overview;
  readonly history: History;
}

interface PageProps {
  readonly api: Api;
  readonly polled: PolledOverview;
  /** Reads the overview again, after a change. */
  readonly reload: () => void;
}

function Page({ api, polled, reload }: PageProps) {
  const route = useRoute();
  const { overview, history } = polled;
  const eventOf = (id: string) => overview.events.find((event) => event.id === id);
  if (route.page === 'overview') return <OverviewPage overview={overview} history={history} />;
  if (route.page === 'cluster') return <ClusterPage api={api} />;
  if (route.page === 'money') return <MoneyPage api={api} />;
  if (route.page === 'service') return <ServicePage api={api} now={overview.now} />;
  if (route.page === 'search') return <SearchPage api={api} events={overview.events} />;
  if (route.page === 'amend')
    return <AmendPage key={route.orderId} api={api} orderId={route.orderId} reload={reload} />;
  if (route.page === 'order') {
    const { public_url: publicUrl } = overview.service;
    return <OrderPage key={route.orderId} api={api} orderId={route.orderId} publicUrl={publicUrl} reload={reload} />;
  }
  if (route.page === 'journal') return <JournalPage api={api} events={overview.events} />;
  const event = eventOf(route.eventId);
  if (event === undefined) return <p class="quiet">There is no such event here.</p>;
  if (route.page === 'orders') return <OrdersPage key={event.id} api={api} event={event} />;
  if (route.page === 'sale') return <SalePage key={event.id} api={api} event={event} now={overview.now} />;
  if (route.page === 'refunds') return <RefundsPage key={event.id} api={api} event={event} reload={reload} />;
  if (route.page === 'event') return <EventPage event={event} history={history} api={api} reload={reload} />;
  const performance = event.performances.find(({ id }) => id === route.performanceId);
  if (performance === undefined) return <p class="quiet">There is no such date.</p>;
  if (route.page === 'doors') {
    return <DoorsPage key={`${event.id} ${performance.id}`} api={api} event={event} performance={performance} />;
  }
  return <SeatsPage key={performance.id} api={api} event={event} performance={performance} reload={reload} />;
}

render(<Console />, document.getElementById('app')!);
