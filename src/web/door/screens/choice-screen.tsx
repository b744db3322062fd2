import type { DoorChoice } from '../app/check.ts';
import { texts, wording } from '../app/language.ts';
import { ownDoors, type ScanStationView } from '../app/station.ts';

interface ChoiceScreenProps {
  readonly view: ScanStationView;
  readonly onChoose: (choice: DoorChoice) => Promise<void>;
}

/** Which of its own dates and doors a station stands at. */
export function ChoiceScreen({ view: { head }, onChoose }: ChoiceScreenProps) {
  const { choice } = texts;
  if (head === null) return <p class="quiet">{choice.loading}</p>;
  const doors = ownDoors(head);
  const dates = head.performances;
  if (doors.length === 0 || dates.length === 0) return <p class="notice">{choice.none}</p>;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const chosen = new FormData(event.currentTarget as HTMLFormElement);
    void onChoose({ performanceId: String(chosen.get('date')), doorId: String(chosen.get('door')) });
  };
  return (
    <section class="card">
      <p class="quiet">{head.event.name}</p>
      <h2>{choice.title}</h2>
      <form onSubmit={submit}>
        <label>
          {choice.date}
          <select name="date">
            {dates.map(({ id, name, starts_at: startsAt }) => (
              <option key={id} value={id}>
                {startsAt === null ? name : `${name} · ${wording.dayAndHour(startsAt)}`}
              </option>
            ))}
          </select>
        </label>
        <label>
          {choice.door}
          <select name="door">
            {doors.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="primary">
          {choice.scan}
        </button>
      </form>
    </section>
  );
}
