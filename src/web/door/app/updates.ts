/** The service worker that keeps the page for when the service cannot be reached, and newer versions of the page. */

const CHECK_MS = 10 * 60_000;

/** The version of this page. */
export const version = document.querySelector<HTMLMetaElement>('meta[name="version"]')!.content;

/** Calls back once a newer version of the page was loaded, with what begins to use it. */
export async function followUpdates(onNewer: (use: () => void) => void): Promise<void> {
  // Only https and localhost have it.
  if (!('serviceWorker' in navigator)) return;
  const { serviceWorker } = navigator;
  serviceWorker.addEventListener('message', ({ data, source }: MessageEvent<string>) => {
    if (data === 'in use') location.reload();
    else if (data !== version) onNewer(() => (source as ServiceWorker).postMessage('use newest'));
  });
  const registration = await serviceWorker.register('/door/service-worker.js', { scope: '/door' });
  serviceWorker.controller?.postMessage('which version');
  setInterval(() => void registration.update().catch(() => {}), CHECK_MS);
}
