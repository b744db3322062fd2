/** The console: asks for the token, then shows the page that the address names. */
import { render } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { createApi, type Api } from './api.ts';
import type { Overview } from './bodies.ts';
import { withSample, type History } from './history.ts';
import { EventPage } from './pages/event-page.tsx';
import { JournalPage } from './pages/journal-page.tsx';
import { LoginPage } from './pages/login-page.tsx';
import { OrderPage } from './pages/order-page.tsx';
import { OrdersPage } from './pages/orders-page.tsx';
import { OverviewPage } from './pages/overview-page.tsx';
import { SeatsPage } from './pages/seats-page.tsx';
import { Frame } from './parts/frame.tsx';
import { useRoute } from './router.ts';
import { forgetSession, keepSession, keptSession, type Session } from './session.ts';
import { usePolled } from './use-polled.ts';
import './styles/console.css';

const LOOK_EVERY_MS = 2_000;
const EVENTS_SHOWN_MAX = 100;

function Console() {
  const [session, setSession] = useState<Session | null>(keptSession);
  const signOut = (): void => {
    forgetSession();
    setSession(null);
  };
  if (session === null) {
    return (
      <LoginPage
        onSignedIn={(next) => {
          keepSession(next);
          setSession(next);
        }}
      />
    );
  }
  return <SignedIn session={session} signOut={signOut} />;
}

function SignedIn({ session, signOut }: { readonly session: Session; readonly signOut: () => void }) {
  const api = useMemo(() => createApi(session, signOut), [session]);
  const look = async (before: Look | null): Promise<Look> => {
    const overview = await api<Overview>('GET', `/admin/overview?limit=${EVENTS_SHOWN_MAX}`);
    return { overview, history: withSample(before?.history ?? [], overview) };
  };
  const { value, trouble, again } = usePolled<Look>('overview', look, LOOK_EVERY_MS);
  return (
    <Frame service={value?.overview.service ?? null} trouble={trouble} operator={session.operator} signOut={signOut}>
      {value === null ? <p class="quiet">Reading the books…</p> : <Page api={api} look={value} again={again} />}
    </Frame>
  );
}

interface Look {
  readonly overview: Overview;
  readonly history: History;
}

interface PageProps {
  readonly api: Api;
  readonly look: Look;
  /** Looks at everything anew, after a change. */
  readonly again: () => void;
}

function Page({ api, look, again }: PageProps) {
  const route = useRoute();
  const { overview, history } = look;
  const eventOf = (id: string) => overview.events.find((event) => event.id === id);
  if (route.page === 'overview') return <OverviewPage overview={overview} history={history} api={api} />;
  if (route.page === 'order') return <OrderPage key={route.orderId} api={api} orderId={route.orderId} again={again} />;
  if (route.page === 'journal') {
    return <JournalPage key={route.eventId ?? ''} api={api} eventId={route.eventId} events={overview.events} />;
  }
  const event = eventOf(route.eventId);
  if (event === undefined) return <p class="quiet">There is no such event here.</p>;
  if (route.page === 'orders') return <OrdersPage key={event.id} api={api} event={event} />;
  if (route.page === 'event') return <EventPage event={event} history={history} api={api} again={again} />;
  const date = event.performances.find(({ id }) => id === route.performanceId);
  if (date === undefined) return <p class="quiet">There is no such date.</p>;
  return <SeatsPage key={date.id} api={api} event={event} date={date} again={again} />;
}

render(<Console />, document.getElementById('app')!);
