/**
 * The address that a request counts for: the client's, or that of the last proxy whose word is trusted.
 *
 * A client can write anything into `X-Forwarded-For`; only what a trusted proxy adds to its end is true.
 *
 * 1. The walk goes from the socket towards the client and stops at the first address that is no trusted proxy's. With a
 *    number of proxies it takes so many steps, with a list it continues while the addresses are on the list.
 * 2. A text that is no address is not counted: the walk stops before it, so that invented texts are no new clients.
 * 3. IPv6 clients count by their /64, because one customer gets at least that many addresses. IPv4 clients count by the
 *    whole address, also where it is written as IPv6.
 */
import ipaddr from 'ipaddr.js';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** The trusted proxies: none, a number of them, or their addresses and ranges. */
export type TrustProxy = false | number | readonly string[];

export interface AddressedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: { readonly socket: { readonly remoteAddress?: string | undefined } };
}

/** The address that a request counts for. */
export type ClientAddressOf = (request: AddressedRequest) => string;

/** Whether a request counts for this machine: also for a proxy on it whose clients cannot be distinguished. */
export const isLoopback = (client: string): boolean => client.startsWith('127.') || client === LOOPBACK_NETWORK;

/** `::1` as it counts (rule 3). */
const LOOPBACK_NETWORK = '0:0:0:0::/64';

const PROXIES_MAX = 32;

/** Reads the setting; null when it is neither false nor a number nor a list of addresses and ranges. */
export function readTrustProxy(text: string): TrustProxy | null {
  if (text === 'false') return false;
  if (/^\d{1,3}$/.test(text)) return Number(text) <= PROXIES_MAX ? Number(text) : null;
  const ranges = text.split(',').map((range) => range.trim());
  return ranges.every(isRange) ? ranges : null;
}

/** An address, or one with the length of its network; a network of everything would believe everybody. */
function isRange(text: string): boolean {
  const [address = '', length, ...more] = text.split('/');
  const bitsMax = isIPv4(address) ? 32 : 128;
  if (isIP(address) === 0 || address.includes('%') || more.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) >= 1 && Number(length) <= bitsMax);
}

/** Makes the function that finds the address a request counts for. */
export function clientAddresses(trust: TrustProxy): ClientAddressOf {
  const isTrusted = trustOf(trust);
  return ({ headers, raw }) => {
    let client = addressIn(raw.socket.remoteAddress ?? '') ?? '0.0.0.0';
    if (trust === false) return countedAs(client);
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
    for (let step = 0; isTrusted(client, step); step += 1) {
      const next = addressIn(forwarded.pop() ?? '');
      if (next === null) break;
      client = next;
    }
    return countedAs(client);
  };
}

/** Whether the address that is so many steps from the socket is a trusted proxy's. */
function trustOf(trust: TrustProxy): (address: string, step: number) => boolean {
  if (trust === false) return () => false;
  if (typeof trust === 'number') return (_address, step) => step < trust;
  const proxies = new BlockList();
  for (const range of trust) {
    const [address = '', length] = range.split('/');
    if (length === undefined) proxies.addAddress(address, familyOf(address));
    else proxies.addSubnet(address, Number(length), familyOf(address));
  }
  return (address) => proxies.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}

/** The address in one entry, without the port and the zone that some write beside it; null when there is none. */
function addressIn(entry: string): string | null {
  const text = entry.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  if (isIPv4(bare)) return bare;
  if (!isIPv6(bare)) return null;
  // An IPv4 address that is written as IPv6 becomes one.
  return ipaddr.process(bare.split('%', 1)[0]!).toNormalizedString();
}

function countedAs(address: string): string {
  if (isIPv4(address)) return address;
  const network = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${network.map((group) => group.toString(16)).join(':')}::/64`;
}
