/** Limits of the service that are not settings, each with its reason (I10). */
export const LIMITS = {
  /** A hold of 20 items with 200 seat ids each fits four times over. */
  bodyBytesMax: 256 * 1024,
  /** What has arrived of the bodies of the public listener: those of a rush take a hundredth of it. */
  bodiesBytesMax: 64 * 1024 * 1024,
  /** A definition with every seat of a stadium listed. */
  adminBodyBytesMax: 16 * 1024 * 1024,
  /**
   * Commands that wait for one event: a quarter of a second of turns on the slowest disk measured. More of them would
   * wait longer than a retry takes.
   */
  waitingRepliesMax: 5_000,
  /** Changing requests that run or wait in the process; a waiting one costs some 10 KB. */
  inFlightRequestsMax: 10_000,
  /**
   * Requests of the admission queue that run at once: two batches of the journal, one being written and one being
   * filled.
   */
  runningRequestsMax: 1_000,
  /**
   * The wait in the admission queue after which a request may be shed; after a longer one people try again themselves.
   */
  admissionWaitMsMax: 1_000,
  /** Serialized payloads in the cache: one for each event and performance in use. */
  cachedPayloadsMax: 2_000,
  cachedPayloadBytesMax: 64 * 1024 * 1024,
  /** Open live streams: with about 11 µs a frame and four frames a second they take under half a core. */
  liveListenersMax: 10_000,
  /** Searches in the list of events from one client address in a minute: what a fast reader chooses, several times. */
  narrowedPagesPerMinuteMax: 60,
  /** Joins of waiting rooms from one client address in a minute; polls are not counted. */
  joinsPerMinuteMax: 30,
  /** Live streams of one client address: more than the people behind one address watch at a time. */
  clientStreamsMax: 200,
  /**
   * Open connections of a listener; further ones are closed at once. Each is a file descriptor, and half of those that
   * the systemd unit allows are left for other files.
   */
  connectionsMax: 30_000,
  /**
   * Connections that the kernel opens for a listener while the process is busy, at most `net.core.somaxconn`. With
   * Node's 511 a rush of buyers fills it within a pass of the event loop; who comes then waits a second or more, or is
   * reset.
   */
  connectionsBacklogMax: 4_096,
  /** Pipelined requests that wait on one connection: several times what clients send ahead. */
  pipelinedRequestsMax: 100,
  /** Client addresses that the rate limit remembers. */
  rateLimitedAddressesMax: 50_000,
  /** Wrong tokens from one address in a minute: more than a person types by mistake. */
  wrongTokensPerMinuteMax: 10,
  /** Unknown promo codes, and refusals by the cap of e-mail addresses, from one address for one event in a minute. */
  guessesPerMinuteMax: 20,
  /** Calls that open a session at one payment provider at once: with 400 ms a call, 160 checkouts a second. */
  providerCallsMax: 64,
  /** Before a notification or a mail that was not accepted is sent again: the first pause, which doubles. */
  deliveryPauseMsMin: 1_000,
  /** The longest that a request may take to arrive. */
  requestReceiveMsMax: 30_000,
  /** The longest that a client of the public listener may read nothing of its answer. Live streams send more often. */
  stalledMsMax: 60_000,
  /** Longer than the idle time of common load balancers, so that these close a connection first. */
  keepAliveMs: 72_000,
  /** After a signal, accepted requests are finished within this time. */
  shutdownMsMax: 9_000,
} as const;

/** The limits of a node that differ from those of a single machine. */
export const NODE_LIMITS: Partial<Limits> = {
  /**
   * While NATS servers elect, for up to nine seconds, the holds of a third of the events stand still; those of the
   * others go on.
   */
  runningRequestsMax: 5_000,
};

export type Limits = { readonly [Name in keyof typeof LIMITS]: number };
