/**
 * Mails by SMTP with TLS and a password, over real connections to a server of the test. What an order's mail says, and
 * when it is sent, is tested in `test/api/mail.test.ts`.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { MailPutOff, openMailer, type Mail, type Mailer } from '#notifications/smtp.ts';
import { newFolder } from '../fixtures/folders.ts';
import { troublesAt } from '../fixtures/troubles.ts';

const mail: Mail = { id: 'mail-1', to: 'ada@example.com', subject: 'Your order', text: 'Hello', html: '<p>Hello</p>' };
const PASSWORD = 'p/ss:w@rd';
/** The server is named by an address that is not this machine's in the eyes of rule 4, but reaches it. */
const ELSEWHERE = '0.0.0.0';

interface Server {
  readonly port: number;
  /** Whether each mail came over TLS, and as whom. */
  readonly received: { readonly isSecure: boolean; readonly user: string | undefined }[];
}

describe('A mail server with TLS', { skip: spawnSync('openssl', ['version']).error && 'there is no openssl' }, () => {
  let key: string;
  let cert: string;
  before(() => {
    const folder = newFolder({ after });
    const named = `subjectAltName=IP:127.0.0.1,IP:${ELSEWHERE}`;
    const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=mail';
    execFileSync('openssl', [...request.split(' '), '-addext', named, '-keyout', 'key.pem', '-out', 'cert.pem'], {
      cwd: folder,
      stdio: 'ignore',
    });
    key = readFileSync(path.join(folder, 'key.pem'), 'utf8');
    cert = readFileSync(path.join(folder, 'cert.pem'), 'utf8');
  });

  async function serverWith(t: TestContext, options: SMTPServerOptions): Promise<Server> {
    const received: Server['received'] = [];
    const server = new SMTPServer({
      key,
      cert,
      logger: false,
      closeTimeout: 100,
      authOptional: true,
      onAuth({ username, password }, _session, done) {
        if (password === PASSWORD) done(null, { user: username });
        else done(Object.assign(new Error(`5.7.8 no such user ${username}`), { responseCode: 535 }));
      },
      onData(stream, session, done) {
        received.push({ isSecure: session.secure, user: session.user as string | undefined });
        stream.resume().on('end', () => done());
      },
      ...options,
    });
    server.on('error', () => {});
    server.listen(0, '127.0.0.1');
    await once(server.server, 'listening');
    t.after(() => new Promise<void>((resolve) => server.close(resolve)));
    return { port: (server.server.address() as AddressInfo).port, received };
  }

  async function mailerAt(t: TestContext, url: string): Promise<Mailer> {
    const mailer = await openMailer({ url, from: { name: 'Hall', address: 'tickets@example.com' } }, Date.now);
    t.after(() => mailer.close());
    return mailer;
  }

  function trustCertificate(t: TestContext): void {
    const usual = getCACertificates('default');
    setDefaultCACertificates([...usual, cert]);
    t.after(() => setDefaultCACertificates(usual));
  }

  const { signal } = new AbortController();
  const user = `shop:${encodeURIComponent(PASSWORD)}`;

  it('gets mails by STARTTLS, and by TLS from the first byte, as the user of the address', async (t) => {
    trustCertificate(t);
    for (const [protocol, host, secure] of [
      ['smtp', ELSEWHERE, false],
      ['smtps', '127.0.0.1', true],
    ] as const) {
      const { port, received } = await serverWith(t, { secure });
      const mailer = await mailerAt(t, `${protocol}://${user}@${host}:${port}`);
      await mailer.send(mail, signal);
      assert.deepEqual(received, [{ isSecure: true, user: 'shop' }], protocol);
      assert.deepEqual(mailer.counts, { sent: 1, retried: 0, dropped: 0 });
    }
  });

  it('gets nothing while its certificate is not valid, it has no TLS, or the password is wrong: a trouble by codes alone', async (t) => {
    const troubles = troublesAt(t, 'mail');
    const withoutTls = await serverWith(t, { disabledCommands: ['STARTTLS'] });
    const secure = await serverWith(t, { secure: true });
    const upgraded = await serverWith(t, {});
    const urls = [
      `smtps://127.0.0.1:${secure.port}`,
      `smtp://${ELSEWHERE}:${upgraded.port}`,
      `smtp://${user}@${ELSEWHERE}:${withoutTls.port}`,
      `smtps://shop:wrong@127.0.0.1:${secure.port}`,
    ];
    for (const [index, url] of urls.entries()) {
      if (url.includes('wrong')) trustCertificate(t);
      const mailer = await mailerAt(t, url);
      await assert.rejects(mailer.send(mail, signal), (error) => error instanceof MailPutOff && !error.isOfMail);
      assert.deepEqual(mailer.counts, { sent: 0, retried: 1, dropped: 0 }, url);
      assert.equal(troubles.length, index + 1, url);
      assert.doesNotMatch(JSON.stringify(troubles.at(-1)), /shop|wrong|p%2Fss|p\/ss/, 'nobody’s name or password');
    }
    assert.match(JSON.stringify(troubles.at(-1)), /EAUTH AUTH PLAIN 535 5\.7\.8/);
    for (const { received } of [withoutTls, secure, upgraded]) assert.deepEqual(received, []);
  });

  it('gets mails without TLS where ?tls=none says so, though it has it', async (t) => {
    const { port, received } = await serverWith(t, {});
    const mailer = await mailerAt(t, `smtp://${ELSEWHERE}:${port}?tls=none`);
    await mailer.send(mail, signal);
    assert.deepEqual(received, [{ isSecure: false, user: undefined }]);
  });
});
