/**
 * Reads the configuration from the environment, checks all of it at once and returns one frozen value.
 *
 * 1. All bad settings are reported, not only the first.
 * 2. A problem never contains a secret.
 * 3. An empty variable counts as not set, because compose files and systemd units write empty ones.
 */
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readTrustProxy, type TrustProxy } from '#http/client-address.ts';
import { readTicketKeys } from '#tickets/signing.ts';
import { LIMITS, type Limits } from './limits.ts';
import { SETTINGS, type Setting, type SettingName } from './settings.ts';

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
  readonly logLevel: (typeof SETTINGS.LOG_LEVEL.schema.enum)[number];
  readonly responseEnvelope: 'none' | 'data';
  readonly sandbox: boolean;
  readonly sandboxClock: boolean;
  readonly notify: { readonly url: string; readonly secret: string } | null;
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

/** The configuration, or one line for each bad setting with its name, its value and what is allowed. */
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

/** The prefix of the URLs handed to buyers, once the port is known. */
export function baseUrlOf(config: Pick<Config, 'baseUrl' | 'host'>, listeningPort: number): string {
  if (config.baseUrl !== null) return config.baseUrl;
  return addressOf(config.host, listeningPort);
}

/** An http address that a browser on this machine can open, without a final slash. */
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

/** Whether a path is a folder or one can be made there. */
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

/** A number with other characters than digits: the validator would read ' ' as 0 and '1e3' as 1000. */
function isOddNumber(schema: Setting['schema'], value: string | number | null): boolean {
  return schema['type'] === 'integer' && typeof value === 'string' && !/^-?\d+$/.test(value);
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
