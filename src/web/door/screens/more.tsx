/** What is rarely needed: scans that conflict or were refused, a newer version, unpairing, the language. */
import { useState } from 'preact/hooks';
import { LANGUAGES } from '#texts/locale/language.ts';
import { markOf, type Conflict } from '../app/conflicts.ts';
import { chooseLanguage, language, texts, wording } from '../app/language.ts';
import type { ScanStation, ScanStationView } from '../app/station.ts';
import type { QueuedScan } from '../app/store.ts';
import { placeOf, reasonOf, seatOf } from './verdict-screen.tsx';

interface MoreProps {
  readonly station: ScanStation;
  readonly view: ScanStationView;
  readonly newer: { readonly use: () => void } | null;
}

export function More({ station, view, newer }: MoreProps) {
  const { more, pairing } = texts;
  const [isAsking, setAsking] = useState(false);
  const { refused, conflicts, waiting, state } = view;
  const unpair = (): void => {
    setAsking(false);
    void station.unpair();
  };
  return (
    <footer>
      {newer !== null && waiting > 0 && (
        <section class="notice">
          <p>{more.newerAsk(waiting)}</p>
          <button type="button" onClick={newer.use}>
            {more.update}
          </button>
        </section>
      )}
      {conflicts.length > 0 && (
        <Conflicts conflicts={conflicts} head={view.head} onSeen={() => void station.seen(conflicts)} />
      )}
      {refused.length > 0 && <Refused scans={refused} />}
      <details>
        <summary>{more.title}</summary>
        <label>
          {more.language}
          <select onChange={({ currentTarget }) => chooseLanguage(currentTarget.value)}>
            {Object.entries(LANGUAGES).map(([tag, name]) => (
              <option key={tag} value={tag} selected={tag === language}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {state !== 'unpaired' && !isAsking && (
          <button type="button" onClick={() => setAsking(true)}>
            {more.unpair}
          </button>
        )}
        {isAsking && (
          <section class="notice" role="alert">
            <p>{waiting > 0 ? more.unpairAsk(waiting) : more.unpairSure}</p>
            <div class="actions">
              <button type="button" class="primary" onClick={unpair}>
                {more.unpair}
              </button>
              <button type="button" onClick={() => setAsking(false)}>
                {pairing.leave}
              </button>
            </div>
          </section>
        )}
      </details>
    </footer>
  );
}

interface ConflictsProps {
  readonly conflicts: readonly Conflict[];
  readonly head: ScanStationView['head'];
  readonly onSeen: () => void;
}

function Conflicts({ conflicts, head, onSeen }: ConflictsProps) {
  const { more } = texts;
  const areDoubles = conflicts.every((each) => each.verdict === 'ALREADY_ADMITTED');
  const tickets = new Set(conflicts.map(({ digest, id }) => digest ?? id));
  return (
    <section class="notice" role="status">
      <h2>{areDoubles ? more.doubles(tickets.size) : more.conflicts(conflicts.length)}</h2>
      <p>{more.conflictsWhy}</p>
      <ul>
        {conflicts.map((conflict) => (
          <li key={markOf(conflict)}>
            {wording.hour(conflict.at)}{' '}
            {[seatOf(conflict), ...saidOf(conflict, head)].filter((part) => part).join(' · ')}
          </li>
        ))}
      </ul>
      <button type="button" onClick={onSeen}>
        {more.seen}
      </button>
    </section>
  );
}

/** What the service says of a scan. */
function saidOf(conflict: Conflict, head: ScanStationView['head']): readonly (string | null)[] {
  const { admitted, verdict } = conflict;
  if (admitted) return [texts.more.also(wording.hour(admitted.at), placeOf(admitted))];
  return [texts.verdict.words[verdict], reasonOf(conflict, head)];
}

function Refused({ scans }: { readonly scans: readonly QueuedScan[] }) {
  const { more } = texts;
  const file = `data:application/json,${encodeURIComponent(JSON.stringify({ scans }, null, 2))}`;
  return (
    <section class="notice">
      <h2>{more.refused(scans.length)}</h2>
      <p>{more.refusedWhy}</p>
      <ul>
        {scans.map(({ id, kind, at, given, refused }) => (
          <li key={id}>
            {wording.hour(at)} {kind} {given} · {refused?.code}
          </li>
        ))}
      </ul>
      <a class="button" href={file} download="refused-scans.json">
        {more.save}
      </a>
    </section>
  );
}
