/**
 * The settings of a service: read from the environment, checked all at once, given on as one frozen value.
 *
 * `main.ts` and the command line call `readConfig` and stop with exit code 2 when it lists problems; nobody else reads the environment.
 * The table SETTINGS is the one place that knows a setting's name, default and what is allowed; README's table is written from it.
 *
 *  1. Every bad setting is named, not only the first.
 *  2. A secret's value never appears in a problem.
 *  3. An empty variable counts as one that is not set, as compose files and units write it.
 *  4. A secret has at least 16 characters, and one in base64 at least 16 bytes; a shorter one can be guessed.
 */
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readTrustProxy, type TrustProxy } from '#http/client-address.ts';
import { readTicketKeys, TICKET_KEYS_MAX } from '#tickets/signing.ts';
import { TOKEN, WEBHOOK_SECRET } from './secrets.ts';

/** One row of the settings table. */
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
/** Without user and password: Node does not call such an address, and names it in its errors. */
const address = { type: 'string', format: 'uri', pattern: '^https?://[^@/?#]+([/?#].*)?$' };
const addressAllowed = 'an http or https address without user and password';

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
    allowed: 'a port from 0 to 65535 (0 takes a free one)',
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
    schema: address,
    default: null,
    allowed: addressAllowed,
    meaning: 'prefix of the URLs handed to buyers; from HOST and PORT when not set',
  },
  CATALOG: {
    schema: text,
    default: null,
    allowed: 'an existing file or folder',
    meaning: 'catalogue file or folder loaded at start',
  },
  LOG_LEVEL: {
    schema: { enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] },
    default: 'info',
    allowed: 'fatal, error, warn, info, debug, trace or silent',
    meaning: 'what is logged',
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
    meaning: 'the provider name that Stripe stands behind; with SANDBOX=on the sandbox stands behind the other',
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
      'whose X-Forwarded-For is believed: nobody, that of so many proxies in front, or of the proxies listed by address and range; what is limited by address counts for the last one that no trusted proxy has',
  },
  RATE_LIMIT_PER_MINUTE: {
    schema: { type: 'integer', minimum: 0, maximum: 1_000_000 },
    default: 0,
    allowed: 'a whole number from 0 (off) to 1000000',
    meaning: 'changes per client address and minute',
  },
  FREE_SPACE_MIN_MB: {
    schema: { type: 'integer', minimum: 0, maximum: 1_000_000_000 },
    default: null,
    allowed: 'a whole number of megabytes from 0 (off)',
    meaning:
      'free space on the disk of DATA_DIR below which nothing new is held, checked out or queued; a twentieth of the disk, at most 256, when not set',
  },
  PRUNE_EVERY_HOURS: {
    schema: { type: 'number', minimum: 0, maximum: 8_760 },
    default: 24,
    allowed: 'a number of hours from 0 (never) to 8760',
    meaning:
      'hours between prunings, which take snapshots and move older facts from the journal to the archive; 0 for never',
  },
  LIVE_EVENTS_MAX: {
    schema: { type: 'integer', minimum: 1, maximum: 100_000 },
    default: 1_000,
    allowed: 'a whole number from 1 to 100000',
    meaning: 'events kept in memory; the coldest are put to sleep beyond it',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

/** The bounds that are not settings, each with its reason. */
export const LIMITS = {
  /** A hold of 20 items with 200 seat ids each fits four times over. */
  bodyBytesMax: 256 * 1024,
  /** A definition with every seat of a stadium listed. */
  adminBodyBytesMax: 16 * 1024 * 1024,
  /** Commands waiting at one box office: a quarter of a second of turns on the slowest disk measured; beyond it waiting is worse than asking again. */
  mailboxCommandsMax: 5_000,
  /** Changes at work or in line in the whole process; those in line cost some 10 KB each. */
  inFlightRequestsMax: 10_000,
  /** Claims at work at once: two of the journal's batches, one on its way to the disk and one being filled. */
  claimsAtOnceMax: 1_000,
  /** What a claim waits in line before it may be turned away: longer, and people press the button again. */
  claimWaitMsMax: 1_000,
  /** Serialized event payloads kept: one for each event and date that people look at. */
  cachedPayloadsMax: 2_000,
  cachedPayloadBytesMax: 64 * 1024 * 1024,
  /** Open live streams: at about 11 µs a frame and four frames a second so many take under half a core in a rush. */
  liveListenersMax: 10_000,
  /** Open connections of a listener; more are closed at once. Each is a descriptor: half of what the unit allows is left for the rest. */
  connectionsMax: 30_000,
  /** Requests that wait on one connection for the answers before theirs: several times what clients that pipeline send ahead. */
  pipelinedRequestsMax: 100,
  /** Client addresses the rate limit tells apart before the oldest is forgotten. */
  rateLimitedAddressesMax: 50_000,
  /** Wrong tokens from one address in a minute: more than a person mistypes. */
  wrongTokensPerMinuteMax: 10,
  /** Codes that do not exist, from one address for one event in a minute. */
  unknownCodesPerMinuteMax: 20,
  /** A client that sends slowly may hold a socket this long, no longer. */
  requestReceiveMsMax: 30_000,
  /** A client that takes nothing of its answer may hold a socket of the public listener this long. Live streams send sooner. */
  stalledMsMax: 60_000,
  /** Longer than the idle time of common load balancers, so that they and not the service close first. */
  keepAliveMs: 72_000,
  /** After a signal: what was accepted must be finished by then. */
  shutdownMsMax: 9_000,
} as const;

export type Limits = { readonly [Name in keyof typeof LIMITS]: number };

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** Null: made at first start and kept in the data folder. */
  readonly adminToken: string | null;
  readonly dataDir: string;
  /** Null: from the address that the listener got; see `baseUrlOf`. */
  readonly baseUrl: string | null;
  readonly catalog: string | null;
  readonly logLevel: (typeof SETTINGS.LOG_LEVEL.schema.enum)[number];
  readonly responseEnvelope: 'none' | 'data';
  readonly sandbox: boolean;
  readonly sandboxClock: boolean;
  readonly notify: { readonly url: string; readonly secret: string } | null;
  /** The first signs; null: one is made at first start and kept in the data folder. */
  readonly ticketKeys: readonly [string, ...string[]] | null;
  readonly webhookSecretA: string | null;
  readonly webhookSecretB: string | null;
  readonly stripe: {
    readonly secretKey: string;
    readonly webhookSecret: string;
    readonly provider: 'provider_a' | 'provider_b';
    readonly apiBase: string | null;
  } | null;
  /** The origins listed, or '*' for all. */
  readonly corsOrigins: '*' | readonly string[];
  readonly trustProxy: TrustProxy;
  /** 0: no limit. */
  readonly rateLimitPerMinute: number;
  /** Null: a share of the disk, as `space-guard.ts` says. */
  readonly freeBytesMin: number | null;
  /** 0: never. */
  readonly pruneEveryHours: number;
  readonly liveEventsMax: number;
  readonly limits: Limits;
}

export type ConfigReading = { readonly config: Config } | { readonly problems: readonly string[] };

type Environment = Readonly<Record<string, string | undefined>>;
type Values = { [Name in SettingName]: string | number | null };

const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

const pairs: readonly (readonly [SettingName, SettingName])[] = [
  ['NOTIFY_URL', 'NOTIFY_SECRET'],
  ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'],
];

const checkValues = compileSettings();

/**
 * Reads the settings from the environment. Returns the configuration, or one line for each bad setting that
 * names it, its value (secrets masked) and what is allowed.
 */
export function readConfig(environment: Environment): ConfigReading {
  const values = valuesFrom(environment);
  const bad = new Set<SettingName>([...badValues(values), ...missingPartners(values)]);
  if (values.CATALOG !== null && !existsSync(String(values.CATALOG))) bad.add('CATALOG');
  if (!canBeFolder(resolve(String(values.DATA_DIR)))) bad.add('DATA_DIR');
  if (bad.size > 0) {
    return {
      problems: SETTING_NAMES.filter((name) => bad.has(name)).map((name) => problemOf(name, environment[name])),
    };
  }
  return { config: configFrom(values) };
}

/** The prefix of the URLs handed to buyers, once the port is known; an address that means "any" becomes localhost. */
export function baseUrlOf(config: Pick<Config, 'baseUrl' | 'host'>, listeningPort: number): string {
  if (config.baseUrl !== null) return config.baseUrl;
  return addressOf(config.host, listeningPort);
}

/** An http address that a browser on this machine can open, without a slash at its end. */
export function addressOf(host: string, listeningPort: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const bracketed = reachable.includes(':') ? `[${reachable}]` : reachable;
  return `http://${bracketed}:${listeningPort}`;
}

function compileSettings() {
  const ajv = new Ajv({ allErrors: true, coerceTypes: true });
  addFormats.default(ajv);
  ajv.addFormat('trust-proxy', (value) => readTrustProxy(value) !== null);
  ajv.addFormat('ticket-keys', (value) => readTicketKeys(value) !== null);
  const properties = Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTINGS[name].schema]));
  return ajv.compile({ type: 'object', properties });
}

function valuesFrom(environment: Environment): Values {
  const entries = SETTING_NAMES.map((name) => {
    const given = environment[name];
    return [name, given === undefined || given === '' ? SETTINGS[name].default : given];
  });
  return Object.fromEntries(entries) as Values;
}

/** Whether a path is a folder, or leads through folders to where one can be made. */
function canBeFolder(path: string): boolean {
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    return there?.isDirectory() ?? (path !== dirname(path) && canBeFolder(dirname(path)));
  } catch {
    return false;
  }
}

function badValues(values: Values): SettingName[] {
  const odd = SETTING_NAMES.filter((name) => isOddNumber(SETTINGS[name].schema, values[name]));
  return [...new Set([...odd, ...valuesAgainstSchema(values)])];
}

/** A number that is not written in digits alone: the validator would read ' ' as 0 and '1e3' as 1000. */
function isOddNumber(schema: Setting['schema'], value: string | number | null): boolean {
  return schema['type'] === 'integer' && typeof value === 'string' && !/^-?\d+$/.test(value);
}

/** The settings whose values their schema forbids; writes numbers over their texts. */
function valuesAgainstSchema(values: Values): SettingName[] {
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  if (!checkValues(given)) return (checkValues.errors ?? []).map((error) => error.instancePath.slice(1) as SettingName);
  Object.assign(values, given);
  return [];
}

function missingPartners(values: Values): SettingName[] {
  return pairs.flatMap(([one, other]) => {
    if ((values[one] === null) === (values[other] === null)) return [];
    return [values[one] === null ? one : other];
  });
}

function problemOf(name: SettingName, given: string | undefined): string {
  const setting: Setting = SETTINGS[name];
  if (given === undefined || given === '') return `${name} is not set: it must be ${setting.allowed}`;
  const shown = setting.secret ? '(a secret, not shown)' : JSON.stringify(given.replace(/\/\/.*@/, '//…@'));
  return `${name} is ${shown}: it must be ${setting.allowed}`;
}

function configFrom(values: Values): Config {
  const textOf = (name: SettingName): string | null => (values[name] === null ? null : String(values[name]));
  const required = (name: SettingName): string => String(values[name]);
  const both = (one: string | null, other: string | null) =>
    one === null || other === null ? null : ([one, other] as const);
  const ticketKeys = textOf('TICKET_KEY');
  const notify = both(textOf('NOTIFY_URL'), textOf('NOTIFY_SECRET'));
  const stripe = both(textOf('STRIPE_SECRET_KEY'), textOf('STRIPE_WEBHOOK_SECRET'));
  return Object.freeze({
    host: required('HOST'),
    port: Number(values.PORT),
    adminHost: required('ADMIN_HOST'),
    adminPort: Number(values.ADMIN_PORT),
    adminToken: textOf('ADMIN_TOKEN'),
    dataDir: required('DATA_DIR'),
    baseUrl: textOf('BASE_URL')?.replace(/\/+$/, '') ?? null,
    catalog: textOf('CATALOG'),
    logLevel: required('LOG_LEVEL') as Config['logLevel'],
    responseEnvelope: required('RESPONSE_ENVELOPE') as Config['responseEnvelope'],
    sandbox: values.SANDBOX === null ? stripe === null : values.SANDBOX === 'on',
    sandboxClock: values.SANDBOX_CLOCK === 'on',
    notify: notify && { url: notify[0], secret: notify[1] },
    ticketKeys: ticketKeys === null ? null : readTicketKeys(ticketKeys),
    webhookSecretA: textOf('WEBHOOK_SECRET_A'),
    webhookSecretB: textOf('WEBHOOK_SECRET_B'),
    stripe: stripe && {
      secretKey: stripe[0],
      webhookSecret: stripe[1],
      provider: values.STRIPE_PROVIDER as NonNullable<Config['stripe']>['provider'],
      apiBase: textOf('STRIPE_API_BASE'),
    },
    corsOrigins:
      values.CORS_ORIGINS === '*'
        ? ('*' as const)
        : required('CORS_ORIGINS')
            .split(',')
            .map((origin) => origin.trim()),
    trustProxy: readTrustProxy(required('TRUST_PROXY')) ?? false,
    rateLimitPerMinute: Number(values.RATE_LIMIT_PER_MINUTE),
    freeBytesMin: values.FREE_SPACE_MIN_MB === null ? null : Number(values.FREE_SPACE_MIN_MB) * 1024 * 1024,
    pruneEveryHours: Number(values.PRUNE_EVERY_HOURS),
    liveEventsMax: Number(values.LIVE_EVENTS_MAX),
    limits: LIMITS,
  });
}
