/**
 * Settings whose meaning or default changed since a released version, and whom that concerns: the environment of the
 * service, or the definitions of events in its folder.
 *
 * Each change finds out itself whether it concerns anybody, because a list of all changes helps nobody.
 */
import type { EventDefinition } from '#domain/catalogue/definition.ts';

export interface SettingChange {
  readonly setting: string;
  /** The last released version in which the setting had its old meaning. */
  readonly after: string;
  /** What is different now. */
  readonly what: string;
  /** The events that it concerns; empty for a setting of the service. */
  readonly eventIds: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

interface ServiceChange extends Omit<SettingChange, 'eventIds'> {
  concerns(environment: Environment): boolean;
}

interface EventChange extends Omit<SettingChange, 'eventIds'> {
  concerns(definition: EventDefinition): boolean;
}

const SERVICE_CHANGES: readonly ServiceChange[] = [
  {
    setting: 'SANDBOX',
    after: '0.1.0',
    what: 'is off by default once STRIPE_SECRET_KEY is set; set SANDBOX=on to keep it',
    concerns: ({ SANDBOX, STRIPE_SECRET_KEY }) => isSet(STRIPE_SECRET_KEY) && !isSet(SANDBOX),
  },
  {
    setting: 'TRUST_PROXY',
    after: '0.1.0',
    what: 'is the number of proxies or their addresses; true is refused',
    concerns: ({ TRUST_PROXY }) => TRUST_PROXY === 'true',
  },
  {
    setting: 'PRUNE_EVERY_HOURS',
    after: '0.1.0',
    what: 'is new: the journal is pruned every 24 hours unless it is set, 0 for never',
    concerns: ({ PRUNE_EVERY_HOURS }) => !isSet(PRUNE_EVERY_HOURS),
  },
];

const EVENT_CHANGES: readonly EventChange[] = [
  {
    setting: 'retention_days',
    after: '0.1.0',
    what: 'is new: names and addresses are kept until somebody erases them unless it is set',
    concerns: ({ retentionDays }) => retentionDays === undefined,
  },
];

/** The changes that concern this environment and these events. */
export function changedSettings(environment: Environment, definitions: readonly EventDefinition[]): SettingChange[] {
  const ofService = SERVICE_CHANGES.filter((change) => change.concerns(environment)).map(
    ({ setting, after, what }) => ({
      setting,
      after,
      what,
      eventIds: [],
    }),
  );
  const ofEvents = EVENT_CHANGES.map(({ setting, after, what, concerns }) => ({
    setting,
    after,
    what,
    eventIds: definitions.filter(concerns).map(({ id }) => id),
  }));
  return [...ofService, ...ofEvents.filter(({ eventIds }) => eventIds.length > 0)];
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
