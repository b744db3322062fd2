/** Says when the sale of an event begins that has not begun, and counts down to it. */
import { useEffect } from 'preact/hooks';
import type { EventPayload, SellingStage } from '#client/bodies.ts';
import { dayAndHour, texts, zoneNote } from '../app/language.ts';
import { Countdown } from '../parts/controls.tsx';
import { useServiceNow } from '../app/service.ts';

interface SaleStartProps {
  readonly event: EventPayload;
  /** What is on sale has to be read again. */
  readonly onStart: () => void;
}

/** The event is read again this long after the start, when the service's clock is surely past it. */
const GRACE_MS = 500;

export function SaleStart({ event, onStart }: SaleStartProps) {
  const now = useServiceNow();
  const next = nextStage(event, now - GRACE_MS);
  const hasStarted = next !== null && Date.parse(next.starts_at!) + GRACE_MS <= now;
  useEffect(() => {
    if (hasStarted) onStart();
  }, [hasStarted]);
  if (next === null) return null;
  const zone = zoneNote(next.starts_at!, event.timezone);
  return (
    <section class="sale-start">
      <h2>
        {texts.event.saleFrom(next.name, dayAndHour(next.starts_at!, event.timezone))}
        {zone !== null && <span class="quiet small"> {zone}</span>}
      </h2>
      <Countdown until={next.starts_at!} label={texts.event.saleIn} />
      <p class="quiet small">{texts.event.saleNote}</p>
    </section>
  );
}

/** The stage that opens next, where none is open. */
export function nextStage({ sellingStages }: EventPayload, now: number): SellingStage | null {
  if (sellingStages.some(({ on_sale: onSale }) => onSale)) return null;
  const coming = sellingStages.filter(({ starts_at: start }) => start !== null && Date.parse(start) > now);
  return coming.toSorted((a, b) => Date.parse(a.starts_at!) - Date.parse(b.starts_at!))[0] ?? null;
}
