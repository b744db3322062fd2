/**
 * What parameters of the OpenAPI document mean, where their schemas do not say it: most have one meaning wherever they
 * stand.
 */
const MEANINGS: Readonly<Record<string, string>> = {
  slug: 'The name of the event in addresses.',
  order_id: 'The order; whoever knows its id may read it.',
  checkout_session_id: 'The session that the start of a checkout opened.',
  amendment_id: 'The amendment, as the order lists it.',
  refund_id: 'The refund, as the order lists it.',
  reference: 'The reference of the refund, as the provider lists it.',
  provider: 'The name under which the provider stands, which its secret is for.',
  performance_id: 'The date.',
  queued: 'How many scans wait on the station.',
  station_id: 'The station, as the list has it.',
  event_id: 'The event.',
  limit: 'How many at most in one page.',
  cursor: 'The `next_cursor` of the page before.',
  offset: 'How many entries of the line come before the first that is listed.',
  since: 'The `version` of an earlier answer: only what changed since is listed, or everything where that is too old.',
  after: 'The last one of the page before.',
  before: 'Facts before this number alone.',
  status: 'Orders in this status alone.',
  note: 'Why; kept with what was done.',
};

/** What an `id` names, by the beginning of the path. */
const IDS: readonly (readonly [start: string, meaning: string])[] = [
  ['/api/checkout/holds/', 'The hold.'],
  ['/api/checkout/queue/', 'The place in line.'],
  ['/admin/events/', 'The event.'],
  ['/admin/orders/', 'The order.'],
  ['/admin/tickets/', 'The ticket.'],
];

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
}

/** The operation with a description at each of its parameters. */
export function withParameters<Operation extends { readonly parameters?: readonly Parameter[] }>(
  path: string,
  operation: Operation,
): Operation {
  const { parameters } = operation;
  if (parameters === undefined) return operation;
  const idMeaning = IDS.find(([start]) => path.startsWith(start))?.[1];
  return {
    ...operation,
    parameters: parameters.map((parameter) => {
      const { name, description = name === 'id' ? idMeaning : MEANINGS[name] } = parameter;
      return { ...parameter, ...(description !== undefined && { description }) };
    }),
  };
}
