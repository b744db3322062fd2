/**
 * Makes a data folder with events that are over, as after years of operation: all orders, snapshots, a pruned journal.
 *
 * The engine makes it in this process with a clock that stands before the events, so commands, facts, snapshots and
 * archives are those of a service that sold them. One event at a time is in memory.
 */
import { startEngine, type Engine } from '#engine/engine.ts';
import { isRefusal } from '#domain/refusal.ts';
import { anna, buy, item } from '../test/fixtures/commands.ts';
import { definitionOf } from '../test/fixtures/events.ts';
import type { EventActor } from '#actors/event-actor.ts';

interface PastSales {
  readonly sales: number;
  readonly events: number;
  /** The time of the sales, in milliseconds since 1970; the events end a day later. */
  readonly soldAt: number;
  /** Called after each event. */
  readonly onEvent?: (done: number) => void;
}

interface MadeSales {
  /** One order of each event. */
  readonly orderIds: readonly string[];
}

/** Concurrent orders. */
const BATCH = 2_000;

/** The journal is pruned after so many facts. */
const PRUNE_EVERY_FACTS = 2_000_000;

const HOUR_MS = 60 * 60 * 1000;

/** Sells the events out, snapshots them and moves every fact into archives. */
export async function makePastSales(folder: string, { sales, events, soldAt, onEvent }: PastSales): Promise<MadeSales> {
  const engine = await startEngine({
    folder,
    liveEventsMax: 1,
    waitingRepliesMax: 2 * BATCH,
    clockSource: () => soldAt,
    onFatal(fault) {
      throw fault;
    },
  });
  const orderIds: string[] = [];
  try {
    for (let n = 0; n < events; n += 1) {
      const orders = Math.floor(sales / events) + (n < sales % events ? 1 : 0);
      orderIds.push(await sellOut(engine, n, orders, soldAt));
      await engine.snapshots.takeRound({ proveAll: false });
      if (engine.journal.durableSeq - engine.journal.baseSeq > PRUNE_EVERY_FACTS) await prune(engine);
      onEvent?.(n + 1);
    }
    await prune(engine);
  } finally {
    await engine.stop();
  }
  return { orderIds };
}

/** What the snapshots of the round before cover goes into an archive. */
async function prune(engine: Engine): Promise<void> {
  await engine.snapshots.takeRound({ prune: true, proveAll: false });
}

/** Defines an event and sells it to the last ticket; answers one of its orders. */
async function sellOut({ events }: Engine, n: number, orders: number, soldAt: number): Promise<string> {
  const definition = definitionOf(pastEvent(n, orders, soldAt));
  const defined = await events.define(definition, { operator: null, note: null });
  if (isRefusal(defined)) throw new Error(`the event was refused: ${defined.code}`);
  const actor = (await events.byEventId(definition.id))!;
  let lastId = '';
  for (let from = 0; from < orders; from += BATCH) {
    const wave = Array.from({ length: Math.min(BATCH, orders - from) }, (_, i) => sellOne(actor, n, from + i));
    lastId = (await Promise.all(wave)).at(-1)!;
  }
  return lastId;
}

async function sellOne(actor: EventActor, event: number, n: number): Promise<string> {
  const started = await actor.execute(
    buy([item('single', 2, { performanceId: null })], {
      sessionKey: `browser-${event}-${n}`,
      customer: { ...anna, name: 'Ada Lovelace', email: `buyer-${event}-${n}@example.org` },
      tracking: { utm_source: 'newsletter' },
    }),
  );
  if (isRefusal(started)) throw new Error(`a checkout was refused: ${started.code}`);
  const paid = await actor.execute({
    type: 'RecordPayment',
    provider: 'provider_a',
    checkoutSessionId: null,
    paymentId: started.payment!.id,
    outcome: 'paid',
    amountCents: null,
    currency: null,
    webhookId: `msg_${event}_${n}`,
  });
  if (isRefusal(paid) || paid.order?.status !== 'CONFIRMED') throw new Error('an order was not confirmed');
  return started.order.id;
}

/** An event that its orders sell out. */
function pastEvent(n: number, orders: number, soldAt: number): object {
  const startsAt = new Date(soldAt + 22 * HOUR_MS).toISOString();
  const endsAt = new Date(soldAt + 24 * HOUR_MS).toISOString();
  return {
    id: `evt_past_${n}`,
    slug: `past-${n}`,
    name: `An evening of the past ${n}`,
    currency: 'EUR',
    performances: [{ id: 'night', name: 'Night', starts_at: startsAt, ends_at: endsAt }],
    localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 2 * Math.max(1, orders) }],
    ticketTypes: [{ id: 'single', name: 'Single', locality_id: 'floor' }],
    sellingStages: [{ id: 'general', name: 'General sale', prices: { single: 4500 } }],
  };
}
