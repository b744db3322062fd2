/**
 * Renders the bodies of the API as TypeScript, from the schemas that check and document them: for the client, for
 * stations and gates, and for the console. `npm run render` writes all files anew.
 *
 *  1. A schema with a name in a table becomes a type of that name, and is named wherever it is a part of another one.
 *  2. A type that is another one with more fields extends it, as `BASES` says.
 *  3. A description becomes a comment. Formats and limits are the service's to check and are left out.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import type { TSchema } from 'typebox';
import { CheckoutItem, Quote, StartCheckout, StartedCheckout } from '#http/buyers/checkout/schema.ts';
import * as events from '#http/buyers/events/schema.ts';
import { CreateHold, Hold, HoldItem, HoldItemInput } from '#http/buyers/holds.ts';
import { Amendment, AmendmentQuoteBody, RequestFields } from '#http/buyers/orders/amendments.ts';
import { OrderStatus, Ticket } from '#http/buyers/orders/schema.ts';
import { Draw, QueueEntry } from '#http/buyers/queue.ts';
import { Occupancy, Seat, SeatChange, Seating } from '#http/buyers/seating.ts';
import { RevokedTickets, TicketKeys } from '#http/buyers/tickets.ts';
import { LiveChange, LiveSnapshot } from '#http/live/schema.ts';
import { Cancellation } from '#http/operators/cancellation.ts';
import { Cluster } from '#http/operators/cluster.ts';
import { Overview } from '#http/operators/console.ts';
import { JournalPage } from '#http/operators/journal.ts';
import { EventMoney, MoneyList, MoneySums } from '#http/operators/money.ts';
import { ServiceHistory } from '#http/operators/history.ts';
import { SaleByMinute } from '#http/operators/sale.ts';
import { Admission, Scan, ScannedTicket, ScanResult } from '#http/doors/scans.ts';
import { Head, StationSync } from '#http/doors/sync.ts';
import { DateCounts, DoorCounts, ScanConflicts } from '#http/operators/doors.ts';
import { MadeStation, Station } from '#http/operators/stations.ts';
import { AdminOrder, AdminOrderList, AdminTicket, TicketScan } from '#http/operators/orders/schema.ts';
import { RefundList } from '#http/operators/refunds.ts';
import { SteeringFields } from '#http/operators/steering.ts';
import { FoundOrders } from '#http/operators/search.ts';
import { Cents } from '#http/protocol/fields.ts';

interface Schema {
  readonly $id?: string;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
}

type Bodies = Readonly<Record<string, TSchema>>;

/** The schema of a part, by the names of fields from the body down to it; lists are passed through. */
function part(body: TSchema, ...path: readonly string[]): TSchema {
  const { items, properties } = body as Schema;
  if (items !== undefined) return part(items, ...path);
  const [name, ...further] = path;
  return name === undefined ? body : part(properties![name]!, ...further);
}

/** What the client sends: it adds the session key by itself. */
function withoutSessionKey(body: TSchema): TSchema {
  const { properties, required = [], ...schema } = body as Schema;
  const { session_key: _, ...others } = properties!;
  return { ...schema, properties: others, required: required.filter((name) => name !== 'session_key') };
}

/** One of the forms of a body whose other forms have other fields. */
function formOf(body: TSchema, ...names: readonly string[]): TSchema {
  const { properties, $id: _, description: __, ...schema } = body as Schema;
  const fields = Object.entries(properties!).filter(([name]) => names.includes(name));
  return { ...schema, properties: Object.fromEntries(fields), required: names };
}

const occupancyNames = ['event_id', 'performance_id', 'version'];
const FullOccupancy = formOf(Occupancy, ...occupancyNames, 'available', 'held', 'sold', 'blocked');
const OccupancyChanges = formOf(Occupancy, ...occupancyNames, 'since', 'changes');

const CLIENT: Bodies = {
  QueueStatus: part(QueueEntry, 'status'),
  OrderState: part(OrderStatus, 'status'),
  SeatState: part(Seat, 'state'),
  EventListEntry: events.EventListEntry,
  EventList: events.EventList,
  Performance: events.Performance,
  SaleSteering: events.SaleSteering,
  Locality: part(events.EventPayload, 'localities'),
  BarPerk: part(events.TicketType, 'barPerks'),
  TicketType: events.TicketType,
  SellingStage: events.SellingStage,
  TicketAvailability: events.TicketAvailability,
  EventBrand: events.EventBrand,
  Legal: part(events.EventPayload, 'legal'),
  Venue: part(events.EventPayload, 'venue'),
  LineupItem: part(events.EventPayload, 'lineup'),
  ChangeTerms: part(events.EventPayload, 'buyer_changes', 'cancel'),
  EventPayload: events.EventPayload,
  PlannedSeat: part(Seating, 'localities', 'sections', 'rows', 'seats'),
  SeatRow: part(Seating, 'localities', 'sections', 'rows'),
  SeatSection: part(Seating, 'localities', 'sections'),
  SeatedLocality: part(Seating, 'localities'),
  Seating,
  SeatChange,
  FullOccupancy,
  OccupancyChanges,
  Occupancy: { anyOf: [FullOccupancy, OccupancyChanges], description: (Occupancy as Schema).description },
  Seat,
  LiveSnapshot,
  LiveChange,
  HoldItemRequest: HoldItemInput,
  HoldRequest: withoutSessionKey(CreateHold),
  HoldItem,
  Hold,
  QueueEntry,
  Draw,
  Attendee: part(CheckoutItem, 'attendees'),
  CheckoutItem,
  CheckoutRequest: withoutSessionKey(StartCheckout),
  Quote,
  StartedCheckout,
  TicketHolder: part(Ticket, 'attendee'),
  Ticket,
  AmendmentRequest: RequestFields,
  AmendmentQuote: AmendmentQuoteBody,
  Amendment,
  Payment: part(OrderStatus, 'payments'),
  Order: OrderStatus,
  TicketKey: part(TicketKeys, 'keys'),
  TicketKeys,
  VoidTickets: RevokedTickets,
};

const DOORS: Bodies = {
  Verdict: part(ScanResult, 'verdict'),
  SentScan: Scan,
  ScannedTicket,
  Admission,
  ScanResult,
  PairedStation: part(Head, 'station'),
  StationOfGate: part(Head, 'stations'),
  StationHead: Head,
  FeedChange: part(StationSync, 'changes'),
  StationConflict: part(StationSync, 'conflicts'),
  StationSync,
  Station,
  DateCounts,
  DoorCounts,
};

const refund = part(RefundList, 'refunds');
const refundNames = Object.keys((refund as Schema).properties!).filter((name) => name !== 'order_id');

const OverviewPerformance = part(Overview, 'events', 'performances');

const CONSOLE: Bodies = {
  Stock: formOf(OverviewPerformance, 'capacity', 'available', 'held', 'sold', 'blocked'),
  OverviewPerformance,
  WaitingRoom: part(Overview, 'events', 'waiting_room'),
  MoneySums,
  HourSums: part(EventMoney, 'hours'),
  EventMoney,
  MoneyList,
  SaleMoney: part(SaleByMinute, 'totals', 'money'),
  SaleTotals: part(SaleByMinute, 'totals'),
  SalePoint: part(SaleByMinute, 'points'),
  SaleByMinute,
  HistoryMinute: part(ServiceHistory, 'minutes'),
  ServiceHistory,
  AmountDue: part(AdminOrder, 'refunds_due'),
  Cancellation,
  CountedAmount: part(RefundList, 'due'),
  Refund: formOf(refund, ...refundNames),
  ListedRefund: refund,
  RefundList,
  Steering: SteeringFields,
  OverviewEvent: part(Overview, 'events'),
  ServiceState: part(Overview, 'service'),
  Overview,
  OrderedItem: part(AdminOrder, 'items'),
  OrderPayment: part(AdminOrder, 'payments'),
  OrderRefund: part(AdminOrder, 'refunds'),
  OrderAmendment: part(AdminOrder, 'amendments'),
  VoidTicket: part(AdminOrder, 'void_tickets'),
  AdminOrder,
  Fact: part(JournalPage, 'facts'),
  JournalPage,
  ClusterNode: part(Cluster, 'nodes'),
  ClusterShard: part(Cluster, 'shards'),
  Takeover: part(Cluster, 'takeovers'),
  Cluster,
  OrderPage: AdminOrderList,
  TicketScan,
  AdminTicket,
  ConflictingScan: part(ScanConflicts, 'conflicts', 'second'),
  ScanConflicts,
  MadeStation,
  FoundOrders,
};

const BASES: Readonly<Record<string, string>> = {
  Seat: 'PlannedSeat',
  StationOfGate: 'PairedStation',
  Station: 'PairedStation',
  CheckoutItem: 'HoldItemRequest',
  OverviewPerformance: 'Stock',
  SalePoint: 'SaleTotals',
  ListedRefund: 'Refund',
  OrderRefund: 'Refund',
  AdminOrder: 'Order',
  OrderAmendment: 'Amendment',
  OrderPayment: 'Payment',
  VoidTicket: 'Ticket',
  AdminTicket: 'Ticket',
};

const RENDERED = '`npm run render` writes this file from the schemas of `src/http`.';

/** The text of each file, by its path. */
export async function renderBodies(): Promise<Readonly<Record<string, string>>> {
  const client = render(
    `The bodies of the public API as a client reads and sends them, in the API's own names: ${RENDERED} Times are RFC 3339 in UTC, money is integers in the minor unit of a currency (ISO 4217): cents of EUR, yen of JPY, fils of KWD.`,
    CLIENT,
  );
  const operators = render(`What the operators' API answers, as far as the console shows it: ${RENDERED}`, CONSOLE, {
    '#client/bodies.ts': CLIENT,
    '#client/doors/wire.ts': DOORS,
  });
  const doors = render(
    `What stations and gates send to \`/api/doors\` and are answered there, and what operators are told of it: ${RENDERED} Times are RFC 3339 in UTC.`,
    DOORS,
    { '../bodies.ts': CLIENT },
  );
  return {
    'src/client/bodies.ts': await formatted(client),
    'src/client/doors/wire.ts': await formatted(doors),
    'src/web/console/app/bodies.ts': await formatted(operators),
  };
}

async function formatted(code: string): Promise<string> {
  const path = fileAt('src/client/bodies.ts');
  return format(code, { ...(await resolveConfig(path)), filepath: path });
}

function render(header: string, bodies: Bodies, imported: Readonly<Record<string, Bodies>> = {}): string {
  const used = Object.entries(imported).map(([from, table]) => ({ from, table, names: new Set<string>() }));
  const nameOf = (schema: Schema): string | undefined => {
    const sameIn = (table: Bodies) => Object.keys(table).find((name) => isSame(table[name] as Schema, schema));
    const own = sameIn(bodies);
    if (own !== undefined) return own;
    for (const { table, names } of used) {
      const other = sameIn(table);
      if (other === undefined) continue;
      names.add(other);
      return other;
    }
    return undefined;
  };
  const bodyNamed = (name: string): Schema => {
    if (name in bodies) return bodies[name]!;
    const { table, names } = used.find((each) => name in each.table)!;
    names.add(name);
    return table[name]!;
  };
  const types = Object.entries(bodies).map(([name, body]) => {
    const schema = body as Schema;
    // What is said of a part stands where the part is.
    const about = schema.$id === undefined && schema.anyOf === undefined ? '' : commentOf(schema);
    if (schema.properties === undefined) return `${about}export type ${name} = ${inline(schema, nameOf)};\n`;
    const base = BASES[name];
    const extended = base === undefined ? '' : ` extends ${base}`;
    const properties = base === undefined ? schema.properties : ownFields(schema, bodyNamed(base));
    return `${about}export interface ${name}${extended} ${inline({ ...schema, properties, type: 'object' }, nameOf)}\n`;
  });
  const imports = used
    .filter(({ names }) => names.size > 0)
    .map(({ from, names }) => `import type { ${[...names].sort().join(', ')} } from '${from}';\n`)
    .join('');
  return [comment(header), imports, ...types].join('\n');
}

/** The fields of a schema that its base has not, or not alike. */
function ownFields(schema: Schema, base: Schema): Readonly<Record<string, Schema>> {
  const lacking = Object.keys(base.properties!).filter((name) => !(name in schema.properties!));
  if (lacking.length > 0) throw new Error(`a type that extends another one lacks its fields ${lacking.join(', ')}`);
  const isRequired = ({ required = [] }: Schema, name: string): boolean => required.includes(name);
  const isAlike = (name: string, field: Schema): boolean =>
    JSON.stringify(base.properties?.[name]) === JSON.stringify(field) &&
    isRequired(schema, name) === isRequired(base, name);
  return Object.fromEntries(Object.entries(schema.properties!).filter(([name, field]) => !isAlike(name, field)));
}

/** Whether a schema is another one, whatever is said about it and whether it may be null. */
function isSame(one: Schema, other: Schema): boolean {
  if (other.$ref !== undefined) return `${one.$id}#` === other.$ref;
  return one.$ref === undefined && keyOf(one) === keyOf(other);
}

function keyOf({
  description: _,
  examples: __,
  $id: ___,
  type,
  enum: values,
  ...schema
}: Schema & { examples?: unknown }): string {
  const types = [type].flat().filter((each) => each !== 'null');
  return JSON.stringify({ ...schema, types, values: values?.filter((value) => value !== null) });
}

/** A schema as a type, by name where it has one. */
function typeOf(schema: Schema, nameOf: (schema: Schema) => string | undefined): string {
  const { $ref, properties, prefixItems, enum: values } = schema;
  const isNamed = [$ref, properties, prefixItems, values].some((each) => each !== undefined);
  const name = isNamed ? nameOf(schema) : undefined;
  if (name === undefined) return inline(schema, nameOf);
  return [schema.type].flat().includes('null') ? `${name} | null` : name;
}

function inline(schema: Schema, nameOf: (schema: Schema) => string | undefined): string {
  if (schema.$ref !== undefined) throw new Error(`${schema.$ref} has no name in the table`);
  if (schema.anyOf !== undefined) return schema.anyOf.map((each) => typeOf(each, nameOf)).join(' | ');
  if (schema.enum !== undefined) {
    const values = new Set([...schema.enum, ...([schema.type].flat().includes('null') ? [null] : [])]);
    return [...values].map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ');
  }
  if (schema.type === undefined) return 'unknown';
  return [schema.type]
    .flat()
    .map((type) => ofType(type, schema, nameOf))
    .join(' | ');
}

function ofType(type: string, schema: Schema, nameOf: (schema: Schema) => string | undefined): string {
  if (type === 'integer') return 'number';
  if (schema.prefixItems !== undefined) {
    return `readonly [${schema.prefixItems.map((each) => typeOf(each, nameOf)).join(', ')}]`;
  }
  if (type === 'array') return `readonly (${typeOf(schema.items!, nameOf)})[]`;
  if (type !== 'object') return type;
  const { properties, required = [], additionalProperties } = schema;
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, nameOf) : 'unknown';
    return `Readonly<Record<string, ${values}>>`;
  }
  const fields = Object.entries(properties).map(([name, field]) => {
    const optional = required.includes(name) ? '' : '?';
    return `${commentOf(field)}readonly ${name}${optional}: ${typeOf(field, nameOf)};\n`;
  });
  // An object without comments is one line where it fits.
  return `{${fields.some((field) => field.startsWith('/**')) ? '\n' : ' '}${fields.join('')}}`;
}

/** What money is, the head of the file says once. */
function commentOf({ description }: Schema): string {
  return description === undefined || description === (Cents as Schema).description ? '' : comment(description);
}

/** A comment of lines that keep within the width of all comments, wherever it is indented. */
function comment(text: string): string {
  const lines = text.match(/.{1,104}(?: |$)/g)!.map((line) => line.trim());
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}

function fileAt(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await renderBodies())) writeFileSync(fileAt(path), text);
}
