/**
 * Whether the best seats of a stadium are found as fast as those of a small hall, however full they are.
 *
 * A turn holds the best three seats and releases them, so that every hall stays as full as it was.
 */
import { bestBlock } from '#domain/inventory/best-available.ts';
import { createOverlay } from '#domain/inventory/stock-overlay.ts';
import { hallEvent } from '../events.ts';
import { definitionOf } from '../../test/fixtures/events.ts';
import { openDomain, placeHold, type DomainFixture } from '../in-process.ts';
import { figureOf, secondsOf, type Figure, type Scenario } from '../scenario.ts';

/** How full a hall is when it is asked. */
const FILLINGS = [
  { name: 'empty', share: 0 },
  { name: 'half full', share: 0.5 },
  { name: 'last seats', share: 0.99 },
] as const;

export const bestAvailable: Scenario = {
  name: 'best-available',
  about: 'a turn that holds the best three seats and releases them, in a hall of 60,000 seats against one of 600',
  async run({ quick, rounds, report }) {
    const turns = quick ? 2_000 : 20_000;
    const figures: Figure[] = [];
    for (const { name, share } of FILLINGS) {
      report(name);
      const small = filledHall(600, share);
      const large = filledHall(60_000, share);
      const ratios: number[] = [];
      const micros: number[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        const inSmall = await secondsOf(() => holdAndRelease(small, turns));
        const inLarge = await secondsOf(() => holdAndRelease(large, turns));
        // The first round warms up.
        if (round === 0) continue;
        ratios.push(inLarge / inSmall);
        micros.push((inLarge / turns) * 1e6);
      }
      figures.push(figureOf(`${name}: 60,000 ÷ 600 seats`, '× the time', ratios, { atMost: 1.5 }));
      figures.push(figureOf(`${name}: 60,000 seats`, 'µs', micros));
    }
    return { figures };
  },
};

function filledHall(seats: number, share: number): DomainFixture {
  const fixture = openDomain(definitionOf(hallEvent(seats)));
  const type = fixture.state.plan.ticketTypeById.get('seat')!;
  const performance = fixture.state.performances.get('night')!;
  for (let n = 0; n * 4 < seats * share; n += 1) fixture.do(placeHold(n, 'seat', 4));
  if (bestBlock(createOverlay(performance.inventory), type, 3) === null) throw new Error('no three seats are left');
  return fixture;
}

/** Each visitor is a new one, as in a rush. */
function holdAndRelease(fixture: DomainFixture, turns: number): void {
  for (let turn = 0; turn < turns; turn += 1) {
    const sessionKey = `visitor-${turn}`;
    const reply = fixture.do({ ...placeHold(turn, 'seat', 3), sessionKey });
    const { hold } = reply as unknown as { readonly hold: { readonly id: string } };
    fixture.do({ type: 'ReleaseHold', holdId: hold.id, sessionKey });
  }
}
