/**
 * Whether anybody but the nodes can reach NATS servers, or read their traffic. Such a person could sell for nothing and
 * read all names.
 *
 * 1. A server asks for credentials when it refuses a client without any; what it says of itself is not enough, because
 *    its settings may give such a client a user.
 * 2. Where a server listens is what it says itself, beside the address that it was reached at.
 */
import { openConnection, type ServerAccess } from '../connection.ts';

interface Exposure {
  /** Servers that can be reached, each named with an address. */
  readonly seen: readonly string[];
  readonly withoutCredentials: readonly string[];
  /** Servers with an address that is not loopback, and no TLS. */
  readonly withoutTls: readonly string[];
}

/** Why it matters, for whoever reads of it. */
export const EXPOSED = 'whoever reaches it could sell for nothing and read all names';

/** Asks each of these addresses, such as nats://host:port; one that does not answer is left out. */
export async function exposureOf(access: ServerAccess, addresses: readonly string[]): Promise<Exposure> {
  const servers = await Promise.all([...new Set(addresses)].map((address) => askServer(access, address)));
  const seen = servers.flatMap((server) => server ?? []);
  /** A server that was reached at several addresses counts once. */
  const labelsOf = (which: (server: SeenServer) => boolean): readonly string[] => [
    ...new Map(seen.filter(which).map(({ name, address }) => [name, `${name} (${address})`])).values(),
  ];
  return {
    seen: labelsOf(() => true),
    withoutCredentials: labelsOf(({ isOpen }) => isOpen),
    withoutTls: labelsOf(({ isReadable }) => isReadable),
  };
}

interface SeenServer {
  readonly name: string;
  readonly address: string;
  readonly isOpen: boolean;
  readonly isReadable: boolean;
}

async function askServer(access: ServerAccess, address: string): Promise<SeenServer | null> {
  const info = await infoAt({ ...access, servers: [address] });
  if (info === null) return null;
  const { server_name: name, host, tls_required: isTlsRequired, tls_available: isTlsAvailable } = info;
  const isEncrypted = isTlsRequired === true || isTlsAvailable === true;
  return {
    name,
    address,
    isOpen: (await infoAt({ servers: [address], caPath: access.caPath ?? null })) !== null,
    isReadable: !isEncrypted && !(isLoopback(hostOf(address)) && isLoopback(host)),
  };
}

/** What a server says to a client; null when it refuses it, or cannot be reached. */
async function infoAt(access: ServerAccess) {
  try {
    const nats = await openConnection(access, 'holdfast-exposure', false);
    const { info } = nats;
    await nats.close();
    return info ?? null;
  } catch {
    return null;
  }
}

function hostOf(address: string): string {
  return new URL(address.includes('://') ? address : `nats://${address}`).hostname.replaceAll(/[[\]]/g, '');
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(host);
}
