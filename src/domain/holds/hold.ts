import type { HoldStatus } from '#machines/hold.ts';
import type { HoldLine } from '../fact.ts';

/** One session's tickets for a while; what happens to it is in `holds.ts`. */
export interface Hold {
  readonly id: string;
  readonly sessionKey: string;
  status: HoldStatus;
  lines: readonly HoldLine[];
  expiresAt: number;
  readonly firstPlacedAt: number;
  orderId: string | null;
}
