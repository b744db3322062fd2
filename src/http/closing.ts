/**
 * How an app closes: what was accepted is answered, and nobody keeps the process waiting.
 *
 * 1. A change whose request arrived whole may wait for a payment provider: it is given longer than a client that still sends.
 * 2. Afterwards every connection that is left is cut off.
 */
import type { HttpApp } from './app.ts';

/** For clients that still send or read when the app begins to close. */
const CLIENTS_MS_MAX = 2_500;

/** For changes that are under way; calls to a provider are given up before, so that their answers are out by then. */
const CHANGES_MS_MAX = 6_500;

const LOOK_EVERY_MS = 50;

/** Makes the app close in bounded time; `changesUnderWay` counts handlers that are at work. */
export function closeInTime(app: HttpApp, changesUnderWay: () => number): void {
  app.addHook('preClose', (done) => {
    let waitedMs = 0;
    let wasBusy = true;
    const look = setInterval(() => {
      waitedMs += LOOK_EVERY_MS;
      // The answer of a handler that has just ended is on its way.
      const isBusy = changesUnderWay() > 0;
      const mayWait = waitedMs < CLIENTS_MS_MAX || ((isBusy || wasBusy) && waitedMs < CHANGES_MS_MAX);
      wasBusy = isBusy;
      if (mayWait) return;
      clearInterval(look);
      app.server.closeAllConnections();
    }, LOOK_EVERY_MS);
    look.unref();
    app.server.once('close', () => clearInterval(look));
    done();
  });
}
