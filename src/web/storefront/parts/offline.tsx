/** What a page says without a network, and how it goes on by itself when the network is back. */
import { useEffect, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import { texts } from '../app/language.ts';
import { Notice } from '../../notice.tsx';

/** A short gap, as in a lift, is not reported. */
const SAID_AFTER_MS = 2_000;
const TRIED_EVERY_MS = 5_000;

export function OfflineNotice() {
  const [isSaid, say] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = (): void => {
      clearTimeout(timer);
      if (navigator.onLine) say(false);
      else timer = setTimeout(() => say(true), SAID_AFTER_MS);
    };
    follow();
    addEventListener('online', follow);
    addEventListener('offline', follow);
    return () => {
      clearTimeout(timer);
      removeEventListener('online', follow);
      removeEventListener('offline', follow);
    };
  }, []);
  if (!isSaid) return null;
  return (
    <div class="offline" data-stays>
      <Notice tone="warn">{texts.frame.offline}</Notice>
    </div>
  );
}

/** Tries again what could not reach the service: every few seconds, and at once when the network is back. */
export function useRetry(trouble: unknown, retry: () => void): void {
  useEffect(() => {
    if (!isApiError(trouble) || trouble.status !== 0) return;
    const timer = setTimeout(retry, TRIED_EVERY_MS);
    addEventListener('online', retry);
    return () => {
      clearTimeout(timer);
      removeEventListener('online', retry);
    };
  }, [trouble]);
}
