import { moneyText } from '#client/money.ts';

/** An amount as people read it. */
export function formatMoney(amount: number, currency: string): string {
  return moneyText(amount, currency, 'en');
}

/** A moment as people at the event's place read it. */
export function formatWhen(moment: number, timeZone: string): string {
  const form = { weekday: 'short', day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' };
  return new Intl.DateTimeFormat('en-GB', { ...(form as Intl.DateTimeFormatOptions), timeZone }).format(moment);
}
