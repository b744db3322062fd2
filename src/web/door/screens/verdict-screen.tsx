/** A verdict on the whole screen: colour, sign, word, and what it is about. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Given } from '#client/doors/scan.ts';
import type { Admission, StationHead } from '#client/doors/wire.ts';
import { texts, wording } from '../app/language.ts';
import type { OwnVerdict } from '../app/check.ts';
import type { Tone } from '../app/signals.ts';
import type { ShownScan } from '../app/station.ts';

const GOOD: readonly Given[] = ['ADMIT', 'EXIT', 'UNDONE'];

export function toneOf(verdict: Given): Tone {
  if (GOOD.includes(verdict)) return 'good';
  return verdict === 'CANNOT_TELL' ? 'unsure' : 'bad';
}

const SIGNS: Readonly<Record<Tone, string>> = {
  good: 'M12 33l14 14 27-31',
  bad: 'M15 15l34 34M49 15L15 49',
  unsure: 'M21 22a11 11 0 1 1 16 10c-4 2-5 4-5 6M32 54v.500',
};

interface VerdictScreenProps {
  readonly shown: ShownScan;
  readonly head: StationHead | null;
  readonly onDismiss: () => void;
  readonly children: ComponentChildren;
}

export function VerdictScreen({ shown, head, onDismiss, children }: VerdictScreenProps) {
  const button = useRef<HTMLButtonElement>(null);
  const tone = toneOf(shown.verdict);
  useEffect(() => {
    button.current?.focus();
    const follow = ({ key }: KeyboardEvent): void => void (key === 'Escape' && onDismiss());
    addEventListener('keydown', follow);
    return () => removeEventListener('keydown', follow);
  }, [shown.id]);
  return (
    <section
      class={`verdict ${tone}`}
      role="alertdialog"
      aria-modal="true"
      aria-labelledby="verdict-word"
      aria-describedby="verdict-about"
      onClick={onDismiss}
    >
      {children}
      <div class="big">
        <svg viewBox="0 0 64 64" aria-hidden="true">
          <path d={SIGNS[tone]} />
        </svg>
        <h2 id="verdict-word">{texts.verdict.words[shown.verdict]}</h2>
        <div id="verdict-about">
          <p class="seat">{seatOf(shown)}</p>
          {reasonOf(shown, head) !== null && <p>{reasonOf(shown, head)}</p>}
          {shown.isOwn && <p class="own">{texts.verdict.own}</p>}
        </div>
      </div>
      <button type="button" ref={button} onClick={onDismiss}>
        {texts.verdict.next}
      </button>
    </section>
  );
}

/** The type of a ticket and its seat; empty where the scan found none. */
export function seatOf({ ticket }: Pick<ShownScan, 'ticket'>): string {
  if (ticket === undefined) return '';
  const { ticket_type_name: type, section, row_label: row, seat_label: seat, seat_id: seatId = null } = ticket;
  const named = [section, row, seat].filter((part) => part !== null);
  return [type, named.length > 0 ? named.join(' · ') : (seatId ?? '')].filter((part) => part !== '').join(' — ');
}

/** Door and station of an entry. */
export function placeOf({ door_name: door, station_name: station }: Admission): string {
  return [door, station].filter((name) => name !== null && name !== '').join(', ');
}

/** What a verdict is about; null where its word says all. */
export function reasonOf(shown: OwnVerdict, head: StationHead | null): string | null {
  const { verdict } = texts;
  if (shown.verdict === 'CANNOT_TELL') return verdict.cannotTell;
  const { admitted, performance, door_ids: doorIds, opens_at: opensAt } = shown;
  if (admitted) {
    return verdict.since(wording.hour(admitted.at), placeOf(admitted));
  }
  if (performance !== undefined) {
    const { name, starts_at: startsAt } = performance;
    return verdict.ofDate(name, startsAt === null ? '' : wording.dayAndHour(startsAt));
  }
  if (doorIds !== undefined) {
    const names = doorIds.map((id) => head?.doors.find((door) => door.id === id)?.name ?? id);
    return verdict.doors(wording.listing(names));
  }
  if (opensAt && shown.verdict === 'NOT_YET') return verdict.opens(wording.dayAndHour(opensAt));
  return null;
}
