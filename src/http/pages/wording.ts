/** Cents as people read them. */
export function printMoney(cents: number, currency: string): string {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).format(cents / 100);
}

/** A moment as people at the event's place read it. */
export function printWhen(moment: number, timeZone: string): string {
  const form = { weekday: 'short', day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' };
  return new Intl.DateTimeFormat('en-GB', { ...(form as Intl.DateTimeFormatOptions), timeZone }).format(moment);
}
