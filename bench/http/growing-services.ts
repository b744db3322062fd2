/** Services of several sizes, all up during the whole run, and the same load for each in turns. */
import type { Figure, Findings, Settings } from '../scenario.ts';
import { auditFolder } from './audit.ts';
import { grow } from './growth.ts';
import { startHoldfast } from './server.ts';
import type { Traffic } from './traffic.ts';

type Service = Awaited<ReturnType<typeof startHoldfast>>;

export interface GrowingServices {
  /** What grows. */
  readonly of: string;
  readonly sizes: readonly number[];
  start(size: number): Promise<Service>;
  traffic(size: number): Traffic;
  readonly budget: NonNullable<Figure['budget']> & { readonly atLeast: number };
}

const CONNECTIONS = 64;

export async function growServices(
  { of, sizes, start, traffic, budget }: GrowingServices,
  settings: Settings,
): Promise<Findings> {
  const services: Service[] = [];
  try {
    for (const size of sizes) {
      settings.tell(`a service with ${size} ${of}`);
      services.push(await start(size));
    }
    const targets = sizes.map((size, i) => ({
      name: `${size.toLocaleString('en-GB')} ${of}`,
      server: services[i]!,
      traffic: traffic(size),
      connections: CONNECTIONS,
      status: 201,
    }));
    const findings = await grow({ of, request: 'hold', sizes, targets, budget }, settings);
    const largest = services.at(-1)!;
    await largest.stop();
    return { ...findings, figures: [...findings.figures, ...(await auditFolder(largest.folder, 0))] };
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    for (const service of services) service.removeFolder();
  }
}
