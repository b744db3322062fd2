/** The stations of an event: paired by a QR code that is shown once, and revoked. */
import { useState } from 'preact/hooks';
import type { Station } from '#client/doors/wire.ts';
import { qrPath } from '../../qr-path.ts';
import { usePolled, type Api } from '../app/api.ts';
import type { MadeStation, OverviewPerformance } from '../app/bodies.ts';
import { countOf, moment } from '../app/format.ts';
import { Confirmation } from './confirmation.tsx';
import { Choice, textIn, type Option } from './fields.tsx';
import { StatusTag } from './frame.tsx';
import { Table } from './table.tsx';

interface StationsProps {
  readonly api: Api;
  readonly address: string;
  readonly doors: readonly Option[];
  readonly performance: OverviewPerformance;
}

const POLL_MS = 2_000;

interface StationList {
  readonly stations: readonly Station[];
}

export function Stations({ api, address, doors, performance }: StationsProps) {
  const { value, trouble, reload } = usePolled<StationList>(address, () => api('GET', address), POLL_MS);
  const [dialog, setDialog] = useState<'pair' | Station | null>(null);
  const [made, setMade] = useState<MadeStation | null>(null);
  const gates = (value?.stations ?? []).filter(({ status, gate_url: url }) => status === 'LIVE' && url !== null);
  const pair = async (fields: FormData): Promise<void> => {
    const only = (name: string, id: string) => (fields.get(name) === null ? null : [id]);
    const door = textIn(fields, 'door');
    const body = {
      name: textIn(fields, 'name') ?? '',
      kind: fields.get('kind'),
      performance_ids: only('date', performance.id),
      door_ids: door === null ? null : [door],
      gate_url: textIn(fields, 'gate_url'),
    };
    setMade(await api<MadeStation>('POST', address, body));
    reload();
  };
  const revoke = async (station: Station): Promise<void> => {
    await api('POST', `${address}/${encodeURIComponent(station.id)}/revoke`);
    if (made?.id === station.id) setMade(null);
    reload();
  };
  return (
    <section>
      <div class="heading">
        <h2>Stations</h2>
        <button type="button" class="button" onClick={() => setDialog('pair')}>
          Pair a device…
        </button>
      </div>
      {trouble !== null && <p class="alert">{trouble}</p>}
      {made !== null && <Pairing made={made} gates={gates} onDone={() => setMade(null)} />}
      {value !== null && <StationTable stations={value.stations} onRevoke={setDialog} />}
      {dialog === 'pair' && (
        <Confirmation
          title="Pair a device"
          action="Make its code"
          hasNote={false}
          act={pair}
          onClose={() => setDialog(null)}
        >
          <PairingFields doors={doors} date={performance.name} />
        </Confirmation>
      )}
      {dialog !== null && dialog !== 'pair' && (
        <Confirmation
          title={`Revoke ${dialog.name}?`}
          action="Revoke it"
          isGrave
          hasNote={false}
          act={() => revoke(dialog)}
          onClose={() => setDialog(null)}
        >
          <p>It scans no more from now on. What it has not sent yet it keeps, and sends once it is paired anew.</p>
        </Confirmation>
      )}
    </section>
  );
}

function PairingFields({ doors, date }: Pick<StationsProps, 'doors'> & { readonly date: string }) {
  const [kind, setKind] = useState<MadeStation['kind']>('STATION');
  return (
    <>
      <label class="field">
        Name
        <input name="name" type="text" required maxLength={100} placeholder="North 1" autocomplete="off" />
      </label>
      <Choice label="Door" name="door" options={doors} none="Every door" />
      <label class="field">
        Kind
        <select name="kind" onChange={({ currentTarget }) => setKind(currentTarget.value as MadeStation['kind'])}>
          <option value="STATION">A device that scans</option>
          <option value="GATE">A hall’s own machine (holdfast gate)</option>
        </select>
      </label>
      {kind === 'GATE' && (
        <label class="field">
          Its address in the hall, if phones are paired there
          <input
            name="gate_url"
            type="url"
            maxLength={500}
            placeholder="https://gate.hall.example"
            autocomplete="off"
          />
        </label>
      )}
      <label class="check">
        <input type="checkbox" name="date" />
        For {date} alone
      </label>
    </>
  );
}

interface PairingProps {
  readonly made: MadeStation;
  /** The gates, at which stations of a hall are paired too. */
  readonly gates: readonly Station[];
  readonly onDone: () => void;
}

/** The code of a station that was made just now: no later answer has it. */
function Pairing({ made, gates, onDone }: PairingProps) {
  const isGate = made.kind === 'GATE';
  const at = gates.map(({ name, gate_url: url }) => ({
    where: `at the gate ${name}`,
    url: `${url}/door#${made.token}`,
  }));
  const addresses = isGate ? [] : [{ where: 'at the service', url: made.pairing_url }, ...at];
  return (
    <div class="card pairing" role="status">
      <div>
        <h3>{made.name}</h3>
        <p>
          {isGate
            ? 'Write this token into the file that --token-file of holdfast gate names. '
            : 'Scan this code with the device, or open the address there. '}
          It is shown this once; whoever has it can scan.
        </p>
        {isGate && (
          <p>
            <code>{made.token}</code>
          </p>
        )}
      </div>
      {addresses.map(({ where, url }) => (
        <PairingCode key={url} name={gates.length === 0 ? made.name : `${made.name} ${where}`} url={url} />
      ))}
      <div class="actions">
        <button type="button" class="button" onClick={onDone}>
          Done
        </button>
      </div>
    </div>
  );
}

function PairingCode({ name, url }: { readonly name: string; readonly url: string }) {
  const { size, path } = qrPath(url);
  return (
    <figure>
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={`Pairs ${name}`} shape-rendering="crispEdges">
        <path fill="#000" d={path} />
      </svg>
      <figcaption>
        {name}: <code>{url}</code>
      </figcaption>
    </figure>
  );
}

interface StationTableProps {
  readonly stations: readonly Station[];
  readonly onRevoke: (station: Station) => void;
}

/** Those that may scan first. */
function StationTable({ stations, onRevoke }: StationTableProps) {
  if (stations.length === 0) return <p class="quiet empty">No device is paired.</p>;
  const shown = stations.toSorted((one, other) => Number(other.status === 'LIVE') - Number(one.status === 'LIVE'));
  return (
    <Table
      label="Stations"
      columns={[['Name'], ['Status'], ['Last seen', 'wide-only'], ['Waiting', 'wide-only'], ['']]}
    >
      {shown.map((station) => (
        <tr key={station.id} data-station={station.id}>
          <td>
            {station.name} {station.kind === 'GATE' && <span class="quiet small">gate</span>}
          </td>
          <td>
            <StatusTag status={station.status} />
          </td>
          <td class="stamp wide-only">
            {station.last_seen_at === null ? 'not yet' : moment(station.last_seen_at, 'medium')}
          </td>
          <td class="wide-only">{station.queued === null ? '' : countOf(station.queued, 'scan')}</td>
          <td>
            {station.status === 'LIVE' && (
              <button type="button" class="button plain irrevocable" onClick={() => onRevoke(station)}>
                Revoke…
              </button>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
