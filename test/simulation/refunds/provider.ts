/**
 * A provider that gives money back, with a network to it and from it: what it knows outlives every crash of the
 * service.
 *
 * 1. It keeps its first answer under a key, and gives back no more than was paid through a session.
 * 2. A request reaches it late or never, its answer too; a process that has ended meanwhile changes nothing about that.
 * 3. Each change is reported: late, more than once, in any order. What it says of a refund that it was asked for may be
 *    lost as long as the service asks about it again; everything else is repeated until it was answered.
 * 4. `asksTwice` collects what must never be: a refund that it was asked for again after it gave it back.
 */
import type { Chance } from '../chance.ts';
import type { ProviderRefund, RefundAnswer, RefundRequest } from '#domain/command.ts';
import { ProviderUnavailable, type ProviderRefunds, type RefundReport } from '#payments/provider.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** How long the service waits for an answer. */
const PATIENCE_MS = 10 * SECOND;

/** The longest way of a request: longer than the pause before the next try. */
const WAY_MS_MAX = 30 * SECOND;

export interface GivenBack extends ProviderRefund {
  readonly checkoutSessionId: string;
  readonly currency: string;
}

interface Paid {
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string;
}

/** What the provider needs of the world around it. */
interface ProviderPorts {
  readonly chance: Chance;
  readonly schedule: (afterMs: number, work: () => void) => void;
  /** Delivers a report until it was answered. */
  readonly report: (report: RefundReport) => void;
  readonly count: (what: string) => void;
}

export class SimulatedProvider implements ProviderRefunds {
  readonly asksTwice: string[] = [];
  /** Gives back at once, and neither loses nor delays anything. */
  isHealthy = false;
  readonly #ports: ProviderPorts;
  readonly #paid = new Map<string, Paid>();
  readonly #refunds = new Map<string, GivenBack>();
  readonly #answers = new Map<string, RefundAnswer>();
  /** Requests on their way, by refund. */
  readonly #onTheWay = new Map<string, number>();
  readonly #lossShare: number;
  readonly #slowShare: number;
  /** Whether it reports a payment that was given back, besides the refund. */
  readonly reportsCharges: boolean;
  /** Whether its reports name the session besides the order. */
  readonly #namesSessions: boolean;
  #names = 0;

  constructor(ports: ProviderPorts) {
    this.#ports = ports;
    const { chance } = ports;
    this.#lossShare = chance.percent(70) ? chance.between(0, 60) : 0;
    this.#slowShare = chance.percent(70) ? chance.between(0, 60) : 0;
    this.reportsCharges = chance.percent(50);
    this.#namesSessions = chance.percent(70);
  }

  // ── what is known of it ────────────────────────────────────────────────────────────────────────────────────────────

  notePaid(checkoutSessionId: string, paid: Paid): void {
    this.#paid.set(checkoutSessionId, paid);
  }

  /** Everything it has on record, the oldest first. */
  get all(): readonly GivenBack[] {
    return [...this.#refunds.values()];
  }

  /** What of a session is neither given back nor under way. */
  leftOf(checkoutSessionId: string): number {
    const gone = this.#of(checkoutSessionId).filter(({ status }) => status !== 'FAILED');
    const { amountCents = 0 } = this.#paid.get(checkoutSessionId) ?? {};
    return amountCents - gone.reduce((sum, refund) => sum + refund.amountCents, 0);
  }

  sessionsOf(orderId: string): readonly string[] {
    return [...this.#paid].filter(([, paid]) => paid.orderId === orderId).map(([id]) => id);
  }

  isOnTheWay(refundId: string): boolean {
    return (this.#onTheWay.get(refundId) ?? 0) > 0;
  }

  /** Which refund it has under the id of one of this service, unless it failed. */
  findOwn(refundId: string): GivenBack | undefined {
    return this.all.find((refund) => refund.refundId === refundId && refund.status !== 'FAILED');
  }

  #of(checkoutSessionId: string): readonly GivenBack[] {
    return this.all.filter((refund) => refund.checkoutSessionId === checkoutSessionId);
  }

  // ── what it is asked ───────────────────────────────────────────────────────────────────────────────────────────────

  listRefunds(checkoutSessionId: string): Promise<readonly ProviderRefund[]> {
    return this.#travel(() => this.#of(checkoutSessionId));
  }

  refund(request: RefundRequest): Promise<RefundAnswer> {
    const { refundId } = request;
    this.#onTheWay.set(refundId, (this.#onTheWay.get(refundId) ?? 0) + 1);
    const arrive = () => this.#onTheWay.set(refundId, this.#onTheWay.get(refundId)! - 1);
    return this.#travel(() => this.#answer(request), arrive);
  }

  /** There and back (rule 2). */
  #travel<Answer>(work: () => Answer, arrive: () => void = () => {}): Promise<Answer> {
    const { chance, schedule, count } = this.#ports;
    const isLost = !this.isHealthy && chance.percent(this.#lossShare);
    const isLostBack = isLost && chance.percent(60);
    const isSlow = !this.isHealthy && chance.percent(this.#slowShare);
    const wayMs = isSlow ? chance.between(0, WAY_MS_MAX) : chance.between(0, 200);
    return new Promise((resolve, reject) => {
      schedule(wayMs, () => {
        arrive();
        if (isLost && !isLostBack) return;
        const answer = work();
        if (isLostBack) count('answer lost');
        else schedule(chance.between(0, 200), () => resolve(answer));
      });
      schedule(PATIENCE_MS, () => reject(new ProviderUnavailable('no answer')));
    });
  }

  #answer(request: RefundRequest): RefundAnswer {
    const known = this.#answers.get(request.key);
    if (known !== undefined) {
      this.#ports.count('asked again under the same key');
      return known;
    }
    const before = this.findOwn(request.refundId);
    if (before !== undefined) this.asksTwice.push(`${request.key} after ${JSON.stringify(before)}`);
    const answer = this.#decide(request);
    this.#answers.set(request.key, answer);
    return answer;
  }

  #decide(request: RefundRequest): RefundAnswer {
    const { chance } = this.#ports;
    const { refundId, checkoutSessionId, amountCents, currency } = request;
    const drawn = chance.weighted({ SUCCEEDED: 8, PENDING: 3, FAILED: 1.5, REFUSED: 1, BROKEN: 1.5 });
    const outcome = this.isHealthy ? 'SUCCEEDED' : drawn;
    this.#ports.count(`provider: ${outcome}`);
    if (outcome === 'BROKEN') return { outcome: 'UNCLEAR', isAnswered: true };
    if (outcome === 'REFUSED') return refused('refused', 'refused without a reason');
    if (amountCents > this.leftOf(checkoutSessionId)) {
      this.#ports.count('provider: too much');
      return refused('charge_already_refunded', 'more than is left of the payment');
    }
    const { reference } = this.#keep({ refundId, checkoutSessionId, amountCents, currency, status: outcome });
    return { outcome, reference, amountCents };
  }

  // ── what happens there ─────────────────────────────────────────────────────────────────────────────────────────────

  /** Somebody gives money back on the provider's own page; with `isSure` it stays so. */
  giveBackByHand(checkoutSessionId: string, amountCents: number, isSure: boolean): GivenBack {
    const { currency } = this.#paid.get(checkoutSessionId)!;
    const status = isSure || this.#ports.chance.percent(80) ? 'SUCCEEDED' : 'PENDING';
    return this.#keep({ refundId: null, checkoutSessionId, amountCents, currency, status }, isSure);
  }

  #keep(refund: Omit<GivenBack, 'reference'>, isSure = false): GivenBack {
    this.#names += 1;
    const kept = { reference: `re_${this.#names}`, ...refund };
    this.#refunds.set(kept.reference, kept);
    this.#report(kept);
    if (this.reportsCharges && kept.status !== 'FAILED') this.#reportCharge(kept);
    if (kept.status === 'PENDING') this.#schedule(96 * HOUR, () => this.#settle(kept.reference));
    else if (!isSure && kept.status === 'SUCCEEDED' && !this.isHealthy && this.#ports.chance.percent(4)) {
      this.#schedule(96 * HOUR, () => this.#end(kept.reference, 'FAILED'));
    }
    return kept;
  }

  #schedule(ms: number, work: () => void): void {
    this.#ports.schedule(this.isHealthy ? 0 : this.#ports.chance.between(1, ms), work);
  }

  #settle(reference: string): void {
    this.#end(reference, this.isHealthy || this.#ports.chance.percent(75) ? 'SUCCEEDED' : 'FAILED');
  }

  #end(reference: string, status: 'SUCCEEDED' | 'FAILED'): void {
    const ended = { ...this.#refunds.get(reference)!, status };
    this.#refunds.set(reference, ended);
    this.#ports.count(`provider: later ${status}`);
    this.#report(ended, status === 'FAILED');
  }

  /** Rule 3: money that came back after it was given back is asked about by nobody. */
  #report(refund: GivenBack, isOnlyWord = false): void {
    const { chance, count } = this.#ports;
    const { refundId, reference, amountCents, currency, status, checkoutSessionId } = refund;
    const { orderId } = this.#paid.get(checkoutSessionId)!;
    const mayBeLost = refundId !== null && !isOnlyWord && !this.isHealthy;
    if (mayBeLost && chance.percent(this.#lossShare)) return count('report lost');
    const times = this.isHealthy ? 1 : chance.between(1, 2);
    for (let n = 0; n < times; n += 1) {
      this.#send({ of: 'REFUND', orderId, checkoutSessionId, refundId, status, amountCents, currency, reference });
    }
  }

  /** A report that names the payment alone. */
  #reportCharge({ amountCents, currency, checkoutSessionId, reference }: GivenBack): void {
    const { orderId } = this.#paid.get(checkoutSessionId)!;
    const reportReference = `evt_of_${reference}`;
    this.#send({ of: 'REFUND', orderId, checkoutSessionId, amountCents, currency, reference: null, reportReference });
  }

  #send({ checkoutSessionId = null, ...named }: RefundReport): void {
    const report = this.#namesSessions ? { ...named, checkoutSessionId } : named;
    const ms = this.#ports.chance.percent(70) ? 20 * SECOND : 72 * HOUR;
    this.#schedule(ms, () => this.#ports.report(report));
  }
}

function refused(code: string, message: string): RefundAnswer {
  return { outcome: 'REFUSED', failure: { code, message } };
}
