/** Steering a sale while it runs: what is set, and the dialog that sets it. */
import { addressOf } from '../app/api.ts';
import type { OverviewEvent } from '../app/bodies.ts';
import { number } from '../app/format.ts';
import { Confirmation, type EventDialogProps } from './confirmation.tsx';
import { textIn } from './fields.tsx';

/** How a sale is steered, in one line; nothing where it is not steered. */
export function SteeringLine({ event: { steering } }: { readonly event: OverviewEvent }) {
  const { paused, waiting_room_rate: rate, message } = steering;
  const parts = [
    ...(paused ? ['Nothing more is held and nobody is admitted until the sale is resumed.'] : []),
    ...(rate === null ? [] : [`${number(rate)} people are admitted in a minute, at most.`]),
    ...(message === null ? [] : [`Buyers are told: “${message}”`]),
  ];
  if (parts.length === 0) return null;
  return (
    <p class={paused ? 'alert' : 'notice'} role="status">
      {paused && <b>The sale is paused. </b>}
      {parts.join(' ')}
    </p>
  );
}

export function Steering({ event, api, reload, onClose }: EventDialogProps) {
  const { paused, waiting_room_rate: rate, message } = event.steering;
  const steer = async (fields: FormData, note: string | null): Promise<void> => {
    const wantedRate = textIn(fields, 'rate');
    const body = {
      paused: fields.get('paused') !== null,
      message: textIn(fields, 'message'),
      ...(event.waiting_room !== null && { waiting_room_rate: wantedRate === null ? null : Number(wantedRate) }),
      note,
    };
    await api('PUT', addressOf('events', event.id, 'steering'), body);
    reload();
  };
  return (
    <Confirmation title={`Steer the sale of ${event.name}`} action="Set this" act={steer} onClose={onClose}>
      <label class="check">
        <input type="checkbox" name="paused" defaultChecked={paused} />
        Paused: nothing more is held and nobody is admitted; what buyers hold they can buy
      </label>
      {event.waiting_room !== null && (
        <label class="field">
          People admitted in a minute <span class="quiet">empty: as the event is defined</span>
          <input name="rate" type="number" min="1" step="1" defaultValue={rate ?? undefined} autocomplete="off" />
        </label>
      )}
      <label class="field">
        What buyers are told <span class="quiet">in the shop and in the waiting room; empty: nothing</span>
        <input name="message" type="text" maxLength={500} defaultValue={message ?? undefined} autocomplete="off" />
      </label>
    </Confirmation>
  );
}
