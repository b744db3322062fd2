/**
 * Says outside of the page that it is the buyer's turn, where the buyer wants it.
 *
 *  1. A browser that shows notifications only through a service worker, as those of Android do, is not asked.
 */
import { useState } from 'preact/hooks';
import { texts } from '../app/language.ts';

const words = texts.queue;

/** Whether a notification can be shown by a page alone (rule 1). */
const canNotify = typeof Notification !== 'undefined' && !/Android/i.test(navigator.userAgent);

/** The button with which notifications are allowed, and what became of it. */
export function TurnNotice() {
  const [permission, setPermission] = useState(() => (canNotify ? Notification.permission : 'denied'));
  if (permission === 'denied') return null;
  if (permission === 'granted') return <p class="small quiet">{words.willNotify}</p>;
  return (
    <p>
      <button
        type="button"
        class="button"
        onClick={() => void Notification.requestPermission().then((next) => setPermission(next))}
      >
        {words.notify}
      </button>
    </p>
  );
}

/** Tells a buyer who looks elsewhere that it is their turn; in the page itself the page says it. */
export function announceTurn(event: { readonly id: string; readonly name: string }): void {
  if (!document.hidden) return;
  navigator.vibrate?.(200);
  if (!canNotify || Notification.permission !== 'granted') return;
  const shown = new Notification(words.yourTurn, { body: event.name, tag: event.id });
  shown.addEventListener('click', () => {
    focus();
    shown.close();
  });
}
