/**
 * The buyer's hold on an event: placing, changing and releasing it, and noticing its end.
 *
 * Owns the hold that this browser stores for all its tabs, and whether a request becomes a new hold or a change of the
 * one that stands.
 *
 *  1. The service decides: after every doubt the hold is read again and shown as the service has it.
 *  2. All tabs show the same hold. A change in one is noticed in the others, at the latest when they become visible.
 *  3. A tab places no hold while another one's stands: it shows that one first. Requests of several tabs wait for each
 *     other.
 *  4. A hold that ran out is `lapsed` until something is held again, and at most for `LAPSED_MS_MAX`.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, Hold, HoldItemRequest } from '#client/bodies.ts';
import { followStored, storePurchase, recall, type HeldBasket } from '../app/storage.ts';
import { inWords, texts } from '../app/language.ts';
import { client, serviceNow, useIsPast } from '../app/service.ts';
import { seatsInWords } from './seat-register.tsx';
import type { KnownSeats } from '../../seat-choice/words.ts';
import { itemKey } from './selection.ts';

/** What changes the hold: the button that started it shows a spinner until it is done. */
export type HoldStep = 'CONTINUE' | 'HOLD' | 'RELEASE';

export interface HoldKeeper {
  /** The ACTIVE hold; null when there is none. */
  readonly hold: Hold | null;
  /** Whether the stored hold has been read from the service. */
  readonly isKnown: boolean;
  readonly isBusy: boolean;
  /** What is under way while it is busy. */
  readonly underWay: HoldStep | null;
  /** The hold that ran out, when nothing is held since. */
  readonly lapsed: Hold | null;
  /** The order that was made of the hold. */
  readonly orderId: string | null;
  /** The hold that the order took over. */
  readonly sold: Hold | null;
  /** Makes these the items of the hold; an empty list releases it. Throws ApiError or HeldElsewhere. */
  readonly request: (items: readonly HoldItemRequest[], step: HoldStep) => Promise<Hold | null>;
  readonly release: () => Promise<void>;
}

/** Nothing was requested, because another tab holds tickets that this one did not show (rule 3). */
class HeldElsewhere extends Error {
  constructor() {
    super(texts.basket.heldElsewhere);
  }
}

/** Why a hold was not placed, in words. */
export function troubleOf(error: unknown, { timezone }: EventPayload, register: KnownSeats): string {
  if (error instanceof HeldElsewhere) return error.message;
  return inWords(error, { timezone, seats: (ids) => seatsInWords(register, ids) });
}

/** The hold is read again this long after its end, when the service's clock is surely past it. */
const GRACE_MS = 300;

const LAPSED_MS_MAX = 60 * 60_000;

export function useHold(slug: string, eventId: string | null, onPlaced: (hold: Hold) => void = () => {}): HoldKeeper {
  const shown = useShownHold(slug, eventId);
  const { hold, forget, read } = shown;
  const [underWay, during] = useBusy();
  const isOver = useIsPast(hold === null ? null : Date.parse(hold.expires_at) + GRACE_MS);
  useEffect(() => {
    if (isOver) void read(hold!.id);
  }, [isOver]);

  const request = async (items: readonly HoldItemRequest[]): Promise<Hold | null> => {
    await shown.checkOtherTabs();
    if (items.length === 0) {
      if (hold !== null) await client.releaseHold(hold.id);
      forget();
      return null;
    }
    const standing = hold !== null && serviceNow() < Date.parse(hold.expires_at) ? hold : null;
    const next = standing === null ? await placeHold(eventId!, items) : await change(standing, items, eventId!);
    if (next.id !== standing?.id) onPlaced(next);
    shown.showChanged(next);
    return next;
  };
  const release = async (): Promise<void> => {
    if (hold === null) return;
    await client.releaseHold(hold.id).catch((error: unknown) => {
      if (!isApiError(error, 'HOLD_NOT_ACTIVE') && !isApiError(error, 'HOLD_NOT_FOUND')) throw error;
    });
    forget();
  };

  return {
    hold: isOver ? null : hold,
    isKnown: shown.isKnown,
    isBusy: underWay !== null,
    underWay,
    lapsed: isOver ? hold : shown.lapsed,
    orderId: shown.sold?.order_id ?? null,
    sold: shown.sold,
    request: (items, step) => during(step, () => oneTabAtATime(eventId!, () => request(items))),
    release: () => during('RELEASE', () => oneTabAtATime(eventId!, release)),
  };
}

/** The hold as this browser last heard of it, in whichever tab. */
function useShownHold(slug: string, eventId: string | null) {
  const [hold, setHold] = useState<Hold | null>(null);
  const [lapsed, setLapsed] = useState<Hold | null>(null);
  const [isKnown, setKnown] = useState(false);
  const [sold, setSold] = useState<Hold | null>(null);
  const current = useRef(hold);
  current.current = hold;
  const shownVersion = useRef('');

  const show = (next: Hold): Hold => {
    const isActive = next.status === 'ACTIVE';
    const hasLapsed = next.status === 'EXPIRED' && serviceNow() < Date.parse(next.expires_at) + LAPSED_MS_MAX;
    setHold(isActive ? next : null);
    setLapsed(hasLapsed ? next : null);
    if (next.order_id !== null) setSold(next);
    if (eventId === null) return next;
    storePurchase(eventId, {
      holdId: isActive || next.status === 'CONVERTED' ? next.id : undefined,
      lapsedId: hasLapsed ? next.id : undefined,
      held: isActive ? basketOf(slug, next) : undefined,
      ...(isActive && { startKey: undefined }),
    });
    shownVersion.current = versionOf(eventId);
    return next;
  };
  const forget = (): void => {
    setHold(null);
    setLapsed(null);
    if (eventId === null) return;
    storePurchase(eventId, { holdId: undefined, lapsedId: undefined, held: undefined });
    shownVersion.current = versionOf(eventId);
  };
  const read = (id: string): Promise<Hold | null> =>
    client.getHold(id).then(show, (error: unknown) => {
      if (isApiError(error, 'HOLD_NOT_FOUND')) forget();
      return null;
    });

  const readStored = async (): Promise<Hold | null> => {
    const { holdId, lapsedId } = eventId === null ? {} : recall(eventId);
    if (eventId !== null) shownVersion.current = versionOf(eventId);
    const id = holdId ?? current.current?.id ?? lapsedId;
    return id === undefined ? null : read(id);
  };
  useEffect(() => {
    if (eventId !== null) void readStored().then(() => setKnown(true));
  }, [eventId]);
  const hasNews = (): boolean => eventId !== null && versionOf(eventId) !== shownVersion.current;
  useNews(eventId, () => void (hasNews() && readStored()), readStored);

  return {
    hold,
    lapsed,
    isKnown,
    sold,
    forget,
    read,
    /** Shows the hold after a change that was made here. */
    showChanged(next: Hold): void {
      if (eventId === null) return;
      show(next);
      storePurchase(eventId, { holdRound: (recall(eventId).holdRound ?? 0) + 1 });
      shownVersion.current = versionOf(eventId);
    },
    /** Throws where another tab holds tickets that this one does not show yet; shows them (rule 3). */
    async checkOtherTabs(): Promise<void> {
      if (hasNews() && (await readStored())?.status === 'ACTIVE') throw new HeldElsewhere();
    },
  };
}

function basketOf(slug: string, { items, expires_at: until }: Hold): HeldBasket {
  return { slug, tickets: items.reduce((sum, item) => sum + item.ticket_count, 0), until };
}

/** Calls back when another tab changes what is stored of an event, and when this one becomes visible. */
function useNews(eventId: string | null, onStored: () => void, onVisible: () => unknown): void {
  useEffect(() => {
    if (eventId === null) return;
    const unfollow = followStored(eventId, onStored);
    const follow = (): void => void (!document.hidden && onVisible());
    document.addEventListener('visibilitychange', follow);
    return () => {
      unfollow();
      document.removeEventListener('visibilitychange', follow);
    };
  }, [eventId]);
}

/** A text that changes when any tab places, changes or ends the hold of an event. */
function versionOf(eventId: string): string {
  const { holdId, holdRound, orderId } = recall(eventId);
  return [holdId, holdRound, orderId].join(' ');
}

/** Runs what changes the hold when no other tab does. Browsers have such locks on secure origins only. */
function oneTabAtATime<Result>(eventId: string, work: () => Promise<Result>): Promise<Result> {
  return navigator.locks === undefined ? work() : navigator.locks.request(`holdfast.${eventId}`, work);
}

/** The step that is under way, and the function that runs the work of one. */
function useBusy(): [
  underWay: HoldStep | null,
  during: <Result>(step: HoldStep, work: () => Promise<Result>) => Promise<Result>,
] {
  const [underWay, setUnderWay] = useState<HoldStep | null>(null);
  return [
    underWay,
    async (step, work) => {
      setUnderWay(step);
      try {
        return await work();
      } finally {
        setUnderWay(null);
      }
    },
  ];
}

function placeHold(eventId: string, items: readonly HoldItemRequest[]): Promise<Hold> {
  return client.createHold({ event_id: eventId, items, queue_pass: recall(eventId).passId ?? null });
}

/** Sets every item as requested and drops the others; a hold that has ended is placed again. */
async function change(hold: Hold, items: readonly HoldItemRequest[], eventId: string): Promise<Hold> {
  const requested = new Set(items.map(itemKey));
  const dropped = hold.items
    .filter((item) => !requested.has(itemKey(item)))
    .map(({ ticket_type_id, selling_stage_id, performance_id }) => ({
      ticket_type_id,
      selling_stage_id,
      performance_id,
      quantity: 0,
    }));
  try {
    return await client.changeHold(hold.id, [...items, ...dropped]);
  } catch (error) {
    const hasEnded = isApiError(error) && ['HOLD_EXPIRED', 'HOLD_NOT_ACTIVE', 'HOLD_NOT_FOUND'].includes(error.code);
    if (!hasEnded) throw error;
    return placeHold(eventId, items);
  }
}
