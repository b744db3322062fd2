/**
 * How an order is paid, in the checkout form: a code, which is applied before the buyer commits to anything, and
 * installments.
 */
import { useState } from 'preact/hooks';
import type { EventPayload } from '#client/bodies.ts';
import { money, texts } from '../app/language.ts';
import { described, Problem, type FieldsProps, type FormValues } from './fields.tsx';

const words = texts.checkout;

/** The code that was applied; what is typed is another field. */
const APPLIED_FIELD = 'applied-promo';

export const appliedCode = (values: FormValues): string | null => values[APPLIED_FIELD] || null;

/** Whether a code is typed that was not applied: the amount on the button does not know it. */
export function hasUnappliedCode(values: FormValues): boolean {
  return (values['promo'] ?? '').trim() !== (appliedCode(values) ?? '');
}

/** The values with another code applied, or none. */
export function withCode(values: FormValues, code: string | null): FormValues {
  return { ...values, promo: code ?? '', [APPLIED_FIELD]: code ?? '' };
}

interface CodeFieldProps extends FieldsProps {
  readonly currency: string;
  /** What the applied code takes off. */
  readonly discount: number;
  /** Applies what is typed, or removes what was applied. */
  readonly onApply: (code: string | null) => Promise<void>;
}

/** A promo or discount code with its button. */
export function CodeField({ values, set, problems, currency, discount, onApply }: CodeFieldProps) {
  const [isBusy, setBusy] = useState(false);
  const code = appliedCode(values);
  const typed = (values['promo'] ?? '').trim();
  const apply = async (wanted: string | null): Promise<void> => {
    setBusy(true);
    await onApply(wanted);
    setBusy(false);
  };
  const problem = problems['promo'];
  return (
    <div class="field">
      <label for="field-promo">
        {words.code} <span class="quiet">{words.optional}</span>
      </label>
      <div class="with-button">
        <input
          id="field-promo"
          name="promo"
          autocomplete="off"
          autocapitalize="characters"
          maxLength={128}
          value={values['promo'] ?? ''}
          onInput={(input) => set('promo', input.currentTarget.value)}
          onKeyDown={(press) => {
            if (press.key !== 'Enter' || typed === '') return;
            press.preventDefault();
            void apply(typed);
          }}
          {...described('promo', problem)}
        />
        {code !== null && !hasUnappliedCode(values) ? (
          <button type="button" class="button" disabled={isBusy} onClick={() => void apply(null)}>
            {words.remove}
          </button>
        ) : (
          <button type="button" class="button" disabled={isBusy || typed === ''} onClick={() => void apply(typed)}>
            {words.apply}
          </button>
        )}
      </div>
      <Problem name="promo" problem={problem} />
      <p class="small applied" role="status">
        {code !== null && !hasUnappliedCode(values) && words.codeTakes(code, money(discount, currency))}
      </p>
    </div>
  );
}

/** The parts of a total: equal except for a cent, the larger ones first. */
export function installmentsOf(total: number, parts: number): readonly number[] {
  const count = Math.max(1, Math.min(parts, total));
  const [least, larger] = [Math.floor(total / count), total % count];
  return Array.from({ length: count }, (_, index) => least + (index < larger ? 1 : 0));
}

/** The installments that are chosen, as far as the event still allows them. */
export function chosenParts(event: EventPayload, values: FormValues): number {
  return Math.min(Number(values['installments'] ?? 1), event.max_installments);
}

interface InstallmentsProps extends Omit<FieldsProps, 'problems'> {
  readonly event: EventPayload;
  readonly total: number;
}

/** The number of installments, where the event allows more than one, with what is due when. */
export function Installments({ event, total, values, set }: InstallmentsProps) {
  if (event.max_installments < 2 || total === 0) return null;
  const chosen = chosenParts(event, values);
  return (
    <div class="ways" role="radiogroup" aria-labelledby="ways-to-pay">
      <p id="ways-to-pay" class="field-name">
        {words.howToPay}
      </p>
      {Array.from({ length: event.max_installments }, (_, index) => index + 1).map((parts) => {
        const [first = '', ...later] = installmentsOf(total, parts).map((amount) => money(amount, event.currency));
        return (
          <label class={`way${parts === chosen ? ' chosen' : ''}`}>
            <input
              type="radio"
              name="installments"
              value={String(parts)}
              checked={parts === chosen}
              onChange={() => set('installments', String(parts))}
            />
            <span>
              <b>{parts === 1 ? words.allAtOnce : words.inParts(parts)}</b>
              <span class="quiet small">{parts === 1 ? words.now(first) : scheduleOf(first, later)}</span>
            </span>
          </label>
        );
      })}
      {chosen > 1 && <p class="quiet small">{words.partsNote}</p>}
    </div>
  );
}

/** "€18 now, then €18 and €18": what is due when. */
function scheduleOf(first: string, later: readonly string[]): string {
  const isEven = later.every((amount) => amount === later[0]);
  return words.schedule(first, isEven && later.length > 1 ? [`${later.length} × ${later[0]}`] : later);
}
