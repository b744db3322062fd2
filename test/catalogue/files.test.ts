import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readCatalogue, samplesFolder } from '#catalogue/files.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { smallestEvent } from '../fixtures/events.ts';

const plan = {
  categories: [{ name: 'Red' }],
  zones: [
    {
      position: { x: 0, y: 0 },
      rows: [{ seats: [{ seat_guid: 'a', seat_number: '1', position: { x: 0, y: 0 }, category: 'Red' }] }],
    },
  ],
};

function eventOf(id: string, fields: object = {}) {
  return { ...smallestEvent, id, slug: id, ...fields };
}

function plannedEvent(seatingPlan: string) {
  return eventOf('evt_hall', { localities: [{ id: 'hall', seating_plan: seatingPlan }] });
}

describe('Catalogue files', () => {
  let root = '';
  before(() => (root = mkdtempSync(path.join(tmpdir(), 'holdfast-catalogue-'))));
  after(() => rmSync(root, { recursive: true }));

  /** Writes files into a fresh folder and returns the way to one in it. */
  function write(files: Record<string, unknown>): (name: string) => string {
    const folder = mkdtempSync(path.join(root, 'f-'));
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    }
    return (name) => path.join(folder, name);
  }

  it('are UTF-8 with or without a byte order mark, and refused in another encoding', () => {
    const named = JSON.stringify(eventOf('evt_a', { name: 'Café' }));
    const at = write({ 'utf8.json': `\uFEFF${named}` });
    writeFileSync(at('latin1.json'), Buffer.from(named, 'latin1'));
    assert.equal(readCatalogue(at('utf8.json')).definitions[0]!.name, 'Café');
    assert.deepEqual(readCatalogue(at('latin1.json')), {
      definitions: [],
      problems: [{ file: at('latin1.json'), path: '', message: 'is not UTF-8 text' }],
    });
  });

  function idsIn(...paths: string[]): string[] {
    const { definitions, problems } = readCatalogue(paths);
    assert.deepEqual(problems, []);
    return definitions.map((definition) => definition.id);
  }

  it('hold one event, a list of events, or a list under its name', () => {
    const at = write({
      'one.json': eventOf('a'),
      'list.json': [eventOf('b'), eventOf('c')],
      'named.json': { events: [eventOf('d')] },
    });
    assert.deepEqual(idsIn(at('one.json'), at('list.json'), at('named.json')), ['a', 'b', 'c', 'd']);
  });

  it('of a folder are read in the order of their names, without seating plans and other files', () => {
    const at = write({
      'b.json': eventOf('b'),
      'a.json': '\uFEFF' + JSON.stringify(eventOf('a')),
      'plan.json': plan,
      'notes.txt': '?',
    });
    assert.deepEqual(idsIn(at('.')), ['a', 'b']);
  });

  it('may name a plan in their own folder, or in one inside it', () => {
    const at = write({
      'here.json': plannedEvent('plan.json'),
      'below.json': plannedEvent('plans/plan.json'),
      'plan.json': plan,
      'plans/plan.json': plan,
    });
    assert.deepEqual(idsIn(at('here.json')), ['evt_hall']);
    assert.deepEqual(idsIn(at('below.json')), ['evt_hall']);
  });

  it('may not name a plan outside their folder in any way', () => {
    const at = write({
      'in/up.json': plannedEvent('../plan.json'),
      'in/link.json': plannedEvent('link-to-plan.json'),
      'in/missing.json': plannedEvent('nowhere.json'),
      'in/folder.json': plannedEvent('.'),
      'plan.json': plan,
    });
    writeFileSync(at('in/absolute.json'), JSON.stringify(plannedEvent(at('plan.json'))));
    symlinkSync(at('plan.json'), at('in/link-to-plan.json'));
    for (const name of ['up', 'link', 'missing', 'folder', 'absolute']) {
      const { definitions, problems } = readCatalogue(at(`in/${name}.json`));
      assert.deepEqual(definitions, []);
      assert.deepEqual(
        problems.map((problem) => [problem.file, problem.path]),
        [[at(`in/${name}.json`), '/localities/0/seating_plan']],
      );
      assert.match(problems[0]?.message ?? '', /folder/);
    }
  });

  it('are refused with the file and the path of each problem', () => {
    const at = write({
      'list.json': { events: [eventOf('a'), eventOf('b', { currency: 'x' })] },
      'broken.json': '{"id": ',
      'again.json': eventOf('a', { slug: 'other' }),
    });
    const { definitions, problems } = readCatalogue([
      at('list.json'),
      at('broken.json'),
      at('again.json'),
      at('none.json'),
    ]);
    assert.deepEqual(
      definitions.map((definition: EventDefinition) => definition.slug),
      ['a', 'other'],
    );
    assert.deepEqual(problems.map((problem) => [path.basename(problem.file), problem.path]).sort(), [
      ['again.json', '/id'],
      ['broken.json', ''],
      ['list.json', '/events/1/currency'],
      ['none.json', ''],
    ]);
  });

  it('without any event are a problem', () => {
    const at = write({ 'empty.json': [], 'only-plan/plan.json': plan });
    assert.equal(readCatalogue(at('empty.json')).problems.length, 1);
    assert.equal(readCatalogue(at('only-plan')).problems.length, 1);
  });
});

describe('The demo catalogue', () => {
  const { definitions, problems } = readCatalogue(samplesFolder);
  const eventBy = (id: string): EventDefinition => {
    const definition = definitions.find((each) => each.id === id);
    assert.ok(definition, id);
    return definition;
  };

  it('has seven events and no problems', () => {
    assert.deepEqual(problems, []);
    assert.deepEqual(definitions.map((definition) => definition.id).sort(), [
      'evt_club',
      'evt_erfurt',
      'evt_free',
      'evt_harbour',
      'evt_rush',
      'evt_supper',
      'evt_theatre',
    ]);
  });

  it('sells every ticket type of every event at once', () => {
    for (const { sellingStages, ticketTypes, performances } of definitions) {
      const open = sellingStages.filter((stage) => stage.startsAt === null);
      for (const { id } of ticketTypes)
        assert.ok(
          open.some((stage) => id in stage.prices),
          id,
        );
      for (const performance of performances) assert.ok((performance.startsAt ?? 0) > Date.UTC(2028, 0));
    }
  });

  it('shows pictures, venues, entrance times and a line-up', () => {
    for (const { id, picture, venue } of definitions) assert.ok(picture !== undefined && venue !== undefined, id);
    const [night] = eventBy('evt_club').performances;
    assert.equal(night!.startsAt! - night!.doorsAt!, 30 * 60_000);
    assert.deepEqual(eventBy('evt_rush').lineup?.at(-1), { name: 'Lighthouse', time: '21:00' });
  });

  it('shows groups, stages with quotas, perks and codes at the club', () => {
    const club = eventBy('evt_club');
    assert.ok(club.ticketTypes.some((type) => type.groupSize === 4));
    assert.ok(
      club.sellingStages.length === 2 && club.sellingStages.every((stage) => Object.keys(stage.quotas).length > 0),
    );
    assert.ok(club.ticketTypes.every((type) => type.barPerks.length > 0) && club.promoCodes.length > 0);
  });

  it('shows dates, aisles, accessible and restricted seats, and installments at the theatre', () => {
    const theatre = eventBy('evt_theatre');
    const [hall] = theatre.localities;
    assert.ok(hall?.seating === 'NUMBERED' && theatre.performances.length > 1 && theatre.maxInstallments > 1);
    const rows = hall.sections.flatMap((section) => section.rows);
    assert.ok(rows.every((row) => row.aisleAfter.length > 0));
    assert.ok(rows.some((row) => row.seats.some((seat) => seat.accessible)));
    assert.ok(rows.some((row) => row.seats.some((seat) => seat.restrictedView)));
  });

  it('has the Riethsporthalle, a rush behind a waiting room and a free day', () => {
    const [hall] = eventBy('evt_erfurt').localities;
    assert.ok(hall?.seating === 'NUMBERED');
    assert.deepEqual(hall.focalPoint, { x: 1300, y: 580 });
    const rush = eventBy('evt_rush');
    assert.deepEqual([rush.waitingRoom, rush.waitingRoomOpensAt, rush.waitingRoomRate], [true, null, 100]);
    assert.deepEqual(eventBy('evt_free').sellingStages[0]?.prices, { visitor: 0 });
  });
});
