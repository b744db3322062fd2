/**
 * An event in this process, for scenarios without HTTP and disk: the actor with a journal in memory, or the domain
 * alone.
 *
 * The journal in memory keeps every fact, so runs with an actor are short.
 */
import { randomBytes, randomFillSync } from 'node:crypto';
import { createEventActor } from '#actors/event-composition.ts';
import type { EventActor } from '#actors/event-actor.ts';
import { createClock } from '#actors/clock.ts';
import { createHashing } from '#actors/crypto.ts';
import { createIdSource } from '#actors/crypto.ts';
import { initialState, type EventState } from '#domain/event/state.ts';
import { isRefusal } from '#domain/refusal.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { Command, CommandOf, ItemRequest, Reply, ReplyTo } from '#domain/command.ts';
import { createSealer } from '#privacy/sealing.ts';
import { KEY_BYTES, type KeyStore } from '#persistence/keys.ts';
import type { Fact } from '#domain/fact.ts';
import { decide } from '#domain/event/decide.ts';
import { evolve } from '#domain/event/evolve.ts';
import { toReply } from '#domain/event/reply.ts';
import { nextDeadline } from '#domain/event/deadlines.ts';

const EVENT_NUMBER = 1;

/** Keys that are made in batches, as those of a store are, and that nobody keeps. */
function unkeptKeys(): Pick<KeyStore, 'take' | 'addressKey'> {
  const batch = Buffer.alloc(1_024 * KEY_BYTES);
  let made = 0;
  return {
    addressKey: randomBytes(KEY_BYTES),
    take() {
      const begin = (made * KEY_BYTES) % batch.length;
      if (begin === 0) randomFillSync(batch);
      made += 1;
      return { id: `benching.${made.toString(36)}`, key: batch.subarray(begin, begin + KEY_BYTES) };
    },
  };
}

/** An actor over a journal in memory, with the event defined. */
export async function openActor(definition: EventDefinition): Promise<EventActor> {
  const activated = { state: initialState(definition.id, EVENT_NUMBER), lastSeq: 0, factsReplayed: 0 };
  const actor = createEventActor(activated, {
    journal: new MemoryJournal(),
    clock: createClock(),
    ids: createIdSource(),
    waitingRepliesMax: 1_000_000,
    sealingOf: createSealer(unkeptKeys()),
    schedule() {},
    retired(_actor, defect) {
      throw defect;
    },
  });
  await actor.execute({ type: 'DefineEvent', definition, operator: null, note: null });
  return actor;
}

/** The domain alone, without an actor. */
export interface DomainFixture {
  readonly state: EventState;
  /** Runs a command that must not be refused. */
  do(command: Command): Reply;
}

export function openDomain(definition: EventDefinition, onFact: (fact: Fact) => void = () => {}): DomainFixture {
  const state = initialState(definition.id, EVENT_NUMBER);
  const ids = createIdSource();
  const turn = {
    now: Date.now(),
    newId: (prefix: Parameters<typeof ids.newId>[0]) => ids.newId(prefix, EVENT_NUMBER),
    newSeed: () => ids.newSeed(),
    hashing: createHashing(),
    sealing: createSealer(unkeptKeys())(definition.id),
  };
  const fixture: DomainFixture = {
    state,
    do(command) {
      const decision = decide(state, command, turn);
      if (isRefusal(decision)) throw new Error(`${command.type} was refused: ${JSON.stringify(decision)}`);
      for (const fact of decision.facts) {
        evolve(state, fact, turn.now);
        onFact(fact);
      }
      return toReply(state, decision.reply, turn.now);
    },
  };
  fixture.do({ type: 'DefineEvent', definition, operator: null, note: null });
  return fixture;
}

/** The command that places a hold of one item for a session of its own. */
export function placeHold(n: number, ticketTypeId: string, quantity: number): CommandOf<'PlaceHold'> {
  const items = [itemOf(ticketTypeId, quantity)];
  return { type: 'PlaceHold', sessionKey: `session-${n}`, items, queuePass: null, idempotency: null };
}

export function itemOf(ticketTypeId: string, quantity: number): ItemRequest {
  return { ticketTypeId, sellingStageId: 'general', quantity, performanceId: null, seatIds: null };
}

/**
 * A whole purchase of two tickets of `hotEvent`, with the fields that a storefront sends. It reads the next deadline
 * before each turn, as an actor does.
 */
export function buyTwo({ state, do: take }: DomainFixture, n: number): void {
  const fixture = {
    do(command: Command): Reply {
      nextDeadline(state);
      return take(command);
    },
  };
  const sessionKey = `7f3a9c55-${String(n).padStart(12, '0')}`;
  const { hold } = fixture.do({ ...placeHold(n, 'single', 2), sessionKey }) as ReplyTo<'PlaceHold'>;
  const started = fixture.do(startOf(hold.id, sessionKey, n)) as ReplyTo<'StartCheckout'>;
  const { id: orderId } = started.order;
  const paymentId = started.payment!.id;
  const checkoutSessionId = `cs_1_${String(n).padStart(24, 'x')}`;
  const redirectUrl = `https://tickets.example.org/sandbox/pay/${checkoutSessionId}`;
  fixture.do({ type: 'RecordCheckoutSession', orderId, paymentId, checkoutSessionId, redirectUrl, expiresAt: null });
  fixture.do({
    type: 'RecordPayment',
    provider: 'provider_a',
    checkoutSessionId,
    paymentId,
    outcome: 'paid',
    amountCents: started.payment!.amountCents,
    currency: 'EUR',
    webhookId: `msg_${String(n).padStart(24, 'y')}`,
  });
}

function startOf(holdId: string, sessionKey: string, n: number): CommandOf<'StartCheckout'> {
  return {
    type: 'StartCheckout',
    holdId,
    sessionKey,
    items: null,
    customer: { email: `buyer.number.${n}@example.org`, name: 'Ada Lovelace', documentNumber: null, phone: null },
    acceptTerms: true,
    successUrl: 'https://shop.example.org/thanks?order={ORDER_ID}',
    cancelUrl: 'https://shop.example.org/cart',
    installmentCount: 1,
    promoCode: null,
    promoterCode: null,
    referralCode: null,
    tracking: { utm_source: 'newsletter', utm_campaign: 'spring' },
    queuePass: null,
    idempotency: null,
  };
}
