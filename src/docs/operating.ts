/** The guide for those who operate a sale day by day: the console, and the same through the operators' API and in a shell. */
import type { Guide } from './guide.ts';

export const operating: Guide = {
  slug: 'operating',
  title: 'Operating a sale',
  lead: 'What operators do while tickets are sold: watch it, find an order, block seats, give money back, and answer people who ask about their data.',
  sections: [
    {
      title: 'The console',
      blocks: [
        {
          text: 'The console is at the address of the operators’ listener (`ADMIN_HOST`, `ADMIN_PORT`) and asks for `ADMIN_TOKEN`. Write your name when you sign in: it is kept with every change you make. The first page shows what is on sale, the state of the service, and alerts with what they mean and what to do. All times are of the zone of your browser, which the foot of each page names.',
        },
        {
          text: 'What a page shows is in its address, filters included, so that it can be sent to a colleague. Before anything that cannot be undone the console says what will happen, in orders, tickets and money.',
        },
      ],
    },
    {
      title: 'Money',
      blocks: [
        {
          text: '“Money” shows what came in and what was given back, by event and by hour, in each currency. Sold is all money that came, also what is due back. An event’s own page has all of its hours.',
        },
        { example: 'listMoney' },
        {
          text: 'Holdfast sends no money back by itself. Give it back at your provider, then press “Record refund…” on the order; what is still due stands there as `refund_due`.',
        },
      ],
    },
    {
      title: 'Finding an order',
      blocks: [
        {
          text: 'Ctrl K (⌘K on a Mac) leads to the search from every page. It takes a part of a name or e-mail address, of buyers and of guests, the short number of an order, a ticket or its code, or a checkout session. Names are sealed: the search opens orders event by event, the newest first, says how far it came, and goes on when asked.',
        },
        { example: 'searchOrders' },
        {
          text: '“Journal” on an order shows all that happened to it; the journal can also be filtered by event and by the type of a fact.',
        },
      ],
    },
    {
      title: 'Seats',
      blocks: [
        {
          text: 'On the page of a date’s seats press seats, names of rows and sections, or draw a rectangle; Shift adds. By keyboard arrow keys move, Space picks, and Shift with arrow keys picks a rectangle. “Block” holds the picked seats back from the sale until they are unblocked; the question before it names how many and which. Seats that buyers hold or bought are left out.',
        },
        { example: 'changeSeats' },
      ],
    },
    {
      title: 'Cancelling',
      blocks: [
        {
          text: '“Cancel date…” on an event cancels every order with a ticket of that date, whole, and tells first what is due back to how many buyers. From the first moment nothing of that date can be bought. Tens of thousands of orders take some seconds, in which buyers of other dates are served as before; the answer comes after the last order. A stop or a crash in the middle loses nothing: what is left is cancelled after the next start. One order is cancelled on its own page.',
        },
        { example: 'forecastCancellation' },
      ],
    },
    {
      title: 'Somebody asks what is kept about them',
      blocks: [
        {
          text: 'The report on a person has the orders that were placed with an e-mail address, with everything that happened to them, and tickets in the person’s name on orders of others. In a shell `--out` writes it as a page to hand over, with the same as data beside it.',
        },
        { example: 'readSubject' },
        { code: 'npm run -s holdfast -- subject --email ada@example.com --out ada' },
      ],
    },
    {
      title: 'Somebody asks to be forgotten',
      blocks: [
        {
          text: '“Erase personal data…” on an order destroys its keys: names, addresses and notes can then be read by nobody, old backups of the journal included. Tickets, seats and money stay. An order whose payment is awaited is cancelled first. `--email` erases all orders of an address. Make sure first that whoever asks is who they say.',
        },
        { example: 'listOrders' },
        { example: 'eraseOrder' },
        { code: 'npm run -s holdfast -- erase --email ada@example.com' },
        {
          text: 'Copies of `keys.db` from before can still open what they could open then: keep few of them, and not for longer than your retention.',
        },
      ],
    },
  ],
};
