import type { OrderStatus } from '#machines/order.ts';
import type { PaymentStatus } from '#machines/payment.ts';
import type { CancellationCause, FactData, OperatorMark } from '../fact.ts';
import type { RefundView } from '../views.ts';

/** A try to pay, or money that came; what happens to it is in `payments.ts`. */
export interface Payment {
  readonly id: string;
  /** From 1; a stray payment has that of the payment whose session it came through. */
  readonly installment: number;
  readonly amountCents: number;
  readonly currency: string;
  status: PaymentStatus;
  readonly createdAt: number;
  paidAt: number | null;
  checkoutSessionId: string | null;
  redirectUrl: string | null;
  sessionExpiresAt: number | null;
  /** Whether its money pays the installment. */
  isCounted: boolean;
  /** For money that nobody asked for, the payment whose session it came through. */
  readonly strayOf: string | null;
  /** How the report of the money called itself; for telling a repeat. */
  reference: string | null;
  webhookId: string | null;
}

/** What was bought and what was paid of it; what happens to it is in `orders.ts`. */
export interface Order {
  readonly id: string;
  /** Its place among the event's orders, from 0. */
  readonly number: number;
  /** What was agreed when it was placed; never changes. */
  readonly purchase: Omit<FactData['OrderPlaced'], 'idempotency'>;
  readonly placedAt: number;
  status: OrderStatus;
  readonly payments: Payment[];
  /** Empty until the first money; kept, but void, after a cancellation. */
  ticketIds: readonly string[];
  readonly refunds: RefundView[];
  cancellation: (OperatorMark & { readonly cause: CancellationCause; readonly at: number }) | null;
}
