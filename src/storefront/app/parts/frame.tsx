/** What every page has: the header, the footer and the heading; and the page that stands in for one that cannot be shown. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import { inWords } from '../messages.ts';
import { homePath, Link } from '../router.tsx';
import { serviceAddress } from '../service.ts';

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

/** A page that cannot be shown, and why; without an error there is no such page. */
export function Missing({ error }: { readonly error?: unknown }) {
  return (
    <Frame title="Not found">
      <div class="narrow">
        <PageHeading>{headingOf(error)}</PageHeading>
        <p class="lead">{error === undefined ? 'The link may be old, or mistyped.' : inWords(error)}</p>
        <p>
          <Link to={homePath} class="button primary">
            See all events
          </Link>
        </p>
      </div>
    </Frame>
  );
}

function headingOf(error: unknown): string {
  if (error === undefined) return 'There is no such page';
  return isApiError(error, 'EVENT_NOT_FOUND') ? 'There is no such event' : 'This cannot be shown right now';
}
