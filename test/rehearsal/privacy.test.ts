/**
 * Nothing personal leaves the journal: every request and the report are searched for every personal text of the facts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { viewJournal } from '#persistence/sqlite/view.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { PlayerAnswer, PlayerRequest } from '#rehearsal/player/connection.ts';
import type { Connections } from '#rehearsal/player/connections.ts';
import { drawPage } from '#rehearsal/report/page.ts';
import { play } from '#rehearsal/player/player.ts';
import { readTrace, TraceBuilder } from '#rehearsal/trace/builder.ts';
import { rehearse } from '#rehearsal/rehearse.ts';
import { requestsFor } from '#rehearsal/player/requests.ts';
import { scheduleOf } from '#rehearsal/player/schedule.ts';
import { createTimeline } from '#rehearsal/player/timeline.ts';
import { Sales } from '#rehearsal/trace/sales.ts';
import type { Trace } from '#rehearsal/trace/trace.ts';
import { startReplay } from '#offline/events.ts';
import { isClusterMode } from '../fixtures/cluster.ts';
import { openServiceFor } from '../fixtures/service.ts';
import { goldenJournals, readGolden } from '../golden/golden.ts';
import { startHere } from './own-service.ts';
import { concert, sellOut, PERSONAL } from './sales.ts';

/** Fields whose texts say something about a person, or give access to what is a person's. */
const PERSONAL_FIELDS =
  /^(?:sessionKey|customer|attendees|tracking|promoterCode|referralCode|successUrl|cancelUrl|holdId|replacedHoldId|orderId|entryId|entryIds|ticketIds|paymentId|firstPaymentId|checkoutSessionId|redirectUrl|idempotency|operator|note|webhookId|reference|refundId|drawSeed|opening)$/;
/** Texts too short to say anything: they occur in any request. */
const LENGTH_MIN = 4;

/** Every text in a value, at every depth. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Every personal text of the facts. */
function personalTexts(rows: readonly FactRow[]): Set<string> {
  const found = new Set<string>();
  const search = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, field] of Object.entries(value)) {
      if (PERSONAL_FIELDS.test(name)) for (const text of textsIn(field)) found.add(text);
      else search(field);
    }
  };
  for (const { data } of rows) search(JSON.parse(data));
  return new Set([...found].filter((text) => text.length >= LENGTH_MIN));
}

/** Connections to nowhere that keep what was sent: every request is granted with ids of its own. */
function recording(sent: string[]): Connections {
  let count = 0;
  return {
    async send(request: PlayerRequest) {
      sent.push(`${request.method} ${request.path}\n${JSON.stringify(request.headers ?? {})}\n${request.body ?? ''}`);
      count += 1;
      const items = (JSON.parse(request.body ?? '{}') as { items?: object[] }).items ?? [];
      const held = items.map((item) => ({ seat_ids: [], ticket_count: 1, ...item }));
      const body = {
        // No text of a journal is a part of these.
        id: `made${count}a`,
        order_id: `made${count}b`,
        checkout_session_id: `made${count}c`,
        status: 'ADMITTED',
        admitted_at: null,
        items: held,
        total_amount: 1,
      };
      const answer: PlayerAnswer = { status: 200, head: '', body: JSON.stringify(body) };
      return { answer, sentAt: 0, wasFree: true };
    },
    close: () => {},
  };
}

/** Everything that a rehearsal of a trace sends, as fast as it can. */
async function everythingSent(trace: Trace): Promise<string[]> {
  const sent: string[] = [];
  const timeline = createTimeline();
  timeline.begin();
  await play({
    schedule: scheduleOf(trace, { speed: 1e6, pollSeconds: 5, pageReads: 1, lookSeconds: 10 }),
    requests: requestsFor({ eventId: trace.eventId, slug: trace.definition.slug, requiresNames: true, run: 'test' }),
    connections: recording(sent),
    timeline,
    momentOf: () => 0,
    hasWaitingRoom: trace.definition.waitingRoom,
    sales: new Sales(null),
    endMs: 60_000,
  });
  return sent;
}

function assertNothingPersonal(texts: readonly string[], personal: ReadonlySet<string>): void {
  for (const text of texts) for (const secret of personal) assert.ok(!text.includes(secret), `${secret} in ${text}`);
}

describe('A rehearsal', () => {
  for (const name of goldenJournals()) {
    it(`of ${name} sends nothing personal: no key, name, address, id or note of the journal`, async () => {
      const rows = readGolden(name);
      const personal = personalTexts(rows);
      assert.ok(personal.size > 50);
      const kinds = new Set<string>();
      for (const eventId of new Set(rows.map((row) => row.eventId).filter((id) => id !== ''))) {
        const own = rows.filter((row) => row.eventId === eventId);
        const replay = startReplay(eventId, (JSON.parse(own[0]!.data) as { eventNumber: number }).eventNumber);
        const builder = new TraceBuilder(eventId, replay, { from: null, to: null });
        for (const row of own) builder.see(replay.readFact(row), row.at);
        const trace = builder.finish();
        // At a gate nobody buys.
        if (trace === null && own.some(({ type }) => type === 'FeedTaken')) continue;
        assert.ok(trace !== null);
        for (const { kind } of trace.intents) kinds.add(kind);
        const sent = await everythingSent(trace);
        assert.ok(sent.length >= trace.intents.length / 2);
        assertNothingPersonal(sent, personal);
        assertNothingPersonal([JSON.stringify(trace.intents)], personal);
      }
      assert.deepEqual([...kinds].sort(), [
        'CHANGE',
        'HOLD',
        'JOIN',
        'LEAVE',
        'PAY',
        'RELEASE',
        'REQUEST_PAYMENT',
        'START',
      ]);
    });
  }

  it('of a whole sale keeps the report and its page free of people', { skip: isClusterMode }, async (t) => {
    const service = await openServiceFor(t, [concert()]);
    await sellOut(service);
    const view = viewJournal(service.folder)!;
    t.after(() => view.close());
    const rows = [...(await view.factsOf('evt_concert'))];
    const personal = personalTexts(rows);
    assert.ok(personal.has(PERSONAL.promoterCode) && personal.has(PERSONAL.successUrl));
    // The rest is sealed in the facts.
    for (const text of textsIn(PERSONAL)) personal.add(text);
    const trace = (await readTrace(view, 'evt_concert', { from: null, to: null }))!;
    const pace = { speed: 20, pollSeconds: 5, pageReads: 1, lookSeconds: 1 };
    const options = {
      trace,
      pace,
      connections: 4,
      against: null,
      startService: startHere,
      definition: null,
      title: 'test',
      version: '0',
      run: 'test',
    };
    const report = await rehearse(options);
    assertNothingPersonal([JSON.stringify(report), drawPage(report), drawPage(report, report)], personal);
    assertNothingPersonal(await everythingSent(trace), personal);
  });
});
