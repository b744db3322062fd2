/** Selling at a counter: the dialog that makes an order, paid in cash or given away. */
import { useState } from 'preact/hooks';
import { addressOf, usePolled } from '../app/api.ts';
import type { AdminOrder } from '../app/bodies.ts';
import { countOf, money } from '../app/format.ts';
import { linkTo } from '../app/router.ts';
import { Confirmation, type EventDialogProps } from './confirmation.tsx';
import { Choice, textIn } from './fields.tsx';

/** What of a definition the dialog offers. */
interface Definition {
  readonly currency: string;
  readonly performances: readonly { readonly id: string; readonly name: string; readonly status: string }[];
  readonly ticketTypes: readonly { readonly id: string; readonly name: string; readonly group_size?: number }[];
  readonly sellingStages: readonly {
    readonly id: string;
    readonly name: string;
    readonly prices: Readonly<Record<string, number>>;
  }[];
}

/** A type of ticket at its price in a stage. */
interface Offer {
  readonly key: string;
  readonly typeId: string;
  readonly stageId: string;
  readonly name: string;
  readonly cents: number;
}

interface Row {
  readonly id: number;
  readonly offer: string;
  readonly quantity: number;
}

export function Counter(props: EventDialogProps) {
  const { event, api, onClose } = props;
  const address = addressOf('events', event.id);
  const { value, trouble } = usePolled<{ readonly definition: Definition }>(address, () => api('GET', address), null);
  if (trouble !== null) {
    return (
      <p class="alert" role="alert">
        {trouble} <button onClick={onClose}>Close</button>
      </p>
    );
  }
  return value === null ? null : <CounterForm {...props} definition={value.definition} />;
}

function offersOf({ ticketTypes, sellingStages }: Definition): readonly Offer[] {
  return sellingStages.flatMap((stage) =>
    ticketTypes.flatMap(({ id, name }): Offer[] => {
      const cents = stage.prices[id];
      const inStage = sellingStages.length === 1 ? '' : `, ${stage.name}`;
      return cents === undefined
        ? []
        : [{ key: `${stage.id} ${id}`, typeId: id, stageId: stage.id, name: `${name}${inStage}`, cents }];
    }),
  );
}

interface FormProps extends EventDialogProps {
  readonly definition: Definition;
}

function CounterForm({ event, api, reload, onClose, definition }: FormProps) {
  const offers = offersOf(definition);
  const dates = definition.performances.filter(({ status }) => status !== 'DRAFT' && status !== 'CANCELLED');
  // Sent again after an answer that did not come, it makes no second order.
  const [key] = useState(() => crypto.randomUUID());
  const [rows, setRows] = useState<readonly Row[]>([{ id: 0, offer: offers[0]?.key ?? '', quantity: 1 }]);
  const [isGift, setGift] = useState(false);
  const offerOf = (row: Row): Offer | undefined => offers.find((offer) => offer.key === row.offer);
  const cents = rows.reduce((sum, row) => sum + row.quantity * (offerOf(row)?.cents ?? 0), 0);
  const units = rows.reduce((sum, row) => sum + row.quantity, 0);

  const sell = async (fields: FormData, note: string | null): Promise<void> => {
    const items = rows.map((row) => {
      const seats = textIn(fields, `seats ${row.id}`);
      return {
        ticket_type_id: offerOf(row)!.typeId,
        selling_stage_id: offerOf(row)!.stageId,
        quantity: row.quantity,
        performance_id: textIn(fields, 'date'),
        ...(seats !== null && { seat_ids: seats.split(/[\s,]+/) }),
      };
    });
    const body = {
      items,
      customer: { name: textIn(fields, 'name') ?? '', email: textIn(fields, 'email') ?? '' },
      payment: isGift ? 'FREE' : 'CASH',
      exceed_limits: fields.get('exceed') !== null,
      note,
    };
    const order = await api<AdminOrder>('POST', addressOf('events', event.id, 'orders'), body, key);
    reload();
    location.hash = linkTo('orders', order.order_id);
  };

  const action = isGift ? `Give ${countOf(units, 'unit')} away` : `Take ${money(cents, definition.currency)} and sell`;
  return (
    <Confirmation title={`Sell at the counter: ${event.name}`} action={action} act={sell} onClose={onClose}>
      <Choice label="Date" name="date" options={dates} />
      {rows.map((row) => (
        <ItemRow
          key={row.id}
          row={row}
          offers={offers}
          currency={definition.currency}
          change={(changed) => setRows(rows.map((each) => (each.id === row.id ? changed : each)))}
        />
      ))}
      <p>
        <button
          type="button"
          class="button plain"
          onClick={() => setRows([...rows, { id: rows.length, offer: offers[0]?.key ?? '', quantity: 1 }])}
        >
          Another kind of ticket
        </button>
      </p>
      <BuyerFields isGift={isGift} setGift={setGift} />
    </Confirmation>
  );
}

interface BuyerProps {
  readonly isGift: boolean;
  readonly setGift: (isGift: boolean) => void;
}

function BuyerFields({ isGift, setGift }: BuyerProps) {
  return (
    <>
      <label class="field">
        Name
        <input name="name" type="text" required maxLength={200} autocomplete="off" />
      </label>
      <label class="field">
        E-mail address
        <input name="email" type="email" required maxLength={254} autocomplete="off" />
      </label>
      <label class="check">
        <input type="checkbox" name="gift" checked={isGift} onChange={() => setGift(!isGift)} />
        Given away: nothing is paid
      </label>
      <label class="check">
        <input type="checkbox" name="exceed" />
        Over the limits of the event, where they stand in the way
      </label>
    </>
  );
}

interface ItemRowProps {
  readonly row: Row;
  readonly offers: readonly Offer[];
  readonly currency: string;
  readonly change: (row: Row) => void;
}

function ItemRow({ row, offers, currency, change }: ItemRowProps) {
  return (
    <div class="field-row">
      <label class="field">
        Ticket
        <select value={row.offer} onChange={({ currentTarget }) => change({ ...row, offer: currentTarget.value })}>
          {offers.map(({ key, name, cents }) => (
            <option key={key} value={key}>
              {name} · {money(cents, currency)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        Quantity
        <input
          type="number"
          min="1"
          step="1"
          required
          value={row.quantity}
          onInput={({ currentTarget }) => change({ ...row, quantity: Number(currentTarget.value) })}
        />
      </label>
      <label class="field">
        Seats <span class="quiet">or the best</span>
        <input name={`seats ${row.id}`} type="text" maxLength={2000} autocomplete="off" />
      </label>
    </div>
  );
}
