/** Services of several sizes, all up during the whole run, and the same load for each in turns. */
import type { Figure, Findings, Settings } from '../scenario.ts';
import { auditFolder } from './audit.ts';
import { grow } from './growth.ts';
import { startHoldfast } from './server.ts';
import { requestOf, type Traffic } from './traffic.ts';
import { openWire } from './wire.ts';

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
  const waking: Figure[] = [];
  try {
    for (const size of sizes) {
      settings.tell(`a service with ${size} ${of}`);
      const service = await start(size);
      services.push(service);
      waking.push({
        name: `${size.toLocaleString('en-GB')} ${of}: first answer after a start`,
        ...(await wake(service, traffic(size))),
      });
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
    return { ...findings, figures: [...findings.figures, ...waking, ...(await auditFolder(largest.folder, 0))] };
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    for (const service of services) service.removeFolder();
  }
}

/** The first request wakes an event from its folder: told, but no part of the load. */
async function wake({ url }: Service, traffic: Traffic): Promise<{ readonly value: number; readonly unit: string }> {
  const wire = await openWire(url);
  const begin = performance.now();
  const { status, body } = await wire.ask(requestOf(traffic, 0));
  const seconds = (performance.now() - begin) / 1000;
  wire.close();
  if (status !== 201) throw new Error(body);
  return { value: seconds, unit: 's' };
}
