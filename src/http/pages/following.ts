/**
 * The script of an order's page that is not paid yet: it shows the clock of the time to pay, and loads the page again
 * once its badge says something else. Without it the page names the time of day and has a link.
 *
 * 1. A page that nothing happened to is not loaded again: focus and what is read out stay where they are.
 * 2. The time left is the service's, counted on from the load of the page: the buyer's clock may be wrong.
 */
import { inlineText } from './html.ts';

/** Between two checks of the order's status; a page that becomes visible checks at once. */
const LOOK_MS = 10_000;

export const FOLLOWING = inlineText(`(() => {
const clock = document.querySelector('[data-left]'), loaded = performance.now();
const two = (n) => String(n).padStart(2, '0');
const badgeOf = (page) => page.querySelector('.badge')?.textContent;
let isLooking = false;
const look = async () => {
  if (document.hidden || isLooking) return;
  isLooking = true;
  try {
    const text = await (await fetch(location.href)).text();
    const badge = badgeOf(new DOMParser().parseFromString(text, 'text/html'));
    if (badge !== undefined && badge !== badgeOf(document)) location.reload();
  } catch {} finally { isLooking = false; }
};
const tick = () => {
  const s = Math.max(0, Math.floor((clock.dataset.left - performance.now() + loaded) / 1000)), m = Math.floor(s / 60);
  clock.textContent = m < 60 ? m + ':' + two(s % 60) : Math.floor(m / 60) + ':' + two(m % 60) + ':' + two(s % 60);
  clock.classList.toggle('urgent', s <= 60);
};
if (clock !== null) { tick(); setInterval(tick, 1000); }
setInterval(look, ${LOOK_MS});
document.addEventListener('visibilitychange', look);
})();`);
