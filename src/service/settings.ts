/**
 * The table of settings: name, schema, default and meaning of each. `--help` and README's table are made from it.
 *
 * 1. A secret has at least 16 characters, or 16 bytes in base64; a shorter one could be guessed. The length of the
 *    secrets of NATS is left to its servers.
 */
import { TICKET_KEYS_MAX } from '#tickets/signing.ts';
import { LIMITS } from './limits.ts';
import { TOKEN, WEBHOOK_SECRET } from './secrets.ts';

export interface Setting {
  /** JSON Schema of the value; numbers are read from their text. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly default: string | number | null;
  /** Completes the sentence "must be …". */
  readonly allowed: string;
  readonly meaning: string;
  readonly secret?: true;
}

const onOff = { enum: ['on', 'off'] };
const port = { type: 'integer', minimum: 0, maximum: 65_535 };
const text = { type: 'string', minLength: 1 };
const webhookSecret = { type: 'string', pattern: WEBHOOK_SECRET.source };
const webhookSecretAllowed = 'whsec_ followed by the base64 of at least 16 bytes (24 random bytes or more are good)';
/** Without user and password: `fetch` refuses such an address, and its error message contains it. */
const address = { type: 'string', format: 'uri', pattern: '^https?://[^@/?#]+([/?#].*)?$' };
const addressAllowed = 'an http or https address without user and password';
/** A host name, an IPv4 address or one of IPv6 in brackets. */
const host = String.raw`([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])`;
const natsServer = `(nats|tls)://${host}(:[0-9]{1,5})?`;
const monitor = `https?://${host}(:[0-9]{1,5})?/?`;

const userAndPassword = '[^@/?#\\s:]+:[^@/?#\\s:]+@';
const SMTP_URL = `^smtps?://(${userAndPassword})?${host}(:[0-9]{1,5})?/?$|^smtp://${host}(:[0-9]{1,5})?/?\\?tls=none$`;
/** An address, alone or behind the name of whose it is. */
export const MAIL_FROM = /^(?:([^<>@",\p{Cc}]{1,100}?) *<([^<>@",\s]+@[^<>@",\s]+)>|([^<>@",\s]+@[^<>@",\s]+))$/u;

function listOf(one: string): string {
  return `^${one}(\\s*,\\s*${one}){0,15}$`;
}

export const SETTINGS = {
  HOST: {
    schema: text,
    default: '127.0.0.1',
    allowed: 'a host name or address',
    meaning: 'address of the public listener',
  },
  PORT: {
    schema: port,
    default: 8080,
    allowed: 'a port from 0 to 65535 (0 takes a free one)',
    meaning: 'port of the public listener',
  },
  ADMIN_HOST: {
    schema: text,
    default: '127.0.0.1',
    allowed: 'a host name or address',
    meaning: "address of the operators' listener",
  },
  ADMIN_PORT: {
    schema: port,
    default: 8081,
    allowed: 'a port from 0 to 65535 (0 takes a free one), another one than PORT',
    meaning: "port of the operators' listener",
  },
  ADMIN_TOKEN: {
    schema: { type: 'string', pattern: TOKEN.source },
    default: null,
    allowed: '16 to 512 visible ASCII characters without spaces',
    meaning: 'bearer token of the admin API; made at first start when not set',
    secret: true,
  },
  DATA_DIR: {
    schema: text,
    default: './data',
    allowed: 'a folder, or a path where one can be made',
    meaning: 'folder of the journal, snapshots and keys',
  },
  BASE_URL: {
    schema: { ...address, pattern: '^https?://[^@/?#]+(/[^?#]*)?$' },
    default: null,
    allowed: `${addressAllowed}, and without query and fragment`,
    meaning: 'prefix of the URLs handed to buyers; from HOST and PORT when not set',
  },
  CATALOG: {
    schema: text,
    default: null,
    allowed: 'an existing file or folder',
    meaning: 'catalogue file or folder loaded at start',
  },
  PICTURES: {
    schema: text,
    default: null,
    allowed: 'an existing folder',
    meaning: 'folder of the pictures that events name; the folder of CATALOG when not set',
  },
  BRAND: {
    schema: text,
    default: null,
    allowed: 'a JSON file with the brand of a venue',
    meaning: 'file with name, logo, colours, support and links of the venue, on every page of a buyer',
  },
  LOG_LEVEL: {
    schema: { enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] },
    default: 'info',
    allowed: 'fatal, error, warn, info, debug, trace or silent',
    meaning: 'what is logged; with debug also why a request is answered 503',
  },
  RESPONSE_ENVELOPE: {
    schema: { enum: ['none', 'data'] },
    default: 'none',
    allowed: 'none or data',
    meaning: 'data wraps every successful body as {"data": …}',
  },
  SANDBOX: {
    schema: onOff,
    default: null,
    allowed: 'on or off',
    meaning:
      'the sandbox payment providers and their routes, with which anybody can pay for nothing; when not set on, and off once STRIPE_SECRET_KEY is set',
  },
  SANDBOX_CLOCK: {
    schema: onOff,
    default: 'off',
    allowed: 'on or off',
    meaning: 'the route that moves the clock forward; never for real sales',
  },
  NOTIFY_URL: {
    schema: address,
    default: null,
    allowed: `${addressAllowed}, set together with NOTIFY_SECRET`,
    meaning: 'where notifications are posted',
  },
  NOTIFY_SECRET: {
    schema: webhookSecret,
    default: null,
    allowed: `${webhookSecretAllowed}, set together with NOTIFY_URL`,
    meaning: 'signs notifications',
    secret: true,
  },
  SMTP_URL: {
    schema: { type: 'string', format: 'smtp-url', pattern: SMTP_URL },
    default: null,
    allowed:
      'smtps://server (TLS) or smtp://server (STARTTLS), with user:password@ before it and :port behind it where needed, set together with MAIL_FROM; ?tls=none without a password where the way to the server is safe',
    meaning: 'sends buyers the address of their order by mail through this server; no mail is sent when not set',
    secret: true,
  },
  MAIL_FROM: {
    schema: { type: 'string', pattern: MAIL_FROM.source },
    default: null,
    allowed: 'an address such as tickets@example.com, or Name <tickets@example.com>, set together with SMTP_URL',
    meaning: 'sender of the mails',
  },
  TICKET_KEY: {
    schema: { type: 'string', format: 'ticket-keys' },
    default: null,
    allowed: `1 to ${TICKET_KEYS_MAX} Ed25519 private keys, each 32 bytes in base64url or base64, separated by commas`,
    meaning:
      'the first key signs ticket codes, the public halves of all are at /api/tickets/key; one is made at first start when not set',
    secret: true,
  },
  WEBHOOK_SECRET_A: {
    schema: webhookSecret,
    default: null,
    allowed: webhookSecretAllowed,
    meaning: 'verifies webhooks of provider_a; made at first start when not set',
    secret: true,
  },
  WEBHOOK_SECRET_B: {
    schema: webhookSecret,
    default: null,
    allowed: webhookSecretAllowed,
    meaning: 'verifies webhooks of provider_b; made at first start when not set',
    secret: true,
  },
  STRIPE_SECRET_KEY: {
    schema: { type: 'string', pattern: '^[sr]k_[A-Za-z0-9_]{13,250}$' },
    default: null,
    allowed:
      'a secret key as Stripe prints it (sk_… or rk_…, at least 16 characters), set together with STRIPE_WEBHOOK_SECRET',
    meaning: 'takes payments through Stripe',
    secret: true,
  },
  STRIPE_WEBHOOK_SECRET: {
    schema: { type: 'string', pattern: '^whsec_[A-Za-z0-9+/=_-]{10,250}$' },
    default: null,
    allowed:
      'the signing secret of the webhook endpoint as Stripe prints it (whsec_…, at least 16 characters), set together with STRIPE_SECRET_KEY',
    meaning: "verifies Stripe's webhooks",
    secret: true,
  },
  STRIPE_PROVIDER: {
    schema: { enum: ['provider_a', 'provider_b'] },
    default: 'provider_a',
    allowed: 'provider_a or provider_b',
    meaning: 'the provider name whose payments Stripe takes; with SANDBOX=on the sandbox takes those of the other',
  },
  STRIPE_API_BASE: {
    schema: address,
    default: null,
    allowed: addressAllowed,
    meaning: "where Stripe's API is, for tests against a stand-in; Stripe's own when not set",
  },
  CORS_ORIGINS: {
    schema: { type: 'string', pattern: '^(\\*|https?://[^\\s,/*]+(\\s*,\\s*https?://[^\\s,/*]+)*)$' },
    default: '*',
    allowed: '* or origins such as https://shop.example, separated by commas',
    meaning: 'origins that may call the public API from a browser',
  },
  TRUST_PROXY: {
    schema: { type: 'string', format: 'trust-proxy' },
    default: 'false',
    allowed:
      'false, the number of proxies in front (instead of true: 1 for one proxy), or the addresses and ranges of the proxies such as 10.0.0.0/8, separated by commas',
    meaning:
      'the proxies whose X-Forwarded-For is trusted: none, a number of proxies in front, or those listed by address and range; limits by address count for the last address that no trusted proxy has',
  },
  RATE_LIMIT_PER_MINUTE: {
    schema: { type: 'integer', minimum: 0, maximum: 1_000_000 },
    default: 0,
    allowed: 'a whole number from 0 (off) to 1000000',
    meaning: 'changes per client address and minute; reports of payment providers and the sandbox do not count',
  },
  CLIENT_LIMITS: {
    schema: onOff,
    default: 'on',
    allowed: 'on or off',
    meaning: `limits of what one client address may ask: ${LIMITS.narrowedPagesPerMinuteMax} narrowed lists of events and ${LIMITS.joinsPerMinuteMax} joins of waiting rooms a minute, ${LIMITS.clientStreamsMax} live streams at once; clients of this machine are not counted; off for trusted networks`,
  },
  HTTP_THREADS: {
    schema: { type: 'string', pattern: '^([1-9]|[1-5][0-9]|6[0-4]|auto)$' },
    default: '1',
    allowed: 'a whole number from 1 to 64, or auto (as many as there are cores, less 2, and at least 1)',
    meaning:
      'threads that answer the requests of buyers; from 2 on the events, the journal and the operators have a thread of their own beside them',
  },
  SERVER_TIMING: {
    schema: onOff,
    default: 'off',
    allowed: 'on or off',
    meaning: 'answers say in the header Server-Timing how long admission, turns, the disk and all of it took',
  },
  FREE_SPACE_MIN_MB: {
    schema: { type: 'integer', minimum: 0, maximum: 1_000_000_000 },
    default: null,
    allowed: 'a whole number of megabytes from 0 (off)',
    meaning:
      'free space on the disk of DATA_DIR below which nothing new is held, checked out or queued; a twentieth of the disk, at most 256, when not set; no effect with NATS_URL',
  },
  PRUNE_EVERY_HOURS: {
    schema: { type: 'number', minimum: 0, maximum: 8_760 },
    default: 24,
    allowed: 'a number of hours from 0 (never) to 8760',
    meaning:
      'hours between prunings, which take snapshots and move older facts from the journal to the archive; 0 for never; no effect with NATS_URL',
  },
  KEYS_LOST: {
    schema: { enum: ['accept'] },
    default: null,
    allowed: 'accept, for one start, or not set',
    meaning:
      'accept starts although keys.db, or the stream of a cluster’s keys, is missing or another one: the personal data of orders sealed with the lost keys then reads as erased',
  },
  LIVE_EVENTS_MAX: {
    schema: { type: 'integer', minimum: 1, maximum: 100_000 },
    default: 1_000,
    allowed: 'a whole number from 1 to 100000',
    meaning:
      'events kept in memory; beyond it those that were unused for longest are evicted; with NATS_URL each shard keeps four times its share, at least 16',
  },
  NATS_URL: {
    schema: { type: 'string', pattern: listOf(natsServer), maxLength: 2_000 },
    default: null,
    allowed:
      'the NATS servers, such as nats://a:4222 (tls://a:4222 insists on TLS), without user and password, separated by commas',
    meaning: 'makes this process a node of a cluster on these NATS servers; DATA_DIR then holds only caches',
  },
  NODE_NAME: {
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
    default: null,
    allowed: '1 to 64 letters, digits, dots, dashes and underscores; no two nodes have the same',
    meaning: 'name of this node; host name and a random end when not set',
  },
  CLUSTER_NAME: {
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,32}$' },
    default: 'holdfast',
    allowed: '1 to 32 letters, digits, dashes and underscores',
    meaning: 'prefix of streams and subjects, so that several shops share NATS servers',
  },
  CLUSTER_SHARDS: {
    schema: { type: 'integer', minimum: 1, maximum: 256 },
    default: 64,
    allowed: 'a whole number from 1 to 256, the same at every node',
    meaning: 'shards that events are spread over; fixed by the first node, another value refuses to start',
  },
  CLUSTER_REPLICAS: {
    schema: { type: 'integer', minimum: 1, maximum: 5 },
    default: 3,
    allowed: 'a whole number from 1 to 5, at most the number of NATS servers',
    meaning: 'NATS servers that keep a copy of each shard; 1 for a single server',
  },
  NATS_CREDS: {
    schema: text,
    default: null,
    allowed: 'an existing file, set together with NATS_URL',
    meaning: 'credentials file for the NATS servers',
  },
  NATS_USER: {
    schema: text,
    default: null,
    allowed: 'a user name, set together with NATS_URL and NATS_PASSWORD',
    meaning: 'user at the NATS servers',
  },
  NATS_PASSWORD: {
    schema: text,
    default: null,
    allowed: 'a password, set together with NATS_URL and NATS_USER',
    meaning: 'password of that user',
    secret: true,
  },
  NATS_TOKEN: {
    schema: text,
    default: null,
    allowed: 'a token, set together with NATS_URL',
    meaning: 'token for the NATS servers, in place of a user',
    secret: true,
  },
  NATS_CA: {
    schema: text,
    default: null,
    allowed: 'an existing file, set together with NATS_URL',
    meaning: 'certificate authority that signed the certificates of the NATS servers',
  },
  NATS_MONITOR_URL: {
    schema: { type: 'string', pattern: listOf(monitor), maxLength: 2_000 },
    default: null,
    allowed: 'monitoring addresses such as http://a:8222, separated by commas, set together with NATS_URL',
    meaning: 'where `holdfast cluster check` sees whether each NATS server calls fsync before it answers',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;
