/** A duel about holds that ends with the audit: what a small scenario needs besides its event and its traffic. */
import type { Findings, Settings } from '../scenario.ts';
import { auditFolder } from './audit.ts';
import { fight } from './duel.ts';
import { startHoldfast } from './server.ts';
import type { Traffic } from './traffic.ts';

export interface HoldsDuel {
  readonly events: readonly { readonly id: string }[];
  readonly traffic: Traffic;
  /** Whether every hold is still there at the end; sessions that come back replace theirs. */
  readonly everyHoldStays: boolean;
}

const CONNECTIONS = 64;

export async function fightForHolds(
  { events, traffic, everyHoldStays }: HoldsDuel,
  settings: Settings,
): Promise<Findings> {
  const service = await startHoldfast(events);
  try {
    const duel = { service, traffic, connections: CONNECTIONS, status: 201 };
    const { answered, figures, latencies = [] } = await fight(duel, settings);
    await service.stop();
    return { figures: [...figures, ...(await auditFolder(service.folder, everyHoldStays ? answered : 0))], latencies };
  } finally {
    await service.stop();
    service.removeFolder();
  }
}
