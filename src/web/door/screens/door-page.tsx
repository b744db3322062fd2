/** The page of a station: which screen is shown, the rounds in which it sends and syncs, and newer versions of it. */
import { useEffect, useState } from 'preact/hooks';
import { texts } from '../app/language.ts';
import { allowSound } from '../app/signals.ts';
import type { ScanStation, ScanStationView } from '../app/station.ts';
import { ChoiceScreen } from './choice-screen.tsx';
import { More } from './more.tsx';
import { PairingScreen } from './pairing-screen.tsx';
import { ScanScreen } from './scan-screen.tsx';
import { StatusBar } from './status-bar.tsx';

const ROUND_MS = 5_000;
/** Between two looks for a newer version of the page. */
const UPDATE_CHECK_MS = 10 * 60_000;

/** The version of this page. */
export const version = document.querySelector<HTMLMetaElement>('meta[name="version"]')!.content;

interface DoorPageProps {
  readonly station: ScanStation;
  /** The token with which the page was opened. */
  readonly first: string | null;
  /** Takes a token out of the address. */
  readonly takeToken: () => string | null;
}

export function DoorPage({ station, first, takeToken }: DoorPageProps) {
  const view = useView(station);
  const [offered, setOffered] = useState(first);
  const [isUnknown, setUnknown] = useState(false);
  const [newer, setNewer] = useState<{ readonly use: () => void } | null>(null);
  const [isShown, setShown] = useState(false);
  useRounds(station);
  useEffect(() => {
    void followUpdates((use) => setNewer({ use })).catch(() => {});
    const follow = (): void => setOffered((before) => takeToken() ?? before);
    addEventListener('hashchange', follow);
    addEventListener('pointerdown', allowSound);
    addEventListener('keydown', allowSound);
    return () => {
      removeEventListener('hashchange', follow);
      removeEventListener('pointerdown', allowSound);
      removeEventListener('keydown', allowSound);
    };
  }, []);
  useEffect(() => {
    document.documentElement.dataset['state'] = view.state;
  }, [view.state]);
  // Nothing is lost by an update, but a station that has to send does that first, unless somebody says otherwise.
  useEffect(() => {
    if (newer !== null && view.waiting === 0 && !isShown) newer.use();
  }, [newer, view.waiting, isShown]);

  const pair = async (token: string): Promise<void> => {
    setOffered(null);
    setUnknown((await station.pair(token.trim())) === 'unknown');
  };
  const isPaired = view.state !== 'unpaired' && view.state !== 'revoked';
  const mustAsk = isPaired && view.waiting > 0;
  useEffect(() => {
    if (offered !== null && !mustAsk) void pair(offered);
  }, [offered, mustAsk]);

  const parts = (
    <>
      {offered !== null && mustAsk && (
        <section class="notice" role="alert">
          <p>{texts.pairing.anewAsk(view.waiting)}</p>
          <div class="actions">
            <button type="button" class="primary" onClick={() => void pair(offered)}>
              {texts.pairing.anew}
            </button>
            <button type="button" onClick={() => setOffered(null)}>
              {texts.pairing.leave}
            </button>
          </div>
        </section>
      )}
      {!globalThis.isSecureContext && <p class="notice">{texts.status.notSecure}</p>}
      {view.state === 'not-ready' && <p class="notice">{texts.status.notReady}</p>}
    </>
  );
  return (
    <main>
      <h1 class="unseen">{texts.page.title}</h1>
      {isPaired && <StatusBar view={view} now={() => station.now()} />}
      {parts}
      {!isPaired && <PairingScreen view={view} isUnknown={isUnknown} onPair={pair} />}
      {isPaired && view.choice === null && <ChoiceScreen view={view} onChoose={(choice) => station.choose(choice)} />}
      {isPaired && view.choice !== null && <ScanScreen station={station} view={view} onShown={setShown} />}
      <More station={station} view={view} newer={newer} />
    </main>
  );
}

function useView(station: ScanStation): ScanStationView {
  const [view, setView] = useState(station.view);
  useEffect(() => station.follow(() => setView(station.view)), [station]);
  return view;
}

/** Sends and syncs every few seconds, and as soon as there is a network again. */
function useRounds(station: ScanStation): void {
  useEffect(() => {
    const round = (): void => void station.refresh().catch(() => {});
    const timer = setInterval(round, ROUND_MS);
    addEventListener('online', round);
    document.addEventListener('visibilitychange', round);
    round();
    return () => {
      clearInterval(timer);
      removeEventListener('online', round);
      document.removeEventListener('visibilitychange', round);
    };
  }, [station]);
}

/**
 * Has the service worker keep the page for when the service cannot be reached. Calls back once a newer version of the
 * page was loaded, with what begins to use it.
 */
async function followUpdates(onNewer: (use: () => void) => void): Promise<void> {
  // Only https and localhost have it.
  if (!('serviceWorker' in navigator)) return;
  const { serviceWorker } = navigator;
  serviceWorker.addEventListener('message', ({ data, source }: MessageEvent<string>) => {
    if (data === 'in use') location.reload();
    else if (data !== version) onNewer(() => (source as ServiceWorker).postMessage('use newest'));
  });
  const registration = await serviceWorker.register('/door/service-worker.js', { scope: '/door' });
  serviceWorker.controller?.postMessage('which version');
  setInterval(() => void registration.update().catch(() => {}), UPDATE_CHECK_MS);
}
