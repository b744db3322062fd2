/**
 * Turns as fast as one core can take them, without HTTP and disk: new holds of a hot ticket type, and a mixed workload.
 *
 * Both by the domain alone; the mix once more through the actor with its ids, its gate and its facts as JSON in a
 * journal in memory. The hall is set up before the clock runs.
 */
import { isRefusal } from '#domain/refusal.ts';
import { hallEvent, hotEvent } from '../events.ts';
import { definitionOf } from '../../test/fixtures/events.ts';
import { itemOf, openActor, openDomain, placeHold, type DomainFixture } from '../in-process.ts';
import { figureOf, secondsOf, type Scenario } from '../scenario.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { Command } from '#domain/command.ts';

/** Sessions of the mix. */
const SESSIONS = 5_000;
/** Commands that are under way together, as the requests of a busy moment are. */
const BATCH = 500;

/**
 * The mix of a rush: of ten turns five place a hold on the floor, two one of the best seats, two change a quantity and
 * one releases. Sessions come back, so that holds are replaced as well.
 */
function commandOf(turn: number, holdIds: readonly (string | undefined)[]): Command {
  const n = (turn * 7) % SESSIONS;
  const sessionKey = `session-${n}`;
  const holdId = holdIds[n];
  const part = turn % 10;
  if (holdId === undefined || part < 5) return placeHold(n, 'single', 1 + (turn % 3));
  if (part < 7) return placeHold(n, 'seat', 1 + (turn % 4));
  if (part < 9) return { type: 'ChangeHold', holdId, sessionKey, items: [itemOf('single', 1 + (turn % 5))] };
  return { type: 'ReleaseHold', holdId, sessionKey };
}

export const engineTurns: Scenario = {
  name: 'engine-turns',
  about:
    'turns without HTTP and disk: new holds, a mixed workload, and the mix through the actor over a journal in memory',
  async run({ quick, rounds, report }) {
    const turns = quick ? 60_000 : 1_000_000;
    const definition = definitionOf(hallEvent(60_000));
    const fresh: number[] = [];
    const bare: number[] = [];
    const acted: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      report(`round ${round} of ${rounds}`);
      const empty = openDomain(definitionOf(hotEvent));
      const holds = turns / 2 / (await secondsOf(() => placeNewHolds(empty, turns / 2)));
      const fixture = openDomain(definition);
      const alone = turns / (await secondsOf(() => decideAndEvolve(fixture, turns)));
      const actor = await openActor(definition);
      const through = turns / 4 / (await secondsOf(() => askTheActor(actor, turns / 4)));
      // Events in memory are known to their process: one that is not retired stays there for the rounds that follow.
      actor.retire();
      // The first round warms up.
      if (round === 0) continue;
      fresh.push(holds);
      bare.push(alone);
      acted.push(through);
    }
    return {
      figures: [
        figureOf('new holds: decide and evolve', 'turns per s', fresh, { atLeast: 300_000 }),
        figureOf('mix: decide and evolve', 'turns per s', bare, { atLeast: 250_000 }),
        figureOf('mix: through the actor, facts as JSON', 'turns per s', acted),
      ],
    };
  },
};

/** Every hold stays, as in the first minutes of a sale. */
function placeNewHolds(fixture: DomainFixture, turns: number): void {
  for (let turn = 0; turn < turns; turn += 1) fixture.do(placeHold(turn, 'single', 1));
}

function decideAndEvolve(fixture: DomainFixture, turns: number): void {
  const holdIds = new Array<string | undefined>(SESSIONS).fill(undefined);
  for (let turn = 0; turn < turns; turn += 1) {
    const command = commandOf(turn, holdIds);
    note(holdIds, command, fixture.do(command));
  }
}

async function askTheActor(actor: EventActor, turns: number): Promise<void> {
  const holdIds = new Array<string | undefined>(SESSIONS).fill(undefined);
  for (let turn = 0; turn < turns; turn += BATCH) {
    const wave: Promise<void>[] = [];
    for (let each = turn; each < turn + BATCH; each += 1) {
      const command = commandOf(each, holdIds);
      const asked = actor.execute(command).then((reply) => {
        if (isRefusal(reply)) throw new Error(JSON.stringify(reply));
        note(holdIds, command, reply);
      });
      wave.push(asked);
    }
    await Promise.all(wave);
  }
}

/** Keeps the id of the hold that a session has now. */
function note(holdIds: (string | undefined)[], command: Command, reply: object): void {
  if (command.type !== 'PlaceHold' && command.type !== 'ReleaseHold') return;
  const n = Number(command.sessionKey.slice('session-'.length));
  holdIds[n] = command.type === 'PlaceHold' ? (reply as { hold: { id: string } }).hold.id : undefined;
}
