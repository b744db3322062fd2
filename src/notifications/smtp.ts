/**
 * Sends mails to one SMTP server, over a few connections that are kept.
 *
 * 1. What the server refuses for good about one mail (5xx to its recipient, or for its mailbox) is dropped and counted;
 *    the next try would be refused as well. What it refuses for now is sent again. Neither is a trouble: buyers mistype
 *    addresses.
 * 2. What says nothing about the mail is never dropped: no connection, no TLS, a wrong password, a sender that is not
 *    allowed, a recipient refused by policy (5.7.x), as by a relay that wants a password, or contents, which all mails
 *    have alike. That is the service's trouble: it is reported when it begins, and `failingMs` says how long it has
 *    lasted.
 * 3. The log has codes alone: answers of servers repeat addresses, and the server's own has a password.
 * 4. TLS is required, from the first byte (smtps) or by STARTTLS, with a valid certificate. The exceptions are servers
 *    of this machine, and an address with `?tls=none`, which allows no password.
 */
import type { NodemailerError } from 'nodemailer';
import { reportTrouble } from '#actors/trouble.ts';

export interface MailConfig {
  /** smtps://user:password@host:port, or smtp:// with STARTTLS. */
  readonly url: string;
  readonly from: { readonly name: string; readonly address: string };
}

/** What a mail says, in plain text and in HTML. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mail extends MailContent {
  /** The part of its Message-ID before the `@` which a repeat has too. */
  readonly id: string;
  readonly to: string;
}

/** `dropped`: refused for good, given up, or to an address that gets none. `retried`: refused for now. */
const MAIL_OUTCOMES = ['sent', 'retried', 'dropped'] as const;
type MailOutcome = (typeof MAIL_OUTCOMES)[number];

/** The server refuses a mail for now, or none can be sent: it is to be sent again. */
export class MailPutOff extends Error {
  override readonly name = 'MailPutOff';
  /** Whether it is about this mail alone. */
  readonly isOfMail: boolean;

  constructor(codes: string, isOfMail: boolean) {
    super(`the mail server: ${codes}`);
    this.isOfMail = isOfMail;
  }
}

export interface Mailer {
  /** Rejects with MailPutOff where the mail is to be sent again. */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  count(outcome: MailOutcome): void;
  readonly counts: Readonly<Record<MailOutcome, number>>;
  /** For how long nothing can be sent for a reason that is not the mail's (rule 2); 0 where that is not so. */
  readonly failingMs: number;
  close(): void;
}

/** A slower mail, or a slower server, is not waited for. */
const CONNECT_MS_MAX = 10_000;
const SILENT_MS_MAX = 30_000;
const CONNECTIONS_MAX = 4;

/** `now`: of the machine's own clock. Loads nodemailer, which nothing else needs. */
export async function openMailer({ url, from }: MailConfig, now: () => number): Promise<Mailer> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    ...serverOf(url),
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    connectionTimeout: CONNECT_MS_MAX,
    greetingTimeout: CONNECT_MS_MAX,
    dnsTimeout: CONNECT_MS_MAX,
    socketTimeout: SILENT_MS_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.address.slice(from.address.indexOf('@') + 1);
  const counts = { sent: 0, retried: 0, dropped: 0 };
  let failingSince: number | null = null;

  const send = async ({ id, to, subject, text, html }: Mail): Promise<MailOutcome> => {
    try {
      await transport.sendMail({
        messageId: `<${id}@${domain}>`,
        date: new Date(now()),
        from,
        // As objects: a text would be read as a list of addresses.
        to: { name: '', address: to },
        subject,
        text,
        html,
        headers: { 'auto-submitted': 'auto-generated', 'x-auto-response-suppress': 'All' },
      });
    } catch (error) {
      return outcomeOf(error as NodemailerError);
    }
    failingSince = null;
    return 'sent';
  };
  const outcomeOf = (error: NodemailerError): MailOutcome => {
    const reason = reasonOf(error);
    if (reason === 'SERVER' && failingSince === null) reportTrouble('mail', `no mail can be sent: ${codesOf(error)}`);
    failingSince = reason === 'SERVER' ? (failingSince ?? now()) : null;
    if (reason !== 'MAIL_FOR_GOOD') throw new MailPutOff(codesOf(error), reason === 'MAIL_FOR_NOW');
    return 'dropped';
  };

  return {
    async send(mail, signal) {
      try {
        counts[await orGone(send(mail), signal)] += 1;
      } catch (error) {
        if (!signal.aborted) counts.retried += 1;
        throw error;
      }
    },
    count: (outcome) => void (counts[outcome] += 1),
    counts,
    get failingMs() {
      return failingSince === null ? 0 : now() - failingSince;
    },
    close: () => transport.close(),
  };
}

/** Where the server is, and what is insisted on (rule 4). */
function serverOf(url: string): object {
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isPlain = searchParams.get('tls') === 'none' || isOfThisMachine(host);
  return {
    host,
    port: Number(port) || (protocol === 'smtps:' ? 465 : 587),
    secure: protocol === 'smtps:',
    requireTLS: protocol === 'smtp:' && !isPlain,
    ignoreTLS: protocol === 'smtp:' && isPlain,
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  };
}

function isOfThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** What an error is about, and whether a further try would end otherwise (rules 1 and 2). */
function reasonOf({
  code,
  command,
  response = '',
  responseCode,
}: NodemailerError): 'SERVER' | 'MAIL_FOR_NOW' | 'MAIL_FOR_GOOD' {
  // Nothing can be sent to this address, or to its kind.
  if (code === 'EENVELOPE' && responseCode === undefined) return 'MAIL_FOR_GOOD';
  const isOfMail = command === 'RCPT TO' || (command === 'DATA' && code === 'EMESSAGE');
  if (!isOfMail || responseCode === undefined || responseCode === 421) return 'SERVER';
  if (responseCode < 500) return 'MAIL_FOR_NOW';
  const isOfService =
    command === 'RCPT TO' ? /^\d{3}[ -]5\.7\.|relay/i.test(response) : !/^\d{3}[ -]5\.(?:1|2\.[0-3])\b/.test(response);
  return isOfService ? 'SERVER' : 'MAIL_FOR_GOOD';
}

/** Only the codes of what the server said (rule 3). */
function codesOf({ code = 'ERROR', command = '', response = '', responseCode }: NodemailerError): string {
  const [, enhanced = ''] = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})/.exec(response) ?? [];
  return [code, command, responseCode, enhanced].filter((part) => part !== '' && part !== undefined).join(' ');
}

/** The same, or a rejection once a signal says that nobody waits any more. */
function orGone<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new Error('the service stops'));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
