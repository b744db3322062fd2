/** What is always shown: online or not, the age of the last sync, scans that wait, and people inside. */
import { useEffect, useState } from 'preact/hooks';
import { texts, wording } from '../app/language.ts';
import type { ScanStationView } from '../app/station.ts';

export function StatusBar({ view, now }: { readonly view: ScanStationView; readonly now: () => number }) {
  const [, setSecond] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSecond((second) => second + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  const { status } = texts;
  const { isOnline, syncedAt, waiting, inside, refused } = view;
  return (
    <dl class="status" aria-label={status.label}>
      <div class={isOnline ? 'good' : 'bad'}>
        <dt class="unseen">{status.label}</dt>
        <dd>
          <span class="dot" aria-hidden="true" />
          {isOnline ? status.online : status.offline}
        </dd>
      </div>
      <div>
        <dt>{status.synced}</dt>
        <dd>{syncedAt === null ? status.never : ageText(now() - syncedAt)}</dd>
      </div>
      <div class={waiting + refused.length > 0 ? 'warn' : ''}>
        <dt>{status.waiting}</dt>
        <dd>{wording.number(waiting)}</dd>
      </div>
      <div>
        <dt>{status.inside}</dt>
        <dd>{wording.number(inside)}</dd>
      </div>
    </dl>
  );
}

function ageText(ms: number): string {
  const { seconds, minutes, hours } = texts.status;
  const age = Math.max(0, Math.round(ms / 1_000));
  if (age < 120) return seconds(age);
  return age < 7_200 ? minutes(Math.floor(age / 60)) : hours(Math.floor(age / 3_600));
}
