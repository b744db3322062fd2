/** Messages between nodes over core NATS. */

import type { NatsConnection } from '@nats-io/transport-node';
import type { Bus, BusMessage } from './bus.ts';

/** A connection that knows whether it stands. */
interface BusConnection {
  readonly nats: NatsConnection;
  readonly isConnected: boolean;
  onConnection(listener: (isConnected: boolean) => void): unknown;
}

/** The status with which servers answer a message that nobody listened to. */
const NOBODY_THERE = 503;

export function natsBus(connection: BusConnection): Bus {
  const { nats } = connection;
  return {
    get isConnected() {
      return connection.isConnected;
    },
    publish(subject, data, replyTo) {
      // What is sent without a connection would be lost as well; after the end of the connection it would be an error.
      if (connection.isConnected) nats.publish(subject, data, replyTo === undefined ? {} : { reply: replyTo });
    },
    subscribe(subject, receive) {
      const subscription = nats.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return;
          const isNobodyThere = message.data.length === 0 && message.headers?.code === NOBODY_THERE;
          receive({
            subject: message.subject,
            data: message.data,
            replyTo: message.reply || null,
            isNobodyThere,
          } satisfies BusMessage);
        },
      });
      return () => {
        if (!nats.isClosed()) subscription.unsubscribe();
      };
    },
    onConnection(listener) {
      connection.onConnection(listener);
    },
  };
}
