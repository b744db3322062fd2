import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventSummary, eventView, listingOf, listingOfUnsold, summaryOf } from '#domain/event/public-view.ts';
import { isRefusal } from '#domain/refusal.ts';
import { bothDates, checkoutEvent, item, placeHold } from '../fixtures/commands.ts';
import { stage } from '../fixtures/definitions.ts';
import { given, MINUTE, restore, START } from '../fixtures/event-state.ts';

const [first, second] = bothDates;

/** Two cheap tickets on each performance, then dear ones. */
const earlyBirds = checkoutEvent({
  sellingStages: [stage('early', { adult: 700, group: 2000 }, { adult: 2, group: 3 }), stage('late', { adult: 900 })],
});

const definitions = [
  checkoutEvent(),
  checkoutEvent({ performances: [{ ...first!, status: 'SOLD_OUT' }, second!] }),
  checkoutEvent({
    performances: [
      { ...first!, status: 'DRAFT' },
      { ...second!, status: 'CANCELLED' },
    ],
  }),
  checkoutEvent({
    sellingStages: [
      { ...stage('early', { adult: 700 }), startsAt: START + 10 * MINUTE, endsAt: START + 20 * MINUTE },
      { ...stage('late', { adult: 900, group: 3000 }), startsAt: START + 30 * MINUTE },
      stage('never', {}),
    ],
  }),
  earlyBirds,
];

describe('The summary of an event in the list', () => {
  for (const [index, definition] of definitions.entries()) {
    it(`without sales follows from the definition alone (${index + 1})`, () => {
      assert.deepEqual(listingOfUnsold(definition), listingOf(given(definition).state));
    });
  }

  it('of an evicted event is at every moment the same as of one in memory: stages open and close, performances end', () => {
    // Guests come in free where the event sells to them.
    const pricesAtTheEnd = [0, 0, 0, 900, 700];
    for (const [index, definition] of definitions.entries()) {
      const { state } = given(definition);
      const kept = JSON.parse(JSON.stringify(listingOf(state))) as ReturnType<typeof listingOf>;
      for (let minute = 0; minute < 60; minute += 1) {
        const now = START + minute * MINUTE;
        assert.deepEqual(summaryOf(kept, now), eventSummary(restore(state), now));
      }
      const ended = START + 2e9;
      assert.deepEqual(summaryOf(kept, ended), eventSummary(state, ended));
      const { fromPrice, soldOut } = summaryOf(kept, ended);
      assert.deepEqual([fromPrice, soldOut], [pricesAtTheEnd[index], true]);
    }
  });

  it('names the price of the stage that opens next, and of the one that is open', () => {
    const listing = listingOfUnsold(definitions[3]!);
    const priceAt = (minute: number): number => summaryOf(listing, START + minute * MINUTE).fromPrice;
    assert.deepEqual([priceAt(0), priceAt(10), priceAt(20), priceAt(30)], [700, 700, 900, 900]);
  });

  it('says when the sale begins where no stage is open and one will, unless nothing is to be sold', () => {
    const saleAt = (definition: (typeof definitions)[number], minute: number): number | undefined => {
      const at = summaryOf(listingOfUnsold(definition), START + minute * MINUTE).saleStartsAt;
      return at === undefined ? undefined : (at - START) / MINUTE;
    };
    const [always, , cancelled, inStages] = definitions;
    assert.deepEqual(
      [0, 10, 19, 20, 30].map((minute) => saleAt(inStages!, minute)),
      [10, undefined, undefined, 30, undefined],
    );
    assert.deepEqual(
      [saleAt(always!, 0), saleAt({ ...inStages!, performances: cancelled!.performances }, 0)],
      [undefined, undefined],
    );
  });

  it('names the price of the stages on sale where nothing can be bought, and of the last stage when all have closed', () => {
    const early = { ...stage('early', { adult: 700 }, { adult: 0 }), endsAt: START + 10 * MINUTE };
    const next = { ...stage('next', { adult: 900 }), startsAt: START + 10 * MINUTE, endsAt: START + 20 * MINUTE };
    const listing = listingOfUnsold(checkoutEvent({ sellingStages: [early, next] }));
    const priceAt = (minute: number): number => summaryOf(listing, START + minute * MINUTE).fromPrice;
    assert.deepEqual([priceAt(0), priceAt(10), priceAt(20)], [700, 900, 900]);
  });

  it('is the same value until it says something else', () => {
    const fixture = given(earlyBirds);
    const summary = eventSummary(fixture.state, START);
    assert.equal(eventSummary(fixture.state, START + MINUTE), summary);
    placeHold(fixture, [item('adult', 2, { sellingStageId: 'early' })]);
    placeHold(fixture, [item('adult', 2, { sellingStageId: 'early', performanceId: 'd2' })], 'session-2');
    assert.deepEqual([summary.fromPrice, eventSummary(fixture.state, START).fromPrice], [700, 900]);
  });

  it('names a price at which somebody can buy now: a stage whose quota is gone is left out, on each performance', () => {
    const fixture = given(earlyBirds);
    const view = () => {
      const event = eventView(fixture.state, { performanceId: null, sessionKey: null }, START);
      assert.ok(!isRefusal(event));
      const ofList = eventSummary(fixture.state, START).fromPrice;
      const kept = JSON.parse(JSON.stringify(listingOf(fixture.state))) as ReturnType<typeof listingOf>;
      assert.equal(summaryOf(kept, START).fromPrice, ofList);
      return [...event.performances.map(({ several }) => several!.fromPrice), ofList];
    };
    assert.deepEqual(view(), [700, 700, 700], 'a group of four is more than its quota of three');
    placeHold(fixture, [item('adult', 2, { sellingStageId: 'early' })]);
    assert.deepEqual(view(), [900, 700, 700]);
    placeHold(fixture, [item('adult', 2, { sellingStageId: 'early', performanceId: 'd2' })], 'session-2');
    assert.deepEqual(view(), [900, 900, 900]);
    placeHold(fixture, [item('adult', 18, { sellingStageId: 'late', performanceId: 'd2' })], 'session-3');
    assert.deepEqual(view(), [900, 700, 900], 'nothing is left on the second performance');
  });
});
