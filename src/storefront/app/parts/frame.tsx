/** What every page has around it: the bar at the top, the end at the bottom, and the one heading that is focused. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { homePath, Link } from '../router.tsx';
import { serviceAddress } from '../shop.ts';

export function Frame({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  useEffect(() => {
    document.title = title === 'Tickets' ? title : `${title} · Tickets`;
  }, [title]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <Link to={homePath} class="brand">
          <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
            <rect width="32" height="32" rx="8" class="brand-ground" />
            <path class="brand-ticket" d="M7 11h18v3.200a2 2 0 0 0 0 3.600V21H7v-3.200a2 2 0 0 0 0-3.600z" />
          </svg>
          <span>Holdfast</span>
        </Link>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer class="foot">
        <p>
          Held tickets are yours until the clock runs out. <a href={serviceAddress('/docs')}>For developers</a>
        </p>
      </footer>
    </>
  );
}

/** The heading of a page; focused when the page is reached by a link, so that it is read out. */
export function PageHeading({ children }: { readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (history.state === null && document.activeElement === document.body) return;
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
