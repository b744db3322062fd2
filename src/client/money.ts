/**
 * Amounts of the API and the units of currencies: integers in the minor unit, which ISO 4217 defines for each currency.
 *
 * Owns the only table of minor units. `Intl` has another one, of what people write in everyday life: it comes with the
 * release of the browser or of Node, and has 0 decimals where ISO 4217 has 2 or 3 (rupiah, Iraqi dinar). A price must
 * not depend on the program that shows it.
 */

/** Decimal places of the minor unit where they are not two (ISO 4217, list one, with its fund codes). */
const PLACES: Readonly<Record<string, number>> = {
  ...placesOf(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...placesOf(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...placesOf(4, 'CLF UYW'),
};

function placesOf(places: number, currencies: string): Record<string, number> {
  return Object.fromEntries(currencies.split(' ').map((currency) => [currency, places]));
}

/** How many decimal places an amount of the currency has: 2 for euros, 0 for yen, 3 for Kuwaiti dinars. */
export function decimalPlaces(currency: string): number {
  return PLACES[currency] ?? 2;
}

/**
 * An amount in the currency's main unit, exactly and for programs: 4550 is "45.50" in EUR, "4550" in JPY, "4.550" in
 * KWD.
 */
export function decimalOf(amount: number, currency: string): string {
  const places = decimalPlaces(currency);
  const digits = String(Math.abs(amount)).padStart(places + 1, '0');
  const sign = amount < 0 ? '-' : '';
  const whole = digits.slice(0, digits.length - places);
  return places === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-places)}`;
}

interface MoneyStyle {
  /** Leaves out the decimals of a whole amount. */
  readonly short?: boolean;
}

/** An amount as people read it in a language: "€45.50", "¥4,550", "KWD 4.550". */
export function moneyText(
  amount: number,
  currency: string,
  language: string,
  { short = false }: MoneyStyle = {},
): string {
  const places = decimalPlaces(currency);
  const isWhole = amount % 10 ** places === 0;
  const shown = short && isWhole ? 0 : places;
  return formatOf(language, currency, shown).format(decimalOf(amount, currency) as Intl.StringNumericLiteral);
}

const formats = new Map<string, Intl.NumberFormat>();

/** Kept, because making one takes as long as some twenty uses and a plan names the prices of thousands of seats. */
function formatOf(language: string, currency: string, places: number): Intl.NumberFormat {
  const key = `${language} ${currency} ${places}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const style = { style: 'currency', currency, minimumFractionDigits: places, maximumFractionDigits: places } as const;
  const format = new Intl.NumberFormat(language, style);
  formats.set(key, format);
  return format;
}

/** What somebody wrote, such as "12.50" or "12,5", in the minor unit; null when it is no amount of the currency. */
export function readAmount(text: string, currency: string): number | null {
  const [, whole = '', decimals = ''] = /^(\d{1,14})(?:[.,](\d+))?$/.exec(text.trim()) ?? [];
  const places = decimalPlaces(currency);
  if (whole === '' || decimals.length > places) return null;
  return Number(whole + decimals.padEnd(places, '0'));
}
