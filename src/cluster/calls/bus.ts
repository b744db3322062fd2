/**
 * The port of messages between nodes: fast, unordered over senders, lost when nobody listens. Nothing that must not be
 * lost is sent by it.
 */

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
