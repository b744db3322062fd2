/**
 * A storefront in a hundred lines, without a framework, as an example of how the client is used. Served at /example.
 */
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, Hold } from '#client/bodies.ts';
import { createClient } from '#client/client.ts';
import { moneyText } from '#client/money.ts';
import './example.css';

// The client makes a session key once and stores it, so that tickets stay held when the buyer comes back.
const client = createClient({ store: localStorage });
const main = document.querySelector('main')!;

/** An element with its properties and contents. */
function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  ...inside: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...inside);
  return element;
}

const button = (text: string, action: () => Promise<void>) =>
  make('button', { onclick: () => void action().catch(report) }, text);
const money = (amount: number, currency: string): string => moneyText(amount, currency, 'en');

/** Shows an error; programs match on `code`, and `detail` has more. */
function report(error: unknown): void {
  const text = isApiError(error) ? `${error.message} ${JSON.stringify(error.detail)}` : String(error);
  const alert = make('p', {}, text);
  alert.setAttribute('role', 'alert');
  main.append(alert);
}

async function showEvents(): Promise<void> {
  const { events } = await client.listEvents();
  const list = events.map((event) =>
    make(
      'p',
      {},
      button(event.name, () => showEvent(event.slug)),
    ),
  );
  main.replaceChildren(make('h2', {}, 'Events'), ...list);
}

async function showEvent(slug: string): Promise<void> {
  const first = await client.getEvent(slug);
  const performanceId = first.performances[0]!.id;
  const event = await client.getEvent(slug, { performanceId });
  const names = new Map(event.ticketTypes.map(({ id, name }) => [id, name]));
  const fields = event.ticketAvailability
    .filter((row) => row.on_sale)
    .map((row) => {
      const units = make('input', { type: 'number', min: '0', max: String(row.available), value: '0' });
      const text = `${names.get(row.ticket_type_id)} · ${money(row.price, event.currency)} · ${row.available} left`;
      return { row, units, label: make('label', {}, text, units) };
    });
  const hold = async (): Promise<void> => {
    // Seats are assigned by the service where none are named: the best ones side by side.
    const items = fields
      .filter(({ units }) => Number(units.value) > 0)
      .map(({ row, units }) => ({
        ticket_type_id: row.ticket_type_id,
        selling_stage_id: row.selling_stage_id,
        performance_id: performanceId,
        quantity: Number(units.value),
      }));
    showHold(event, await client.createHold({ event_id: event.id, items, queue_pass: await passOf(event) }));
  };
  main.replaceChildren(
    make('h2', {}, event.name),
    ...fields.map(({ label }) => label),
    button('Hold', hold),
    button('Back', showEvents),
  );
}

/** The pass of an event with a waiting room; waits for it and shows the position. */
async function passOf(event: EventPayload): Promise<string | null> {
  if (!event.waiting_room) return null;
  const status = make('p', {}, 'In the waiting room …');
  main.append(status);
  const onEntry = ({ position }: { readonly position: number | null }): void => {
    status.textContent = position === null ? 'The waiting room is not open yet.' : `Number ${position} in line.`;
  };
  return (await client.waitForAdmission(event.id, { onEntry })).id;
}

function showHold(event: EventPayload, hold: Hold): void {
  const seats = hold.items.flatMap((item) => item.seat_labels);
  const clock = make('p', {});
  const timer = setInterval(() => {
    const seconds = Math.floor((Date.parse(hold.expires_at) - client.clock.now()) / 1000);
    clock.textContent = seconds > 0 ? `Held for another ${seconds} s.` : 'The tickets are back on sale.';
  }, 250);
  const email = make('input', { type: 'email', required: true, placeholder: 'you@example.com' });
  const buy = async (): Promise<void> => {
    const customer = { email: email.value, name: email.value.split('@')[0]! };
    const order = await client.startCheckout({ event_id: event.id, hold_id: hold.id, customer, accept_terms: true });
    location.assign(order.redirect_url);
  };
  const release = async (): Promise<void> => {
    clearInterval(timer);
    await client.releaseHold(hold.id);
    await showEvent(event.slug);
  };
  main.replaceChildren(
    make('h2', {}, 'Your tickets'),
    make('p', {}, `${hold.items.reduce((sum, item) => sum + item.ticket_count, 0)} tickets ${seats.join(', ')}`),
    clock,
    make('label', {}, 'E-mail', email),
    button('I accept the terms: buy', buy),
    button('Give back', release),
  );
}

showEvents().catch(report);
