/** What operators and stations may ask of the doors, as facts or as a refusal. */
import { fact, type Fact } from '../fact.ts';
import { valuesReply, type Decision } from '../decision.ts';
import { decideRecordScans } from './scans.ts';
import { decideAddStation, decideRevokeStation } from './stations.ts';
import { decideSyncStation, type SyncTurn } from './sync.ts';
import { decideScanByHand } from './by-hand.ts';
import type { CommandOf } from '../command.ts';
import type { OrderTurn } from '../orders/state.ts';
import type { Refusal } from '../refusal.ts';
import type { DoorState } from './state.ts';

type DoorCommand =
  | CommandOf<'AddStation'>
  | CommandOf<'RevokeStation'>
  | CommandOf<'RecordScans'>
  | CommandOf<'ScanByHand'>
  | CommandOf<'SyncStation'>
  | CommandOf<'TakeFeed'>;

export function decideAtDoors(state: DoorState, command: DoorCommand, turn: OrderTurn & SyncTurn): Decision | Refusal {
  switch (command.type) {
    case 'AddStation':
      return decideAddStation(state, command, turn);
    case 'RevokeStation':
      return decideRevokeStation(state, command);
    case 'RecordScans':
      return decideRecordScans(state, command, turn);
    case 'ScanByHand':
      return decideScanByHand(state, command, turn);
    case 'SyncStation':
      return decideSyncStation(state, command, turn);
    case 'TakeFeed':
      return decideTakeFeed(state, command);
  }
}

/** A gate takes a page of its service's feed; its stations come with the head. */
function decideTakeFeed({ doors }: DoorState, { type: _type, stations, ...page }: CommandOf<'TakeFeed'>): Decision {
  const facts: Fact[] = [];
  for (const { isRevoked, ...station } of stations) {
    const known = doors?.stations.get(station.stationId);
    if (known === undefined) facts.push(fact('StationAdded', { ...station, operator: null }));
    const isNews = isRevoked && (known?.revokedAt ?? null) === null;
    if (isNews) facts.push(fact('StationRevoked', { stationId: station.stationId, operator: null }));
  }
  return { facts: [...facts, fact('FeedTaken', page)], reply: valuesReply<'TakeFeed'>({}) };
}
