/**
 * A box office in memory for scenarios without HTTP and disk: the actor with its real clock, ids and turns, or its domain alone.
 *
 * The journal is the one in memory; it is emptied of nothing, so scenarios keep their runs short or count facts themselves.
 */
import { EventActor } from '#actors/event-actor.ts';
import { createClock } from '#actors/clock.ts';
import { createHashing } from '#actors/hashing.ts';
import { createIdSource } from '#actors/id-source.ts';
import { initialState, type EventState } from '#domain/event-state.ts';
import { isRefusal } from '#domain/refusal.ts';
import { MemoryJournal } from '#persistence/memory-journal.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { Command, CommandOf, ItemRequest, Reply, ReplyTo } from '#domain/command.ts';
import type { Fact } from '#domain/fact.ts';
import { decide } from '#domain/decide.ts';
import { evolve } from '#domain/evolve.ts';
import { nextDeadline } from '#domain/next-deadline.ts';

const EVENT_NUMBER = 1;

/** An actor over a journal in memory, with the event defined. */
export async function openActor(definition: EventDefinition): Promise<EventActor> {
  const actor = new EventActor(initialState(definition.id, EVENT_NUMBER), 0, 0, {
    journal: new MemoryJournal(),
    clock: createClock(),
    ids: createIdSource(),
    mailboxCommandsMax: 1_000_000,
    wakeAt() {},
    retired(_actor, defect) {
      throw defect;
    },
  });
  await actor.execute({ type: 'DefineEvent', definition, operator: null, note: null });
  return actor;
}

/** The domain alone: decides and evolves, and hands each fact to a listener. */
export interface BareDesk {
  readonly state: EventState;
  /** Takes a turn that must not be refused. */
  do(command: Command): Reply;
}

export function openBareDesk(definition: EventDefinition, onFact: (fact: Fact) => void = () => {}): BareDesk {
  const state = initialState(definition.id, EVENT_NUMBER);
  const ids = createIdSource();
  const turn = {
    now: Date.now(),
    newId: (prefix: Parameters<typeof ids.newId>[0]) => ids.newId(prefix, EVENT_NUMBER),
    newSeed: () => ids.newSeed(),
    hashing: createHashing(),
  };
  const desk: BareDesk = {
    state,
    do(command) {
      const decision = decide(state, command, turn);
      if (isRefusal(decision)) throw new Error(`${command.type} was refused: ${JSON.stringify(decision)}`);
      for (const fact of decision.facts) {
        evolve(state, fact, turn.now);
        onFact(fact);
      }
      return decision.reply();
    },
  };
  desk.do({ type: 'DefineEvent', definition, operator: null, note: null });
  return desk;
}

/** The command that places a hold of one item for a session of its own. */
export function placeHold(n: number, ticketTypeId: string, quantity: number): CommandOf<'PlaceHold'> {
  const items = [itemOf(ticketTypeId, quantity)];
  return { type: 'PlaceHold', sessionKey: `session-${n}`, items, queuePass: null, idempotency: null };
}

export function itemOf(ticketTypeId: string, quantity: number): ItemRequest {
  return { ticketTypeId, sellingStageId: 'general', quantity, performanceId: null, seatIds: null };
}

/** A whole purchase of two tickets of `hotEvent` with what a storefront sends along; between turns it is looked what is due, as an actor does. */
export function buyTwo({ state, do: take }: BareDesk, n: number): void {
  const desk = {
    do(command: Command): Reply {
      nextDeadline(state);
      return take(command);
    },
  };
  const sessionKey = `7f3a9c55-${String(n).padStart(12, '0')}`;
  const { hold } = desk.do({ ...placeHold(n, 'single', 2), sessionKey }) as ReplyTo<'PlaceHold'>;
  const started = desk.do(startOf(hold.id, sessionKey, n)) as ReplyTo<'StartCheckout'>;
  const { id: orderId } = started.order;
  const paymentId = started.payment!.id;
  const checkoutSessionId = `cs_1_${String(n).padStart(24, 'x')}`;
  const redirectUrl = `https://tickets.example.org/sandbox/pay/${checkoutSessionId}`;
  desk.do({ type: 'RecordCheckoutSession', orderId, paymentId, checkoutSessionId, redirectUrl, expiresAt: null });
  desk.do({
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
