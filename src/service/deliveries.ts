/** Starts what is delivered from the journal: notifications to a receiver, and mails to buyers. */
import type { Deployment } from '#engine/deployment.ts';
import type { Delivered } from '#engine/service-facts.ts';
import { orderMail } from '#http/pages/order-mail.ts';
import { mailDelivery, type MailedOrder } from '#notifications/mail.ts';
import { createPoster, notificationDelivery } from '#notifications/messages.ts';
import { openOutbox, type Delivery } from '#notifications/outbox.ts';
import type { MailContent, Mailer } from '#notifications/smtp.ts';
import type { Config } from './config.ts';

export function isDelivered({ notify, mail }: Config, delivered: Delivered): boolean {
  return { notifications: notify, mail }[delivered] !== null;
}

/** Starts notifications to the receiver in the settings, where there is one. */
export async function startNotifications(config: Config, engine: Deployment): Promise<void> {
  const { notify } = config;
  if (notify === null) return;
  // Receivers compare the time of a message with their own clock, so the sandbox clock must not move it.
  const post = createPoster(notify, () => engine.clock.machineNow());
  await deliver('notifications', notificationDelivery({ personalData: engine.personalData, post }), config, engine);
}

/** Starts mails to buyers. */
export async function startMail(
  mailer: Mailer,
  config: Config,
  engine: Deployment,
  baseUrl: () => string,
): Promise<void> {
  const { personalData, clock } = engine;
  const { brand } = config;
  const write = (order: MailedOrder): MailContent => orderMail({ ...order, brand, baseUrl: baseUrl() });
  await deliver('mail', mailDelivery({ personalData, mailer, now: () => clock.now(), write }), config, engine);
}

async function deliver<Message>(
  of: Delivered,
  delivery: Delivery<Message>,
  { limits }: Config,
  engine: Deployment,
): Promise<void> {
  const ports = { delivery, firstPauseMs: limits.deliveryPauseMsMin };
  const following = engine.opened.then((served) =>
    served.followFacts(of, (source) => openOutbox({ ...source, ...ports })),
  );
  // Whoever starts a node learns of one that cannot serve by `opened`.
  if (engine.state().phase === 'STARTING') following.catch(() => {});
  else await following;
}
