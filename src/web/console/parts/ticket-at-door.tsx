/** A ticket that is looked up by its number or its code, with its scans; it is let in and out by hand. */
import { useState } from 'preact/hooks';
import { readCode } from '#client/doors/code.ts';
import type { ScanResult } from '#client/doors/wire.ts';
import { hasHappened } from '#client/doors/scan.ts';
import { addressOf, textOfError, usePolled, type Api } from '../app/api.ts';
import type { AdminTicket, TicketScan } from '../app/bodies.ts';
import { moment } from '../app/format.ts';
import { linkTo, linkWith, useFilters } from '../app/router.ts';
import { Choice, NoteField, textIn, type Option } from './fields.tsx';

interface TicketAtDoorProps {
  readonly api: Api;
  readonly doors: readonly Option[];
  readonly eventId: string;
  readonly performanceId: string;
  readonly onScan: () => void;
}

const POLL_MS = 5_000;

export function TicketAtDoor({ api, doors, eventId, performanceId, onScan }: TicketAtDoorProps) {
  const { ticket } = useFilters('ticket');
  const look = (submission: SubmitEvent): void => {
    submission.preventDefault();
    const text = String(new FormData(submission.currentTarget as HTMLFormElement).get('ticket')).trim();
    location.hash = linkWith({ ticket: readCode(text)?.ticketId ?? text }, 'events', eventId, 'doors', performanceId);
  };
  return (
    <section class="card">
      <h2>A ticket by hand</h2>
      <form class="finder" role="search" aria-label="Ticket" onSubmit={look}>
        <input
          key={ticket}
          name="ticket"
          type="search"
          defaultValue={ticket}
          required
          placeholder="Number or code of a ticket"
          aria-label="Number or code of a ticket"
          autocomplete="off"
        />
        <button type="submit" class="button primary">
          Look up
        </button>
      </form>
      {ticket === '' ? (
        <p class="quiet small">
          Without a ticket, <a href={linkWith({ event: eventId }, 'search')}>search by name</a>; an order links its
          tickets to here.
        </p>
      ) : (
        <Found key={ticket} api={api} ticketId={ticket} doors={doors} onScan={onScan} />
      )}
    </section>
  );
}

interface FoundProps extends Pick<TicketAtDoorProps, 'api' | 'doors' | 'onScan'> {
  readonly ticketId: string;
}

function Found({ api, ticketId, doors, onScan }: FoundProps) {
  const address = addressOf('tickets', ticketId);
  const { value: ticket, trouble, reload } = usePolled<AdminTicket>(address, () => api('GET', address), POLL_MS);
  const [outcome, setOutcome] = useState<{ readonly isGood: boolean; readonly text: string } | null>(null);
  if (ticket === null) return trouble === null ? <p class="quiet">…</p> : <p class="alert">{trouble}</p>;
  const scan = async (body: object): Promise<void> => {
    try {
      const { verdict } = await api<ScanResult>('POST', `${address}/scans`, body);
      setOutcome({ isGood: ['ADMIT', 'EXIT', 'UNDONE'].includes(verdict), text: WORDS[verdict] ?? wordsOf(verdict) });
    } catch (error) {
      setOutcome({ isGood: false, text: textOfError(error) });
    }
    reload();
    onScan();
  };
  const submit = (submission: SubmitEvent): void => {
    submission.preventDefault();
    const fields = new FormData(submission.currentTarget as HTMLFormElement, submission.submitter);
    void scan({ kind: fields.get('kind'), door_id: fields.get('door'), note: textIn(fields, 'note') });
  };
  const place = [ticket.section, ticket.row_label, ticket.seat_label].filter((each) => each !== null).join(' · ');
  return (
    <>
      <p>
        <b>{ticket.attendee?.name ?? ticket.ticket_type_id}</b> {ticket.attendee !== null && ticket.ticket_type_id}{' '}
        {place} {ticket.valid ? '' : <b class="void">void: {wordsOf(ticket.void_reason ?? '')}</b>}{' '}
        <a href={linkTo('orders', ticket.order_id)}>Order</a>
      </p>
      <form onSubmit={submit}>
        <Choice label="Door" name="door" options={doors} />
        <NoteField />
        <div class="actions">
          <button type="submit" name="kind" value="ENTRY" class="button primary">
            Let in
          </button>
          <button type="submit" name="kind" value="EXIT" class="button">
            Let out
          </button>
        </div>
      </form>
      <p role="status" class={outcome === null || outcome.isGood ? '' : 'alert'}>
        {outcome?.text}
      </p>
      <ScanList scans={ticket.scans} onUndo={(id) => void scan({ kind: 'UNDO', undoes: id })} />
    </>
  );
}

/** A verdict, or another constant of the API, in words. */
export const wordsOf = (verdict: string): string => verdict.toLowerCase().replaceAll('_', ' ');

const WORDS: Readonly<Record<string, string>> = {
  ADMIT: 'Let in.',
  EXIT: 'Let out.',
  UNDONE: 'Undone.',
  ALREADY_ADMITTED: 'Refused: it is inside already.',
  NOT_INSIDE: 'Refused: it is not inside.',
  NOT_UNDOABLE: 'Refused: this cannot be undone.',
  VOID: 'Refused: the ticket is void.',
  WRONG_DOOR: 'Refused: this door does not take it.',
  NOT_YET: 'Refused: the doors are not open yet.',
  OVER: 'Refused: entry is over.',
};

function ScanList({ scans, onUndo }: { readonly scans: readonly TicketScan[]; readonly onUndo: (id: string) => void }) {
  if (scans.length === 0) return <p class="quiet small">It was not scanned yet.</p>;
  return (
    <ul class="items" aria-label="Scans">
      {scans.map((scan) => (
        <li key={scan.id} data-scan={scan.id}>
          <span>
            {scan.kind === 'ENTRY' ? 'In' : 'Out'}
            {hasHappened(scan) ? '' : ` refused: ${wordsOf(scan.given ?? scan.verdict)}`}
            {scan.undone && ', undone'}{' '}
            <span class="quiet small">
              {moment(scan.at, 'medium')}, {scan.door_name}, {scan.station_name ?? `by hand ${scan.operator ?? ''}`}
              {scan.offline && ', offline'} {scan.note}
            </span>
          </span>
          {hasHappened(scan) && !scan.undone && (
            <button type="button" class="button plain small-button" onClick={() => onUndo(scan.id)}>
              Undo
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
