/** Starts services of several sizes and puts each under the same load, alternately. */
import type { Figure, Findings, Settings } from '../scenario.ts';
import { auditFolder } from './audit.ts';
import { grow } from './growth.ts';
import { startHoldfast } from './server.ts';
import { requestOf, type Traffic } from './traffic.ts';
import { openConnection } from '#rehearsal/player/connection.ts';

type Service = Awaited<ReturnType<typeof startHoldfast>>;

interface GrowingServices {
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
  const activations: Figure[] = [];
  try {
    for (const size of sizes) {
      settings.report(`a service with ${size} ${of}`);
      const service = await start(size);
      services.push(service);
      activations.push({
        name: `${size.toLocaleString('en-GB')} ${of}: first answer after a start`,
        ...(await activate(service, traffic(size))),
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
    return { ...findings, figures: [...findings.figures, ...activations, ...(await auditFolder(largest.folder, 0))] };
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    for (const service of services) service.removeFolder();
  }
}

/** The first request activates the event from the data folder; it is reported apart from the load. */
async function activate(
  { url }: Service,
  traffic: Traffic,
): Promise<{ readonly value: number; readonly unit: string }> {
  const connection = await openConnection(url);
  const begin = performance.now();
  const { status, body } = await connection.send(requestOf(traffic, 0));
  const seconds = (performance.now() - begin) / 1000;
  connection.close();
  if (status !== 201) throw new Error(body);
  return { value: seconds, unit: 's' };
}
