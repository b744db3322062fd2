/**
 * `<holdfast-seats>`: the plan of an event's numbered seats for the pages of anybody, in a shadow of its own.
 *
 *  1. Its attributes say what is shown; a change of one shows it. Its properties have what was chosen.
 *  2. It reserves nothing by itself: the page says when, by `placeHold`.
 *  3. A chosen seat that somebody else takes leaves the choice at once; seats of `hold` stay. While a hold is being
 *     placed nothing leaves: the live stream may say that its seats are held before the answer has come.
 *  4. In a form its value is the ids of the chosen seats, each under its `name`.
 */
import { h, render } from 'preact';
import type { EventPayload, Hold, HoldItem, HoldItemRequest, SaleSteering } from '#client/bodies.ts';
import { isApiError, type ApiError } from '#client/api-error.ts';
import { createClient, type Client } from '#client/client.ts';
import { languageOf } from '#texts/locale/language.ts';
import { pickedAs, rowFor, seatedItems, typesForSeat, type PickedSeat } from '../seat-choice/picked.ts';
import { knownSeats, namesOfSeats, seatWordsOf } from '../seat-choice/words.ts';
import { followSale, type ShownSale } from './follow.ts';
import { SeatsView } from './view.tsx';

/** The style sheets of plan and notices, put in place when the package is made. */
declare const STYLE: string;

export interface SeatsReady {
  readonly event: EventPayload;
  readonly performanceId: string;
}

export interface SeatsChange {
  /** The ids of the chosen seats, in the order in which they were chosen. */
  readonly selected: readonly string[];
  /** The chosen seats as the items of a hold. */
  readonly items: readonly HoldItemRequest[];
  /** What they cost together, in the currency's minor unit. */
  readonly total: number;
  /** By ISO 4217, such as "EUR". */
  readonly currency: string;
}

const NO_SEATS: readonly PickedSeat[] = [];

export class HoldfastSeats extends HTMLElement {
  static readonly formAssociated = true;
  static readonly observedAttributes: readonly string[] = ['src', 'event', 'performance', 'lang'];

  readonly #internals = this.attachInternals();
  readonly #shadow = this.attachShadow({ mode: 'open', delegatesFocus: true });
  #client: Client | null = null;
  #hold: Hold | null = null;
  #picked = NO_SEATS;
  /** Seats that the page chose before the event came. */
  #wanted: readonly string[] | null = null;
  #sale: ShownSale | null = null;
  #holdsUnderWay = 0;
  #shown: AbortController | null = null;
  #words = seatWordsOf('en');

  constructor() {
    super();
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    this.#shadow.adoptedStyleSheets = [sheet];
  }

  /**
   * The client that the element uses, with the buyer's session: one for `src` that stores its key in `localStorage`,
   * unless the page sets its own before the element is in the page.
   */
  get client(): Client {
    return (this.#client ??= createClient({ baseUrl: this.getAttribute('src') ?? '', store: storage() }));
  }

  set client(client: Client) {
    this.#client = client;
    this.#start();
  }

  /** The event as it is shown; null until it has come. */
  get payload(): EventPayload | null {
    return this.#sale?.event ?? null;
  }

  /** The performance that is shown; null until the event has come. */
  get performanceId(): string | null {
    return this.#sale?.performanceId ?? null;
  }

  /**
   * The ids of the chosen seats. The page may set them, also before the event has come; those are left out that are
   * taken or unknown.
   */
  get selected(): readonly string[] {
    return this.#wanted ?? this.#picked.map(({ seatId }) => seatId);
  }

  set selected(ids: readonly string[]) {
    if (this.#sale === null) this.#wanted = [...ids];
    else this.#choose(this.#pickedOf(this.#sale, ids));
  }

  /** The chosen seats in words, a text for each row, in the element's language. */
  get names(): readonly string[] {
    return namesOfSeats(this.#words, knownSeats(this.#words, this.#sale?.seating ?? null), this.selected);
  }

  /** The chosen seats as the items of a hold. */
  get items(): readonly HoldItemRequest[] {
    const sale = this.#sale;
    if (sale === null) return [];
    const held = new Map(this.#held().map((item) => [item.ticket_type_id, item.selling_stage_id]));
    return seatedItems(
      this.#picked,
      sale.performanceId,
      sale.event,
      (typeId) => held.get(typeId) ?? rowFor(sale.rows, typeId)?.selling_stage_id,
    );
  }

  /** The hold of the chosen seats, whose seats are shown as the buyer's own; null once it has ended. */
  get hold(): Hold | null {
    return this.#hold;
  }

  set hold(hold: Hold | null) {
    this.#hold = hold;
    this.#render();
  }

  /**
   * Holds the chosen seats, with the pass of the waiting room where the event has one. Throws an ApiError as
   * `createHold` of the client does; seats that SEAT_TAKEN names leave the choice.
   */
  async placeHold(
    options: { readonly queue_pass?: string | null; readonly idempotencyKey?: string } = {},
  ): Promise<Hold> {
    const { queue_pass = null, idempotencyKey } = options;
    if (this.#sale === null) throw new TypeError('The event has not come yet.');
    this.#holdsUnderWay += 1;
    try {
      const request = { event_id: this.#sale.event.id, items: this.items, queue_pass };
      this.#hold = await this.client.createHold(request, { idempotencyKey });
      return this.#hold;
    } catch (error) {
      if (isApiError(error, 'SEAT_TAKEN')) this.#lose(new Set(error.detail['seat_ids'] as readonly string[]));
      throw error;
    } finally {
      this.#holdsUnderWay -= 1;
      if (this.#sale !== null) this.#follow(this.#sale);
    }
  }

  connectedCallback(): void {
    // What a page set before the class was defined would hide the accessors.
    for (const name of ['client', 'hold', 'selected'] as const) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete (this as unknown as Record<string, unknown>)[name];
      Object.assign(this, { [name]: value });
    }
    this.#start();
  }

  disconnectedCallback(): void {
    this.#shown?.abort();
    this.#shown = null;
    render(null, this.#shadow);
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now) return;
    if (name !== 'lang' && this.#picked.length > 0) {
      this.#sale = null;
      this.#choose(NO_SEATS);
    }
    if (this.#shown === null) return;
    if (name === 'src') this.#client = null;
    this.#start();
  }

  formResetCallback(): void {
    this.#choose(NO_SEATS);
  }

  /** Shows the event that the attributes name, from the beginning. */
  #start(): void {
    if (!this.isConnected) return;
    this.#shown?.abort();
    this.#shown = new AbortController();
    const { signal } = this.#shown;
    this.#words = seatWordsOf(languageOf([this.closest<HTMLElement>('[lang]')?.lang ?? null, ...navigator.languages]));
    const [slug, performanceId] = [this.getAttribute('event'), this.getAttribute('performance')];
    this.#sale = null;
    this.#render();
    if (slug === null) return;
    const end = (error: ApiError): void => {
      if (!signal.aborted) this.#tell('holdfast-error', error);
    };
    followSale(this.client, slug, performanceId, signal, (sale) => this.#follow(sale)).catch(end);
  }

  #follow(sale: ShownSale): void {
    const before = this.#sale;
    this.#sale = sale;
    const { event, performanceId, steering, states } = sale;
    if (before?.event !== event) this.#tell('holdfast-ready', { event, performanceId } satisfies SeatsReady);
    if (JSON.stringify(before?.steering ?? null) !== JSON.stringify(steering)) {
      this.#tell<SaleSteering | null>('holdfast-steering', steering);
    }
    const own = this.#own();
    if (this.#wanted !== null) this.#choose(this.#pickedOf(sale, this.#wanted));
    else if (this.#holdsUnderWay > 0) this.#render();
    else this.#lose(new Set([...states.keys()].filter((id) => !own.has(id))));
  }

  /** Leaves the chosen seats that somebody else took. */
  #lose(gone: ReadonlySet<string>): void {
    const seatIds = this.#picked.map(({ seatId }) => seatId).filter((id) => gone.has(id));
    if (seatIds.length === 0) return this.#render();
    this.#tell('holdfast-taken', { seatIds });
    this.#choose(this.#picked.filter(({ seatId }) => !gone.has(seatId)));
  }

  #choose(seats: readonly PickedSeat[]): void {
    const max = this.#max();
    if (seats.length > max && seats.length > this.#picked.length) {
      this.#wanted = null;
      this.#render();
      return this.#tell('holdfast-limit', { max });
    }
    [this.#picked, this.#wanted] = [seats, null];
    const value = new FormData();
    for (const { seatId } of seats) value.append(this.getAttribute('name') ?? '', seatId);
    this.#internals.setFormValue(this.hasAttribute('name') ? value : null);
    this.#render();
    const { selected, items } = this;
    const priceOf = (item: HoldItemRequest): number => rowFor(this.#sale!.rows, item.ticket_type_id)?.price ?? 0;
    const total = items.reduce((sum, item) => sum + item.quantity * priceOf(item), 0);
    const currency = this.#sale?.event.currency ?? '';
    this.#tell('holdfast-change', { selected, items, total, currency } satisfies SeatsChange);
  }

  /** The most seats: the page's `max`, within that of the event. */
  #max(): number {
    const ofPage = Number.parseInt(this.getAttribute('max') ?? '', 10);
    return Math.min(Number.isNaN(ofPage) ? Infinity : ofPage, this.#sale?.event.max_tickets_per_order ?? Infinity);
  }

  #own(): ReadonlySet<string> {
    return new Set(this.#held().flatMap((item) => item.seat_ids));
  }

  /** The items of the hold on the performance that is shown. */
  #held(): readonly HoldItem[] {
    const hold = this.#hold?.event_id === this.#sale?.event.id ? this.#hold : null;
    return (hold?.items ?? []).filter((item) => item.performance_id === this.performanceId);
  }

  /** Seats that the page names, each as the ticket type that it is offered as first. */
  #pickedOf({ event, seating, rows, states }: ShownSale, ids: readonly string[]): readonly PickedSeat[] {
    const [register, own] = [knownSeats(this.#words, seating), this.#own()];
    return [...new Set(ids)].flatMap((id) => {
      const seat = register.get(id);
      if (seat === undefined || (states.has(id) && !own.has(id))) return [];
      const [type] = typesForSeat(event.ticketTypes, rows, seat).toSorted((a, b) => a.group_size - b.group_size);
      return type === undefined ? [] : pickedAs(rows, type.id, [id]);
    });
  }

  #tell<Detail>(name: string, detail: Detail): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  #render(): void {
    if (!this.isConnected) return;
    const [sale, words, picked] = [this.#sale, this.#words, this.#picked];
    const onPick = (seats: readonly PickedSeat[]): void => this.#choose(seats);
    if (sale === null || sale.seating.localities.length === 0) {
      const pulse = h('span', { class: 'pulse', 'aria-hidden': true });
      return render(h('slot', {}, h('p', { class: 'loading', part: 'loading' }, pulse)), this.#shadow);
    }
    render(h(SeatsView, { words, sale, picked, own: this.#own(), host: this, onPick }), this.#shadow);
  }
}

/** The store of the page's origin; null where the browser forbids it. */
function storage(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
