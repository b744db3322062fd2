/** The texts of what buyers change of a paid order, on its page. */
import { wordingOf } from '../locale/wording.ts';

const { count, number, listing, plural } = wordingOf('en');
const TICKETS = { one: 'ticket', other: 'tickets' };

export const changes = {
  // ── what may be changed ──
  offers: 'Change your order',
  more: (n: number) =>
    `and ${count(n, { one: 'more ticket', other: 'more tickets' })}, which only the organizer changes`,
  /** The words of the directive (2011/83/EU, article 11a). */
  withdraw: 'Withdraw from contract here',
  cancel: 'Give tickets back',
  change: 'Change date, kind of ticket or seats',
  reissue: 'Get new codes',
  attendees: 'Change names',
  until: (when: string) => `until ${when}`,
  dateUntil: (date: string, when: string) => `${date}: until ${when}`,
  withoutFee: 'without a fee',
  freeUntil: (when: string) => `without a fee until ${when}`,
  feeEach: (amount: string) => `${amount} a ticket`,
  feePercent: (percent: number) => `${number(percent)} % of the price`,
  fees: (fees: readonly string[]) => `fee: ${listing(fees)}`,

  // ── choosing ──
  leave: 'Leave it as it is',
  goOn: 'Continue',
  nothingYet: 'Nothing is changed yet: next you see what it comes to.',
  chooseSome: 'Please choose at least one ticket.',
  cancelWhich: 'Which tickets do you give back?',
  changeWhich: 'Which tickets do you change?',
  reissueWhich: 'Which tickets get a new code? The old one is void from then on.',
  attendeesWho: 'Who comes with which ticket?',
  nobodyRenamed: 'No name was changed.',
  toDate: 'Date',
  toType: 'Kind of ticket',
  stays: 'as it is',
  toSeats: 'Seats',
  sameSeats: 'the same ones where they are free, else the best',
  bestSeats: 'the best ones that are free',
  name: 'Name',
  email: 'E-mail (optional)',
  group: (n: number) => `${count(n, TICKETS)}, which go together`,

  // ── withdrawal ──
  withdrawTitle: 'Withdraw from contract',
  withdrawLead: 'I withdraw from the contract for these tickets:',
  withdrawFrom: (number: string, when: string) => `Order ${number} of ${when}`,
  withdrawName: (name: string, email: string) => `Name: ${name}. E-mail address for the confirmation: ${email}.`,
  /** The words of the directive. */
  confirmWithdrawal: 'Confirm withdrawal',
  withdrawSome: 'Only for some of the tickets',
  withdrawOver: 'The time to withdraw is over.',

  // ── the quote ──
  quoteTitle: 'Is this right?',
  given: 'is given back',
  becomes: (what: string) => `becomes: ${what}`,
  newCode: 'gets a new code',
  willCome: (name: string) => `for ${name}`,
  charge: 'New price',
  toPay: 'To pay',
  free: 'This costs nothing.',
  credit: 'Credited',
  perksCredit: 'of it for extras',
  fee: 'Fee',
  toRefund: 'You get back',
  nothingBack: 'You get no money back.',
  wayBack: 'The money goes back the way it came.',
  quoteHolds: (hour: string) => `This holds until ${hour}.`,
  giveBack: (n: number) => `Give back ${count(n, TICKETS)}`,
  changeTickets: (n: number) => `Change ${count(n, TICKETS)}`,
  makeCodes: (n: number) => `Make ${count(n, { one: 'new code', other: 'new codes' })}`,
  rename: (n: number) => `Change ${count(n, { one: 'name', other: 'names' })}`,
  changeAndPay: (amount: string) => `Change and pay ${amount}`,

  // ── changes that cost something ──
  pendingTitle: 'Your change waits for its payment',
  pendingUntil: (what: string, until: string) =>
    `${what}: not done before it is paid, until ${until}. Your tickets stay valid as they are.`,
  payChange: (amount: string) => `Pay ${amount}`,
  dropChange: 'Drop the change',
  notDone: 'Not done: its payment did not come.',
  dropped: 'Not done: it was dropped.',

  // ── what was changed ──
  history: 'Changes of this order',
  receipt: (when: string) => `We received your withdrawal on ${when}.`,
  done: (when: string) => `Done on ${when}.`,
  cancelled: (n: number) => `${count(n, TICKETS)} given back`,
  changed: (n: number) => `${count(n, TICKETS)} changed`,
  reissued: (n: number) => count(n, { one: 'new code', other: 'new codes' }),
  renamed: (n: number) => `${number(n)} ${plural(n, { one: 'name', other: 'names' })} changed`,
  withdrawn: (when: string, what: string) => `Withdrawal, received on ${when}: ${what}.`,
  was: (when: string, what: string) => `${when}: ${what}.`,
  byOrganizer: 'By the organizer.',
  byDate: 'Because the date was cancelled.',
  back: (amount: string) => `${amount} to be given back.`,
  costs: (amount: string) => `Fee: ${amount}.`,

  // ── money given back ──
  refunds: 'Money given back',
  refundPending: (amount: string, when: string) => `${amount} have been on their way back to you since ${when}.`,
  refundSucceeded: (amount: string, when: string) => `${amount} were given back to you on ${when}.`,
  refundFailed: (amount: string, when: string) =>
    `${amount} could not be given back on ${when}. You are still owed them: we will try another way.`,
  refundOpen: (amount: string) => `${amount} are to be given back to you; the organizer looks after it.`,

  // ── void tickets ──
  voidTickets: (n: number) => count(n, { one: 'void ticket', other: 'void tickets' }),
  givenBack: 'given back',
  replaced: 'replaced by a new one',
  ofCancelledDate: 'the date was cancelled',
  ofCancelledOrder: 'the order was cancelled',
  inPlaceOf: (number: string) => `New; takes the place of ${number}`,
};
