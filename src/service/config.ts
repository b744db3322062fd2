/**
 * Reads the configuration from the environment, checks all of it at once and returns one frozen value.
 *
 * 1. All bad settings are reported, not only the first.
 * 2. A problem never contains a secret.
 * 3. An empty variable counts as not set, because compose files and systemd units write empty ones.
 * 4. With NATS_URL the secrets are given, because nodes with secrets of their own would refuse what another node handed
 *    out.
 * 5. Without NATS_URL no other setting of NATS is accepted: a node whose NATS_URL was misspelled would sell by itself
 *    what others sell.
 */
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { availableParallelism, hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { readBrand } from '#catalogue/brand.ts';
import type { BrandDefinition } from '#domain/catalogue/definition.ts';
import type { FoundProblem } from '#domain/schema-problems.ts';
import { readTrustProxy, type TrustProxy } from '#http/protocol/client-address.ts';
import type { MailConfig } from '#notifications/smtp.ts';
import { readTicketKeys } from '#tickets/signing.ts';
import { LIMITS, NODE_LIMITS, type Limits } from './limits.ts';
import { MAIL_FROM, SETTINGS, type Setting, type SettingName } from './settings.ts';

/** How a node reaches the NATS servers that the cluster shares. */
export interface ClusterConfig {
  /** Addresses as given: nats://host:port, or tls://host:port where TLS is insisted on. */
  readonly servers: readonly string[];
  readonly nodeName: string;
  readonly clusterName: string;
  readonly shards: number;
  readonly replicas: number;
  /** What the keys of messages are made from; null for a command where it is not set. */
  readonly ticketKeys: readonly [string, ...string[]] | null;
  readonly credsPath: string | null;
  readonly user: string | null;
  readonly password: string | null;
  readonly token: string | null;
  readonly caPath: string | null;
  /** Monitoring addresses of the servers; empty when not set. */
  readonly monitorUrls: readonly string[];
}

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** Null: made at the first start and kept in the data folder. */
  readonly adminToken: string | null;
  readonly dataDir: string;
  /** Null: the address of the listener; see `baseUrlOf`. */
  readonly baseUrl: string | null;
  readonly catalog: string | null;
  /** Null: the catalogue's folder. */
  readonly pictures: string | null;
  /** What BRAND says; null where it is not set. */
  readonly brand: BrandDefinition | null;
  readonly logLevel: (typeof SETTINGS.LOG_LEVEL.schema.enum)[number];
  readonly responseEnvelope: 'none' | 'data';
  readonly sandbox: boolean;
  readonly sandboxClock: boolean;
  readonly notify: { readonly url: string; readonly secret: string } | null;
  /** Null: no mail is sent. */
  readonly mail: MailConfig | null;
  /** The first key signs. Null: a key is made at the first start and kept in the data folder. */
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
  /** Null: not set, so that the name of the node has that of the machine. */
  readonly nodeName: string | null;
  /** 0: no limit. */
  readonly rateLimitPerMinute: number;
  readonly clientLimits: boolean;
  /** Whether answers have the header Server-Timing. */
  readonly serverTiming: boolean;
  /** Threads that answer the requests of buyers; with 1 one thread does everything. */
  readonly httpThreads: number;
  /** Null: a share of the disk, as `space-guard.ts` says. */
  readonly freeBytesMin: number | null;
  /** 0: never. */
  readonly pruneEveryHours: number;
  /** Whether an operator accepts that the keys of personal data are lost. */
  readonly keysLost: boolean;
  readonly liveEventsMax: number;
  /** Null on a single machine. */
  readonly cluster: ClusterConfig | null;
  readonly limits: Limits;
}

type ClusterConfigResult = { readonly cluster: ClusterConfig } | { readonly problems: readonly string[] };

type ConfigResult = { readonly config: Config } | { readonly problems: readonly string[] };

type Environment = Readonly<Record<string, string | undefined>>;
type Values = { [Name in SettingName]: string | number | null };

const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

const pairs: readonly (readonly [SettingName, SettingName])[] = [
  ['NOTIFY_URL', 'NOTIFY_SECRET'],
  ['SMTP_URL', 'MAIL_FROM'],
  ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'],
  ['NATS_USER', 'NATS_PASSWORD'],
];

/** Rule 4. */
const sharedSecrets: readonly SettingName[] = ['ADMIN_TOKEN', 'TICKET_KEY', 'WEBHOOK_SECRET_A', 'WEBHOOK_SECRET_B'];

/** Rule 5. Names such as NODE_NAME are left out: platforms set them for purposes of their own. */
const natsSettings = SETTING_NAMES.filter((name) => name.startsWith('NATS_') && name !== 'NATS_URL');

const clusterSettings = SETTING_NAMES.filter((name) => /^(?:NATS|CLUSTER|NODE)_|^TICKET_KEY$/.test(name));

const checkValues = compileSettings();

/** The configuration, or one line for each bad setting with its name, its value and what is allowed. */
export function readConfig(environment: Environment): ConfigResult {
  const values = valuesFrom(environment);
  const bad = new Set<SettingName>([...badValues(values), ...missingPartners(values), ...badForCluster(values)]);
  if (values.CATALOG !== null && !existsSync(String(values.CATALOG))) bad.add('CATALOG');
  if (values.PICTURES !== null && !isFolder(String(values.PICTURES))) bad.add('PICTURES');
  if (!canBeFolder(resolve(String(values.DATA_DIR)))) bad.add('DATA_DIR');
  for (const name of missingFiles(values)) bad.add(name);
  const brand = values.BRAND === null ? { brand: null } : readBrand(String(values.BRAND));
  const ofBrand = 'problems' in brand ? [brandProblem(String(values.BRAND), brand.problems)] : [];
  if (bad.size > 0 || 'problems' in brand) {
    const problems = SETTING_NAMES.filter((name) => bad.has(name)).map((name) =>
      problemOf(name, environment[name], values.NATS_URL !== null),
    );
    return { problems: [...problems, ...ofBrand] };
  }
  return { config: configFrom(values, brand.brand) };
}

/**
 * How a command that is no node reaches the servers of a cluster: as `readConfig`, from the settings of the cluster
 * alone.
 */
export function readClusterConfig(environment: Environment): ClusterConfigResult {
  const given = Object.fromEntries(clusterSettings.map((name) => [name, environment[name]]));
  const values = valuesFrom(given);
  const bad = new Set<SettingName>([...badValues(values), ...missingPartners(values)]);
  if (values.NATS_URL === null) bad.add('NATS_URL');
  for (const name of missingFiles(values)) bad.add(name);
  if (bad.size === 0) return { cluster: clusterFrom(values) };
  return {
    problems: clusterSettings.filter((name) => bad.has(name)).map((name) => problemOf(name, given[name], false)),
  };
}

/** The prefix of the URLs handed to buyers, once the port is known. */
export function baseUrlOf(config: Pick<Config, 'baseUrl' | 'host'>, listeningPort: number): string {
  if (config.baseUrl !== null) return config.baseUrl;
  return addressOf(config.host, listeningPort);
}

/** The addresses of both listeners; where a port is a free one, once `ports` has it. */
export function originsOf(config: Pick<Config, 'baseUrl' | 'host' | 'port' | 'adminHost' | 'adminPort'>) {
  const ports = { public: config.port, admin: config.adminPort };
  const origins = () => ({ public: baseUrlOf(config, ports.public), admin: addressOf(config.adminHost, ports.admin) });
  return { ports, origins };
}

/** An http address that a browser on this machine can open, without a final slash. */
export function addressOf(host: string, listeningPort: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const bracketed = reachable.includes(':') ? `[${reachable}]` : reachable;
  return `http://${bracketed}:${listeningPort}`;
}

/**
 * The address to listen on. For `localhost` the framework would open a second server beside its own, which answers
 * broken requests without the error body and accepts connections without a limit; one address is enough for clients
 * that use that name.
 */
export function listeningHost(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}

function compileSettings() {
  // A test checks the settings' own schemas; the schema of schemas takes as long to compile as these.
  const ajv = new Ajv({ allErrors: true, coerceTypes: true, validateSchema: false });
  addFormats.default(ajv);
  ajv.addFormat('trust-proxy', (value) => readTrustProxy(value) !== null);
  ajv.addFormat('ticket-keys', (value) => readTicketKeys(value) !== null);
  ajv.addFormat('smtp-url', isReadableUrl);
  const properties = Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTINGS[name].schema]));
  return ajv.compile({ type: 'object', properties });
}

/** Whether user and password of an address can be read: a percent sign in them stands before two hex digits. */
function isReadableUrl(value: string): boolean {
  try {
    const { username, password } = new URL(value);
    decodeURIComponent(`${username}${password}`);
    return true;
  } catch {
    return false;
  }
}

function valuesFrom(environment: Environment): Values {
  const entries = SETTING_NAMES.map((name) => {
    const given = environment[name];
    return [name, given === undefined || given === '' ? SETTINGS[name].default : given];
  });
  return Object.fromEntries(entries) as Values;
}

/** Whether a path is a folder or one can be made there. */
function canBeFolder(path: string): boolean {
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    return there?.isDirectory() ?? (path !== dirname(path) && canBeFolder(dirname(path)));
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function missingFiles(values: Values): SettingName[] {
  return (['NATS_CREDS', 'NATS_CA'] as const).filter((name) => values[name] !== null && !isFile(String(values[name])));
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function badValues(values: Values): SettingName[] {
  const odd = SETTING_NAMES.filter((name) => isOddNumber(SETTINGS[name].schema, values[name]));
  return [...new Set([...odd, ...valuesAgainstSchema(values)])];
}

/** How numbers are written: the validator would read ' ' as 0 and '1e3' as 1000. */
const NUMBERS: Readonly<Record<string, RegExp>> = { integer: /^-?\d+$/, number: /^-?\d+(\.\d+)?$/ };

function isOddNumber(schema: Setting['schema'], value: string | number | null): boolean {
  const written = NUMBERS[String(schema['type'])];
  return written !== undefined && typeof value === 'string' && !written.test(value);
}

/** The settings whose schema refuses the value. Replaces texts by numbers. */
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

/** What rules 4 and 5 miss, and the sandbox clock, which moves the time of one process only. */
function badForCluster(values: Values): SettingName[] {
  if (values.NATS_URL === null) return natsSettings.some((name) => values[name] !== null) ? ['NATS_URL'] : [];
  const missing = sharedSecrets.filter((name) => values[name] === null);
  return values.SANDBOX_CLOCK === 'on' ? ['SANDBOX_CLOCK', ...missing] : missing;
}

function problemOf(name: SettingName, given: string | undefined, isNode: boolean): string {
  const setting: Setting = SETTINGS[name];
  if (given === undefined || given === '') {
    const shared = isNode && sharedSecrets.includes(name) ? ', but all nodes of a cluster need the same' : '';
    return `${name} is not set${shared}: it must be ${setting.allowed}`;
  }
  if (isNode && name === 'SANDBOX_CLOCK' && given === 'on') {
    return 'SANDBOX_CLOCK is "on": it must be off with NATS_URL, because it moves the time of one node only';
  }
  const shown = setting.secret ? '(a secret, not shown)' : JSON.stringify(given.replace(/\/\/.*@/, '//…@'));
  return `${name} is ${shown}: it must be ${setting.allowed}`;
}

function brandProblem(file: string, problems: readonly FoundProblem[]): string {
  const said = problems.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
  return `BRAND is ${JSON.stringify(file)}: ${said}`;
}

function configFrom(values: Values, brand: BrandDefinition | null): Config {
  const textOf = (name: SettingName): string | null => (values[name] === null ? null : String(values[name]));
  const required = (name: SettingName): string => String(values[name]);
  const both = (one: string | null, other: string | null) =>
    one === null || other === null ? null : ([one, other] as const);
  const ticketKeys = textOf('TICKET_KEY');
  const notify = both(textOf('NOTIFY_URL'), textOf('NOTIFY_SECRET'));
  const mail = both(textOf('SMTP_URL'), textOf('MAIL_FROM'));
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
    pictures: textOf('PICTURES'),
    brand,
    logLevel: required('LOG_LEVEL') as Config['logLevel'],
    responseEnvelope: required('RESPONSE_ENVELOPE') as Config['responseEnvelope'],
    sandbox: values.SANDBOX === null ? stripe === null : values.SANDBOX === 'on',
    sandboxClock: values.SANDBOX_CLOCK === 'on',
    notify: notify && { url: notify[0], secret: notify[1] },
    mail: mail && { url: mail[0], from: senderIn(mail[1]) },
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
    nodeName: textOf('NODE_NAME'),
    rateLimitPerMinute: Number(values.RATE_LIMIT_PER_MINUTE),
    clientLimits: values.CLIENT_LIMITS === 'on',
    serverTiming: values.SERVER_TIMING === 'on',
    httpThreads: values.HTTP_THREADS === 'auto' ? Math.max(1, availableParallelism() - 2) : Number(values.HTTP_THREADS),
    freeBytesMin: values.FREE_SPACE_MIN_MB === null ? null : Number(values.FREE_SPACE_MIN_MB) * 1024 * 1024,
    pruneEveryHours: Number(values.PRUNE_EVERY_HOURS),
    keysLost: values.KEYS_LOST === 'accept',
    liveEventsMax: Number(values.LIVE_EVENTS_MAX),
    cluster: values.NATS_URL === null ? null : clusterFrom(values),
    limits: values.NATS_URL === null ? LIMITS : { ...LIMITS, ...NODE_LIMITS },
  });
}

function senderIn(text: string): MailConfig['from'] {
  const [, name = '', named, bare = ''] = MAIL_FROM.exec(text) ?? [];
  return { name: name.trim(), address: named ?? bare };
}

function clusterFrom(values: Values): ClusterConfig {
  const textOf = (name: SettingName): string | null => (values[name] === null ? null : String(values[name]));
  const listOf = (text: string | null): string[] => text?.split(',').map((one) => one.trim()) ?? [];
  return Object.freeze({
    servers: listOf(textOf('NATS_URL')),
    nodeName: textOf('NODE_NAME') ?? unusedNodeName(),
    clusterName: String(values.CLUSTER_NAME),
    shards: Number(values.CLUSTER_SHARDS),
    replicas: Number(values.CLUSTER_REPLICAS),
    ticketKeys: readTicketKeys(textOf('TICKET_KEY') ?? ''),
    credsPath: textOf('NATS_CREDS'),
    user: textOf('NATS_USER'),
    password: textOf('NATS_PASSWORD'),
    token: textOf('NATS_TOKEN'),
    caPath: textOf('NATS_CA'),
    monitorUrls: listOf(textOf('NATS_MONITOR_URL')).map((url) => url.replace(/\/$/, '')),
  });
}

/** The machine's name and a random end, because several nodes may run on one machine. */
function unusedNodeName(): string {
  const machine = hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, 50);
  return `${machine}-${randomBytes(4).toString('hex')}`;
}
