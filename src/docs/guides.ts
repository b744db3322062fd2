/**
 * The guides of the reference, as data: the first questions of storefront developers and operators, answered in order.
 *
 * The examples of a guide can be sent in its order: a later one takes its values from what an earlier one was answered.
 */
import type { Guide } from './guide.ts';
import { operating } from './operating.ts';
import { severalMachines } from './several-machines.ts';

const firstSale: Guide = {
  slug: 'first-sale',
  title: 'Five minutes to a first sale',
  lead: 'From an empty terminal to two valid tickets: list, hold, start a checkout, pay at the sandbox.',
  sections: [
    {
      title: 'List what is on sale',
      blocks: [
        { text: 'Start the service with `npm start`; it brings seven events to try. Then read what is on sale.' },
        { example: 'listEvents' },
        { example: 'getEvent' },
      ],
    },
    {
      title: 'Hold',
      blocks: [
        {
          text: 'A hold keeps tickets for one browser for some minutes. Your storefront makes the `session_key`: a secret of 8 to 128 characters. A session has one hold an event; placing again replaces it.',
        },
        {
          text: 'A hold over `max_per_order` or `max_tickets_per_order` is refused as a checkout would refuse it. PATCH and a new POST restart the hold’s time, but one session’s hold lasts four times `hold_minutes` at most (`hold_max_minutes`), counted from its first POST: then its tickets return to sale.',
        },
        { example: 'createHold' },
      ],
    },
    {
      title: 'Check out and pay',
      blocks: [
        {
          text: 'The checkout turns the hold into an order and answers where to pay. Send a header `Idempotency-Key` with it: a repeat after a broken connection then gets the same answer instead of a second order. Changes of a hold, further payments and the POSTs of the admin API take one as well.',
        },
        { example: 'startCheckout' },
        { text: 'Buyers go to `redirect_url`. Programs may report the result of the payment to the sandbox directly:' },
        { example: 'settleSandboxSession' },
        { example: 'getOrderStatus' },
        {
          text: 'The order is `CONFIRMED` and has its tickets, each with a signed `code` that a scanner checks offline.',
        },
      ],
    },
  ],
};

const seats: Guide = {
  slug: 'seats',
  title: 'Seats',
  lead: 'Numbered halls: draw the plan once, follow what changes, let people choose or let the service choose for them.',
  sections: [
    {
      title: 'The plan and its states',
      blocks: [
        {
          text: 'The layout changes only with the definition: keep it, and repeat the request with `If-None-Match`. Which seats are not free is a separate answer, in full or as the changes since a `version`.',
        },
        { example: 'getSeating' },
        { example: 'getOccupancy' },
        { example: 'getOccupancySince' },
      ],
    },
    {
      title: 'Live',
      blocks: [
        {
          text: 'Instead of polling, follow `GET /api/events/public/{slug}/live`: server-sent events, first a `snapshot`, then a `change` at most four times a second, less often when many listen. Browsers resume by themselves with `Last-Event-ID`. It is advisory, as the payload is: what counts is the answer to the hold.',
        },
        { example: 'watchDate' },
      ],
    },
    {
      title: 'The best seats',
      blocks: [
        {
          text: 'A suggestion reserves nothing. A hold without `seat_ids` gets the best seats side by side at the moment it is placed; with `seat_ids` it gets exactly those or `SEAT_TAKEN`, whose detail says which are gone.',
        },
        {
          text: 'Ticket types with `accessible` take accessible seats alone, named or not, and other types are never assigned one. Request a wheelchair place and the seats of companions together, both without `seat_ids`: the second item is placed beside the first, in the same row where that is possible.',
        },
        { example: 'suggestSeats' },
        { example: 'holdSeats' },
        {
          text: 'Change a hold with `PATCH /api/checkout/holds/{id}`: the seats it has count as its own, so that two seats become three without losing the first two. A refused change leaves the hold as it was.',
        },
      ],
    },
  ],
};

const waitingRoom: Guide = {
  slug: 'waiting-room',
  title: 'Waiting room',
  lead: 'When more people come than can be served: a queue, a steady pace, and a draw that anybody can check.',
  sections: [
    {
      title: 'Join, poll, buy',
      blocks: [
        {
          text: 'Events with `waiting_room` require a pass. Join once; poll about every `Retry-After` seconds. Whoever does not poll for two minutes (`waiting_room_inactivity_seconds`) leaves the queue. An admitted entry need not be polled: its id is the `queue_pass` of the hold and opens the sale until `pass_expires_at`. A checkout without a hold names the `session_key` as well: without it a pass is good for one order.',
        },
        { example: 'joinQueue' },
        { example: 'pollQueue' },
        { example: 'holdWithPass' },
      ],
    },
    {
      title: 'A draw that can be proved',
      blocks: [
        {
          text: 'Where a waiting room opens at a set time, all who joined before are drawn into a random order. Two secrets determine it. The seed is made with the waiting room; its hash, the `draw_commitment`, is on every entry and at `GET /api/events/public/{slug}/draw` from then on. The opening is made in the same turn that opens the waiting room and closes the list of those who take part. Both are shown afterwards, so that anybody can draw again and compare. In no minute are more people admitted than the event’s rate.',
        },
        {
          text: 'The rule, in bytes: h is the SHA-256 of an entry id, D the SHA-256 of all h sorted and joined, both as lower-case hex. K is HMAC-SHA-256 with the 32 bytes of the seed as key and the 32 bytes of the opening as message. The order is that of ascending HMAC-SHA-256 with K as key and the text D followed by h as message, written as hex. A draw that an older version recorded has no opening (`opening` is `null`); its K is the seed.',
        },
        { example: 'getDraw' },
        {
          text: '`holdfast draw verify ADDRESS --commitment HEX` checks the whole proof, the storefront’s page of the draw checks it in the browser, and the page at the address itself has a program of a few lines that needs Node alone.',
        },
      ],
    },
    {
      title: 'What the draw promises, and what it does not',
      blocks: [
        {
          text: 'Nobody can exchange the seed: keep the `draw_commitment` and compare it afterwards. Nobody can foresee the order, also whoever reads the data folder, a backup or every entry id before the opening, because the opening does not exist yet. When it exists, the list is closed: whoever joins in the millisecond of `waiting_room_opens_at` or later comes after everybody drawn, and whoever leaves during a large draw stays in the proof. When somebody joined makes no difference. Moving the time of the opening changes who takes part, not who comes before whom. A waiting room that is removed and made again has a new commitment and nobody in it, so that this is seen by everybody who waited.',
        },
        {
          text: 'Two things are not promised. Each entry has the same chance, and whoever has many sessions has many entries: a waiting room cannot recognize people. And whoever runs the machine could run a changed program, or turn the data folder back to before the opening and open it again until the order suits; the proof of such a draw is correct. Whoever took part can notice a draw that is held twice, since `opening` and `drawn_at` of the second differ from what the first showed.',
        },
      ],
    },
  ],
};

const payments: Guide = {
  slug: 'payments',
  title: 'Payments and late money',
  lead: 'What happens between the order and the money, and what happens to money that comes late.',
  sections: [
    {
      title: 'Time to pay',
      blocks: [
        {
          text: 'An order is `PENDING` until its time to pay ends (`expires_at`); its tickets are kept meanwhile. Paid in full it is `CONFIRMED`; with the first of several installments paid it is `PARTIALLY_PAID`, has its tickets and keeps them. When that time ends unpaid it is `EXPIRED` and everything returns to sale.',
        },
        {
          text: 'A declined payment closes only its session: `POST /api/checkout/orders/{order_id}/payments` opens a new one. A cancelled one cancels the pending order.',
        },
      ],
    },
    {
      title: 'Late money',
      blocks: [
        {
          text: 'Money can arrive after an order expired or was cancelled, for a session that was closed, or with a wrong amount. It is never lost and never ignored: it is recorded, and whatever the order cannot use is its `refund_due`. Give it back at your provider, then note it with `POST /admin/orders/{id}/refunds` or in the console.',
        },
      ],
    },
    {
      title: 'Webhooks',
      blocks: [
        {
          text: 'Providers send the result to `POST /api/payments/webhooks/{provider}`, signed as Standard Webhooks describes. A webhook may come twice, late or out of order; the order’s status decides what it changes, and a repeat changes nothing. When a provider cannot be reached the answer is `PAYMENT_PROVIDER_UNAVAILABLE`: the order stands, repeat the same request.',
        },
      ],
    },
  ],
};

const goingLive: Guide = {
  slug: 'going-live',
  title: 'Going live',
  lead: 'What to set, what to watch and what to try before the first real sale.',
  sections: [
    {
      title: 'Settings',
      blocks: [
        {
          text: 'Set `DATA_DIR` to a disk of your own, `BASE_URL` to the address that buyers see, `ADMIN_TOKEN` to a long secret (16 characters at least), and the secrets of your provider’s webhooks. Keep the operators’ listener (`ADMIN_HOST`, `ADMIN_PORT`) off the open internet.',
        },
        {
          text: 'With the sandbox anybody can pay for nothing. It is off once `STRIPE_SECRET_KEY` is set; set `SANDBOX=off` where another provider takes the money. Where no payment service is set for the `payment_provider` of an event, loading it warns, free orders are placed, and what costs money is answered 502 `PAYMENT_PROVIDER_UNAVAILABLE` without taking a ticket off sale.',
        },
        {
          text: 'One process serves one data folder; a second one on the same folder refuses to start. Put a proxy with TLS before it, and set in `TRUST_PROXY` whose `X-Forwarded-For` is trusted: the number of proxies in front (only where nobody can go past them), or their addresses and ranges. What is limited by address then counts for the last one that no trusted proxy has; an IPv6 client counts by its /64.',
        },
      ],
    },
    {
      title: 'At the entrance',
      blocks: [
        {
          text: 'A code stays well signed when its order is cancelled. `GET /api/tickets/revoked?event_id=…` lists the ids of void tickets in the order in which they became void: load it before the entrance opens, go on from the last ticket that you know with `after`, and refuse what is on it. Void tickets have `valid: false` and no `code` in their order.',
        },
        {
          text: 'A scanner checks codes with the public keys at `GET /api/tickets/key`; `kid` in a code’s payload names its key, and a code without one is checked with each. To change the key set `TICKET_KEY` to the new one, a comma and the old one (32 random bytes in base64url each; the one made at first start is in `DATA_DIR/ticket-key`): the first signs, and what the others signed stays good until they are left out. Scanners load the keys again within the hour.',
        },
        {
          code: `KEY=$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=')\nTICKET_KEY="$KEY,$(cat data/ticket-key)" npm run -s holdfast -- serve`,
        },
      ],
    },
    {
      title: 'Holds that nobody means to buy',
      blocks: [
        {
          text: 'Holds are anonymous, so set what one of them can take: `max_per_order` on each ticket type and `max_tickets_per_order` on the event. A hold that no order could take is refused (`limits_at_hold`, true by default; false leaves the limits to the checkout), and `hold_max_minutes` ends it after four windows by default (0 for no ceiling).',
        },
        {
          text: 'This bounds one session key, and anybody can make another one. Where that is to be feared, open a waiting room, which paces new sessions by `waiting_room_rate`, and set `RATE_LIMIT_PER_MINUTE`, which bounds what one address can place; a short `hold_minutes` brings tickets back sooner. `/metrics` shows how much is held.',
        },
      ],
    },
    {
      title: 'Personal data',
      blocks: [
        {
          text: 'What an order says about people is sealed in the journal, under keys in `keys.db`; to erase it is to destroy the keys. Set `retention_days` of an event, and its orders are erased so many days after its last performance. Who asks what is kept about them is answered by `holdfast subject` or `GET /admin/subject`, who asks to be forgotten by `holdfast erase`, the button of the console or `POST /admin/orders/{id}/erase`. Copies of `keys.db` open what was not erased when they were made: keep few of them, apart from copies of the journal, and not for longer than your retention.',
        },
        {
          code: `npm run -s holdfast -- subject --email ada@example.com --out ada\nnpm run -s holdfast -- erase --email ada@example.com\nnpm run -s holdfast -- pii`,
        },
      ],
    },
    {
      title: 'Journal and backups',
      blocks: [
        {
          text: 'An answer to a change leaves only when the change is on disk. `holdfast backup` copies the folder while the service runs, `holdfast verify` reads and checks journal, archive and snapshots, `holdfast restore` builds the folder as of a moment. Try a restore before you need one.',
        },
        {
          code: `npm run -s holdfast -- backup /backups/tonight\nnpm run -s holdfast -- verify\nnpm run -s holdfast -- inspect`,
        },
      ],
    },
    {
      title: 'Watching',
      blocks: [
        {
          text: '`/health/ready` says whether a load balancer should send requests here. It answers 503 while changes cannot be written, and also while the disk is nearly full (`FREE_SPACE_MIN_MB`): then only new holds, checkouts and joins of a waiting room are refused. `/metrics` on the operators’ listener is for Prometheus; alert when `holdfast_ready` is 0, when `holdfast_events_broken` is not, when `holdfast_journal_pending_facts` grows, and on anything but 0 in `holdfast_oversold_total`. The console shows the same at a glance.',
        },
      ],
    },
    {
      title: 'Being a good client',
      blocks: [
        {
          text: 'Match on `code`, never on `message`. After 429 and 503 nothing was changed: wait for `Retry-After` and repeat. Who sends discount codes that do not exist, more than 20 a minute from one address for one event, is answered 429 for every start with a code until `Retry-After`. Repeat a checkout with the same `Idempotency-Key`. Treat unknown fields as new ones, not as errors.',
        },
      ],
    },
  ],
};

export const guides: readonly Guide[] = [
  firstSale,
  seats,
  waitingRoom,
  payments,
  goingLive,
  operating,
  severalMachines,
];
