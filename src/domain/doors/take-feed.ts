/** A gate takes a page of its service's feed; its stations come with the head. */
import { fact, type Fact } from '../fact.ts';
import { valuesReply, type Decision } from '../decision.ts';
import type { CommandOf } from '../command.ts';
import type { EventDefinition } from '../catalogue/definition.ts';
import type { FeedKey, StationKind } from '../recorded-scan.ts';
import type { DoorState } from './state.ts';

export function decideTakeFeed(
  { doors }: DoorState,
  { type: _type, stations, ...page }: CommandOf<'TakeFeed'>,
): Decision {
  const facts: Fact[] = [];
  for (const { isRevoked, ...station } of stations) {
    const known = doors?.stations.get(station.stationId);
    if (known === undefined) facts.push(fact('StationAdded', { ...station, operator: null }));
    const isNews = isRevoked && (known?.revokedAt ?? null) === null;
    if (isNews) facts.push(fact('StationRevoked', { stationId: station.stationId, operator: null }));
  }
  return { facts: [...facts, fact('FeedTaken', page)], reply: valuesReply<'TakeFeed'>({}) };
}

/** How far a gate has come with its service's feed, with the tokens of its stations. */
export interface FeedView {
  readonly eventNumber: number;
  readonly definition: EventDefinition;
  readonly cursor: string;
  readonly isWhole: boolean;
  readonly stationId: string;
  readonly keys: readonly FeedKey[];
  readonly tokens: readonly { readonly tokenSha256: string; readonly kind: StationKind }[];
}

/** How far a gate has come; null where it is none. */
export function viewFeed({ doors, eventNumber, plan }: DoorState): FeedView | null {
  if (doors === null || doors.feed === null) return null;
  const { cursor, isWhole, stationId, keys } = doors.feed;
  const tokens = Array.from(doors.stations.values(), ({ tokenSha256, kind }) => ({ tokenSha256, kind }));
  return { eventNumber, definition: plan.definition, cursor, isWhole, stationId, keys, tokens };
}
