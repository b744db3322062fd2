/**
 * The port of messages between nodes: fast, unordered over senders, lost when nobody listens. Nothing that must not be
 * lost is sent by it. `natsBus` keeps it on core NATS; its twin for tests is `memory-bus.ts`.
 */
import type { NatsConnection } from '@nats-io/transport-node';

export interface BusMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Where an answer is expected. */
  readonly replyTo: string | null;
  /** Nobody listens to the subject that a message with this `replyTo` was published to. */
  readonly isNobodyThere: boolean;
}

export interface Bus {
  /** Whether the connection stands. */
  readonly isConnected: boolean;
  publish(subject: string, data: Uint8Array, replyTo?: string): void;
  /** A subject may end with `.>`; returns the function that ends the subscription. */
  subscribe(subject: string, receive: (message: BusMessage) => void): () => void;
  /** Called at each loss and return of the connection. */
  onConnection(listener: (isConnected: boolean) => void): void;
}

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
