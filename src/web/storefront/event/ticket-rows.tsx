/** Tickets of general admission: their price, what is left, and how many are selected. */
import type { EventPayload, TicketAvailability } from '#client/bodies.ts';
import { rowKey } from '#client/live.ts';
import { day, price, texts } from '../app/language.ts';
import { Stepper } from '../parts/controls.tsx';
import { serviceNow } from '../app/service.ts';
import { ticketTypeOf } from './selection.ts';

interface TicketRowsProps {
  readonly event: EventPayload;
  readonly rows: readonly TicketAvailability[];
  readonly units: Readonly<Record<string, number>>;
  readonly disabled: boolean;
  readonly onChange: (key: string, units: number) => void;
}

const FEW = 20;

export function TicketRows({ event, rows, units, disabled, onChange }: TicketRowsProps) {
  const general = new Set(event.localities.filter(({ seating }) => seating === 'GENERAL').map(({ id }) => id));
  const shown = rows.filter((row) => general.has(ticketTypeOf(event, row.ticket_type_id)?.locality_id ?? ''));
  if (shown.length === 0) return null;
  const stages = new Map(event.sellingStages.map((stage) => [stage.id, stage]));
  const severalStages = new Set(shown.map((row) => row.selling_stage_id)).size > 1;
  return (
    <ul class="ticket-rows">
      {shown.map((row) => {
        const type = ticketTypeOf(event, row.ticket_type_id)!;
        const stage = stages.get(row.selling_stage_id);
        const name = severalStages ? `${type.name}, ${stage?.name}` : type.name;
        const left = Math.floor(row.available / type.group_size);
        const value = units[rowKey(row)] ?? 0;
        return (
          <li class={row.on_sale && left > 0 ? 'ticket-row' : 'ticket-row off'}>
            <div class="ticket-what">
              <h2>
                {type.name} {severalStages && <span class="chip">{stage?.name}</span>}
              </h2>
              {type.description !== '' && <p class="quiet">{type.description}</p>}
              <p class="quiet small">
                {[...notes(event, row), stageNote(stage, event.timezone)].filter(Boolean).join(' · ')}
              </p>
            </div>
            <div class="ticket-price">
              <b>{price(row.price, event.currency)}</b>
              <span class={`small ${left > 0 && left <= FEW ? 'few' : 'quiet'}`}>{leftText(row, left)}</span>
            </div>
            <Stepper
              label={name}
              value={value}
              max={Math.max(value, Math.min(left, type.max_per_order ?? 100, 100))}
              disabled={disabled || !row.on_sale}
              onChange={(next) => onChange(rowKey(row), next)}
            />
          </li>
        );
      })}
    </ul>
  );
}

function notes(event: EventPayload, row: TicketAvailability): string[] {
  const type = ticketTypeOf(event, row.ticket_type_id)!;
  const many = event.localities.length > 1;
  const locality = event.localities.find(({ id }) => id === type.locality_id)?.name ?? '';
  return [
    many && locality !== type.name ? locality : '',
    type.group_size > 1 ? texts.notes.group(type.group_size) : '',
    type.entry_cutoff === null ? '' : texts.notes.entryUntil(type.entry_cutoff),
    type.late_fee === null ? '' : texts.notes.lateFee(price(type.late_fee, event.currency)),
    type.min_consumption === null ? '' : texts.notes.minConsumption(price(type.min_consumption, event.currency)),
    type.max_per_order === null ? '' : texts.notes.atMost(type.max_per_order),
  ];
}

function stageNote(stage: EventPayload['sellingStages'][number] | undefined, timezone: string): string {
  if (stage === undefined) return '';
  if (!stage.on_sale && stage.starts_at !== null && Date.parse(stage.starts_at) > serviceNow()) {
    return texts.notes.onSaleFrom(day(stage.starts_at, timezone));
  }
  return stage.on_sale && stage.ends_at !== null ? texts.notes.until(lastDay(stage.ends_at, timezone)) : '';
}

/** The last day of a span: an end at midnight belongs to the day before. */
function lastDay(end: string, timezone: string): string {
  return day(new Date(Date.parse(end) - 1).toISOString(), timezone);
}

function leftText(row: TicketAvailability, left: number): string {
  if (!row.on_sale) return texts.notes.notOnSale;
  if (left > FEW) return texts.notes.available;
  if (left > 0) return texts.notes.onlyLeft(left);
  return row.reserved > 0 ? texts.notes.inBaskets : texts.notes.soldOut;
}
