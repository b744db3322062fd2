/** The value-added tax in an amount, where the event names its rate. */
import type { EventPayload } from '#client/bodies.ts';
import { money } from '../format.ts';
import { texts } from '../language.ts';

export function VatLine({ event, total }: { readonly event: EventPayload; readonly total: number }) {
  const percent = event.legal?.vat_percent ?? null;
  if (percent === null || total === 0) return null;
  const vat = Math.round((total * percent) / (100 + percent));
  return <p class="vat small quiet">{texts.basket.vat(percent, money(vat, event.currency))}</p>;
}
