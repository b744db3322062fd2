/** What operators see: metrics in Prometheus' format, and why the service is not ready. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { reportTrouble } from '#actors/trouble.ts';
import { as, HOLDS, newSession } from '../fixtures/client.ts';
import { clubNight, floor, theatreRun } from '../fixtures/events.ts';
import { serviceWith, type TestService } from '../fixtures/service.ts';

/** The samples of a text in Prometheus' format, by name and labels as they are printed. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))] as const;
    }),
  );
}

async function metricsOf(
  service: TestService,
): Promise<{ readonly text: string; readonly samples: Map<string, number> }> {
  const response = await fetch(`${service.adminUrl}/metrics`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  return { text, samples: samplesOf(text) };
}

describe('GET /metrics', () => {
  const service = serviceWith([clubNight(), theatreRun({ waiting_room: true })]);
  before(async () => {
    const session = newSession();
    const hold = await service.hold({ session_key: session, items: [floor(3)] });
    await service.get(`${HOLDS}/${hold.id}`, as(session));
    await service.post(HOLDS, { event_id: 'evt_club', session_key: newSession(), items: [floor(500)] });
    const play = await service.internals.engine.events.byEventId('evt_play');
    await play!.execute({ type: 'JoinQueue', sessionKey: newSession() });
    await service.get('/nowhere/at/all');
  });

  it('is served only on the operators’ listener, without a token', async () => {
    await metricsOf(service);
    assert.equal((await service.get('/metrics')).status, 404);
  });

  it('counts requests by the pattern of their route and the class of their status', async () => {
    const { samples, text } = await metricsOf(service);
    const count = (method: string, route: string, status: string) =>
      samples.get(`http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`);
    assert.equal(count('POST', '/api/checkout/holds', '2xx'), 1, text);
    assert.equal(count('POST', '/api/checkout/holds', '4xx'), 1);
    assert.equal(count('GET', '/api/checkout/holds/:id', '2xx'), 1);
    assert.equal(count('GET', 'none', '4xx'), 1 + 1, 'what has no route is counted under one name');
    assert.ok(!/route="[^"]*hld_/.test(text), 'no id of a hold is a label');
  });

  it('counts turns by command and code, and facts by type', async () => {
    const { samples } = await metricsOf(service);
    assert.equal(samples.get('holdfast_turns_total{command="PlaceHold",code="DONE"}'), 1);
    assert.equal(samples.get('holdfast_turns_total{command="PlaceHold",code="INSUFFICIENT_TICKETS"}'), 1);
    assert.equal(samples.get('holdfast_facts_total{type="HoldPlaced"}'), 1);
    assert.equal(samples.get('holdfast_facts_total{type="QueueEntryJoined"}'), 1);
  });

  it('begins labelled counters at 0, so that the first count is an increase', async () => {
    const { samples } = await metricsOf(service);
    for (const label of [
      'troubles_total{where="archive"}',
      'troubles_total{where="provider_b"}',
      'turns_total{command="CancelPerformance",code="DONE"}',
      'facts_total{type="RefundRecorded"}',
    ])
      assert.equal(samples.get(`holdfast_${label}`), 0, label);
    const before = samples.get('holdfast_troubles_total{where="snapshot"}');
    reportTrouble('snapshot', 'a test reports it');
    const after = (await metricsOf(service)).samples.get('holdfast_troubles_total{where="snapshot"}');
    assert.deepEqual([before, after], [0, 1]);
  });

  it('shows tickets and queues of the events in memory, and that nothing is oversold', async () => {
    const { samples } = await metricsOf(service);
    assert.equal(samples.get('holdfast_event_tickets{event_id="evt_club",state="held"}'), 3);
    assert.equal(samples.get('holdfast_event_tickets{event_id="evt_club",state="available"}'), 97);
    assert.ok(samples.get('holdfast_tickets{state="available"}')! > 97);
    assert.equal(samples.get('holdfast_oversold_total'), 0);
    const { waiting, admitted } = {
      waiting: samples.get('holdfast_event_queue_entries{event_id="evt_play",status="waiting"}'),
      admitted: samples.get('holdfast_event_queue_entries{event_id="evt_play",status="admitted"}'),
    };
    assert.equal((waiting ?? 0) + (admitted ?? 0), 1);
    assert.equal(samples.get('holdfast_live_events'), 2);
    assert.equal(samples.get('holdfast_events'), 2);
  });

  it('shows figures of the journal and the process', async () => {
    const { samples } = await metricsOf(service);
    const seq = samples.get('holdfast_journal_durable_seq')!;
    assert.ok(seq >= 4);
    assert.equal(samples.get('holdfast_journal_appended_seq'), seq);
    assert.equal(samples.get('holdfast_journal_pending_facts'), 0);
    assert.equal(samples.get('holdfast_journal_batch_facts_sum'), seq, 'every fact was in one batch');
    assert.ok(samples.get('holdfast_journal_commit_duration_seconds_sum')! > 0);
    assert.equal(samples.get('holdfast_ready'), 1);
    assert.ok(samples.get('holdfast_disk_free_bytes')! > 0);
    assert.ok(!samples.has('holdfast_notification_lag_facts'), 'there is no receiver');
    for (const name of [
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      ...['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map((what) => `nodejs_eventloop_lag_${what}_seconds`),
    ])
      assert.ok(samples.has(name), name);
  });

  it('shows the age of the newest snapshot', async () => {
    await service.admin.post('/admin/snapshot', {});
    service.wait(90_000);
    const { samples } = await metricsOf(service);
    assert.equal(samples.get('holdfast_snapshot_age_seconds'), 90);
  });
});
