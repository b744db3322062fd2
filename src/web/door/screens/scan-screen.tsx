/** Scanning: by camera, by scanners that type, by typed codes; then the verdict. */
import { useEffect, useState } from 'preact/hooks';
import { texts, wording } from '../app/language.ts';
import type { ScanStation, ScanStationView } from '../app/station.ts';
import { CameraView } from './camera-view.tsx';
import { StatusBar } from './status-bar.tsx';
import { useScans, type LastShown } from './use-scans.ts';
import { seatOf, toneOf, VerdictScreen } from './verdict-screen.tsx';

interface ScanScreenProps {
  readonly station: ScanStation;
  readonly view: ScanStationView;
  /** Says whether a verdict is shown. */
  readonly onShown: (isShown: boolean) => void;
}

export function ScanScreen({ station, view, onShown }: ScanScreenProps) {
  const [kind, setKind] = useState<'ENTRY' | 'EXIT'>('ENTRY');
  const { shown, last, isChecking, notice, take, read, dismiss } = useScans(station, kind);
  useEffect(() => onShown(shown !== null), [shown]);
  const { scanning, choice: choiceTexts } = texts;
  const { head, choice, undoable } = view;
  const date = head?.performances.find(({ id }) => id === choice?.performanceId);
  const door = head?.doors.find(({ id }) => id === choice?.doorId);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const code = String(new FormData(form).get('code') ?? '');
    form.reset();
    if (code !== '') read(code, 'typed');
  };
  return (
    <>
      {shown !== null && (
        <VerdictScreen shown={shown} head={head} onDismiss={dismiss}>
          <StatusBar view={view} now={() => station.now()} />
        </VerdictScreen>
      )}
      <div class="scanning" inert={shown !== null}>
        <div class="standing">
          <div>
            <p class="where">{door?.name}</p>
            <p class="quiet">
              {head?.event.name} · {date?.name}
            </p>
          </div>
          <button type="button" onClick={() => void station.choose(null)}>
            {choiceTexts.change}
          </button>
        </div>
        <fieldset class="directions">
          <legend class="unseen">{scanning.direction}</legend>
          {(['ENTRY', 'EXIT'] as const).map((each) => (
            <label key={each}>
              <input type="radio" name="kind" checked={kind === each} onChange={() => setKind(each)} />
              {each === 'ENTRY' ? scanning.entry : scanning.exit}
            </label>
          ))}
        </fieldset>
        <CameraView isPaused={shown !== null || isChecking} onCode={(code) => read(code, 'camera')} />
        <form class="typed" onSubmit={submit} autocomplete="off">
          <label>
            {scanning.code}
            <input name="code" type="text" autocapitalize="none" autocomplete="off" spellcheck={false} />
          </label>
          <button type="submit">{scanning.check}</button>
        </form>
        <p class="said" role="status">
          {isChecking && scanning.checking}
          {notice === 'repeated' && scanning.repeated}
          {notice === 'notStored' && scanning.notStored}
        </p>
        {last !== null && (
          <LastScan last={last} onUndo={undoable?.id === last.id ? () => void take(() => station.undo()) : null} />
        )}
      </div>
    </>
  );
}

interface LastScanProps {
  readonly last: LastShown;
  /** Null where it cannot be taken back. */
  readonly onUndo: (() => void) | null;
}

function LastScan({ last, onUndo }: LastScanProps) {
  const { scanning, verdict } = texts;
  return (
    <section class="last" aria-label={scanning.last}>
      <p>
        <span class={`word ${toneOf(last.verdict)}`}>{verdict.words[last.verdict]}</span>
        <span class="quiet"> {wording.hour(last.at)}</span>
      </p>
      <p>{seatOf(last)}</p>
      {onUndo !== null && (
        <button type="button" onClick={onUndo}>
          {scanning.undo}
        </button>
      )}
    </section>
  );
}
