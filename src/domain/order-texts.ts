/**
 * The texts of a checkout that an order only keeps and shows.
 *
 * Each entry here is a field of the request, the command, the fact, the state, an operator's answers, both exports, the
 * journal's page and the report about a person. In JSON its name is snake_case.
 *
 * 1. Such a text never prevents a sale: one that is too long is cut.
 * 2. Facts that were kept before a text existed lack it; readers take that as null.
 */

interface OrderText {
  /** Characters that are kept. */
  readonly lengthMax: number;
  /** What it is, for the reference; nothing where the name says it. */
  readonly about?: string;
}

const ORDER_TEXTS = {
  // As long as the ids of the catalogue.
  promoterCode: { lengthMax: 128 },
  referralCode: { lengthMax: 128 },
} as const satisfies Readonly<Record<string, OrderText>>;

export type OrderTextName = keyof typeof ORDER_TEXTS;

const NAMED_TEXTS = Object.entries(ORDER_TEXTS) as readonly [OrderTextName, OrderText][];

export type OrderTexts = { readonly [Name in OrderTextName]?: string | null };

/** Something made for each text, by its name. */
export function forOrderTexts<Made>(make: (name: OrderTextName, text: OrderText) => Made): Record<OrderTextName, Made> {
  const made: Partial<Record<OrderTextName, Made>> = {};
  for (const [name, text] of NAMED_TEXTS) made[name] = make(name, text);
  return made as Record<OrderTextName, Made>;
}
