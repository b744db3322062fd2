/**
 * The refunds of the sandbox: gives back at once, or plays another outcome that was chosen.
 *
 * 1. It keeps its first answer under a key, as real providers do.
 * 2. It remembers what it gave back as long as the process lives, the newest of so many (I10).
 */
import type { ProviderRefund, RefundAnswer, RefundRequest } from '#domain/command.ts';
import { ProviderUnavailable } from './provider.ts';

/** LOST: given back, and the answer never comes. */
export type SandboxRefundOutcome = 'succeeded' | 'pending' | 'failed' | 'refused' | 'lost';

export interface SandboxRefund extends ProviderRefund {
  readonly refundId: string;
  readonly checkoutSessionId: string;
  readonly currency: string;
}

/** Some 50 MB. */
const REMEMBERED_MAX = 100_000;

const FAILED = { code: 'failed', message: 'the sandbox plays a refund that fails' };

export class SandboxRefunds {
  readonly #byReference = new Map<string, SandboxRefund>();
  readonly #bySession = new Map<string, readonly string[]>();
  readonly #answers = new Map<string, RefundAnswer>();
  #next: SandboxRefundOutcome = 'succeeded';
  #times = 0;
  #count = 0;

  /** Chooses the outcome of the next refunds. */
  choose(next: SandboxRefundOutcome, times: number): void {
    this.#next = next;
    this.#times = times;
  }

  /** Everything that it was asked to give back, the oldest first. */
  all(): readonly SandboxRefund[] {
    return [...this.#byReference.values()];
  }

  listOf(checkoutSessionId: string): readonly SandboxRefund[] {
    const references = this.#bySession.get(checkoutSessionId) ?? [];
    return references.flatMap((reference) => this.#byReference.get(reference) ?? []);
  }

  /** Rejects with ProviderUnavailable where the answer is to be lost. */
  refund(request: RefundRequest): RefundAnswer {
    const known = this.#answers.get(request.key);
    if (known !== undefined) return known;
    const outcome = this.#times > 0 ? this.#next : 'succeeded';
    this.#times = Math.max(0, this.#times - 1);
    const answer = this.#answerOf(request, outcome);
    this.#answers.set(request.key, answer);
    if (outcome === 'lost') throw new ProviderUnavailable('the sandbox plays an answer that is lost');
    return answer;
  }

  #answerOf(request: RefundRequest, outcome: SandboxRefundOutcome): RefundAnswer {
    if (outcome === 'refused') {
      return {
        outcome: 'REFUSED',
        failure: { code: 'refused', message: 'the sandbox plays a refund that is refused' },
      };
    }
    const status = outcome === 'pending' ? 'PENDING' : outcome === 'failed' ? 'FAILED' : 'SUCCEEDED';
    this.#count += 1;
    const reference = `re_${this.#count}_${request.refundId}`;
    this.#keep({ reference, status, ...request, ...(status === 'FAILED' && { failure: FAILED }) });
    const { amountCents } = request;
    return { outcome: status, reference, amountCents, ...(status === 'FAILED' && { failure: FAILED }) };
  }

  /** Settles one that is PENDING; null where there is none. */
  settle(reference: string, outcome: 'succeeded' | 'failed'): SandboxRefund | null {
    const refund = this.#byReference.get(reference);
    if (refund?.status !== 'PENDING') return null;
    const settled: SandboxRefund =
      outcome === 'failed' ? { ...refund, status: 'FAILED', failure: FAILED } : { ...refund, status: 'SUCCEEDED' };
    this.#byReference.set(reference, settled);
    return settled;
  }

  #keep({ reference, refundId, checkoutSessionId, amountCents, currency, status, failure }: SandboxRefund): void {
    const kept = { reference, refundId, checkoutSessionId, amountCents, currency, status };
    this.#byReference.set(reference, failure === undefined ? kept : { ...kept, failure });
    this.#bySession.set(checkoutSessionId, [...(this.#bySession.get(checkoutSessionId) ?? []), reference]);
    for (const [oldest, { checkoutSessionId: session }] of this.#byReference) {
      if (this.#byReference.size <= REMEMBERED_MAX) break;
      this.#byReference.delete(oldest);
      this.#bySession.delete(session);
    }
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= REMEMBERED_MAX) break;
      this.#answers.delete(oldest);
    }
  }
}
