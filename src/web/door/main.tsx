/**
 * The page of a station.
 *
 * A token in the address leaves it, and the browser's history, before anything else happens. One window at a time is
 * the station: two would send the same queue.
 */
import { render } from 'preact';
import { openStore } from './app/database.ts';
import { texts } from './app/language.ts';
import { stationRequests } from './app/requests.ts';
import { signatureCheck } from './app/check.ts';
import { ScanStation } from './app/station.ts';
import { DoorPage, version } from './screens/door-page.tsx';
import { randomText } from '#client/transport.ts';
import '../styles/fonts.css';
import '../styles/tokens.css';
import '../styles/reset.css';
import '../styles/door.css';

const SCAN_ID_BYTES = 18;

/** The token in the address, which has none afterwards. */
function takeToken(): string | null {
  const token = decodeURIComponent(location.hash.slice(1));
  if (location.hash !== '') history.replaceState(null, '', location.pathname);
  return token === '' ? null : token;
}

const first = takeToken();
const app = document.getElementById('app')!;
const say = (text: string): void =>
  render(
    <main class="narrow">
      <p class="notice">{text}</p>
    </main>,
    app,
  );

async function begin(): Promise<void> {
  const store = await openStore(indexedDB);
  const station = new ScanStation({
    store,
    requests: stationRequests(fetch.bind(globalThis)),
    checkSignature: signatureCheck(globalThis.crypto.subtle),
    now: () => Date.now(),
    newId: () => randomText(SCAN_ID_BYTES),
    version,
  });
  await station.open();
  void navigator.storage?.persist?.().catch(() => {});
  render(<DoorPage station={station} first={first} takeToken={takeToken} />, app);
}

const beginOrSay = (): Promise<void> => begin().catch(() => say(texts.page.noStore));

// Only https and localhost have locks.
if ('locks' in navigator) {
  const waiting = setTimeout(() => say(texts.page.elsewhere), 500);
  void navigator.locks.request('holdfast.door', async () => {
    clearTimeout(waiting);
    await beginOrSay();
    await new Promise(() => {});
  });
} else void beginOrSay();
