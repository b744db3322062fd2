/**
 * What every page has: the header, the footer and the heading; and the page that stands in for one that cannot be
 * shown.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, Legal } from '#client/bodies.ts';
import { labelIn, supportHref } from '#client/brand.ts';
import { LANGUAGES } from '#texts/locale/language.ts';
import { brandOfPage, wear, type PageBrand } from '../app/brand.ts';
import { chooseLanguage, clockText, inWords, language, texts } from '../app/language.ts';
import { followAllStored, storedEventIds, recall } from '../app/storage.ts';
import { eventPath, hasMoved, homePath, Link } from '../app/router.tsx';
import { serviceAddress, useServiceNow } from '../app/service.ts';
import { Announcer, Loading } from './controls.tsx';
import { OfflineNotice } from './offline.tsx';
import { BackIcon, ClockIcon } from '../../buttons.tsx';

interface FrameProps {
  readonly title: string;
  /** The event that the page is about; null where it is about none, absent where it is not loaded. */
  readonly of?: EventPayload | null;
  readonly children: ComponentChildren;
}

export function Frame({ title, of, children }: FrameProps) {
  const brand = brandOfPage(of);
  const legal = of?.legal ?? null;
  const name = brand?.name ?? texts.frame.shop;
  useLayoutEffect(() => wear(brand), [brand]);
  useEffect(() => {
    document.title = title === texts.frame.shop ? name : `${title} · ${name}`;
  }, [title, name]);
  return (
    <>
      <a class="skip" href="#main">
        {texts.frame.skip}
      </a>
      <header class="bar">
        <Link to={homePath} class="brand">
          <Mark brand={brand} />
          <span>{name}</span>
        </Link>
        <HeaderBasket />
      </header>
      <Announcer />
      <OfflineNotice />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer class="foot">
        {legal !== null && <LegalLinks legal={legal} />}
        <BrandFoot brand={brand} />
        <LanguageSwitch />
      </footer>
    </>
  );
}

/** The logo beside the name; it has no text of its own because the name says the same. */
function Mark({ brand }: { readonly brand: PageBrand }) {
  if (brand?.logo != null) return <img src={serviceAddress(brand.logo)} alt="" width="36" height="36" />;
  return (
    <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
      <rect width="32" height="32" rx="8" class="brand-ground" />
      <path class="brand-ticket" d="M7 11h18v3.200a2 2 0 0 0 0 3.600V21H7v-3.200a2 2 0 0 0 0-3.600z" />
    </svg>
  );
}

/** What a venue says at the foot of its pages; pages without a brand have a link for developers. */
function BrandFoot({ brand }: { readonly brand: PageBrand }) {
  const { support = null, links = [], credit = false } = brand ?? {};
  return (
    <>
      {links.length > 0 && (
        <p class="legal">
          {links.map(({ label, url }) => (
            <a href={url} rel="noopener">
              {labelIn(language, label)}
            </a>
          ))}
        </p>
      )}
      <p>
        {texts.frame.held} {brand === undefined && <a href={serviceAddress('/docs')}>{texts.frame.forDevelopers}</a>}
      </p>
      {support !== null && (
        <p>
          {texts.frame.support} <a href={supportHref(support)}>{support}</a>
        </p>
      )}
      {credit && <p>{texts.frame.credit}</p>}
    </>
  );
}

/**
 * The tickets that this browser holds and for how long, of the event whose time ends first; the way to their checkout.
 */
function HeaderBasket() {
  const now = useServiceNow();
  const [, showAgain] = useState(0);
  useEffect(() => followAllStored(() => showAgain((n) => n + 1)), []);
  const baskets = storedEventIds().flatMap((id) => recall(id).held ?? []);
  const standing = baskets
    .filter(({ until }) => Date.parse(until) > now)
    .toSorted((a, b) => Date.parse(a.until) - Date.parse(b.until));
  const [first] = standing;
  if (first === undefined) return null;
  const leftMs = Date.parse(first.until) - now;
  return (
    <Link to={eventPath(first.slug, 'checkout')} class={`bar-basket${leftMs <= 60_000 ? ' urgent' : ''}`}>
      <span class="unseen">{texts.frame.yourBasket} </span>
      <span>{texts.frame.tickets(first.tickets)}</span>
      <span class="bar-clock" aria-hidden="true">
        <ClockIcon /> {clockText(leftMs)}
      </span>
    </Link>
  );
}

function LegalLinks({ legal }: { readonly legal: Legal }) {
  const links = [
    [texts.frame.terms, legal.terms_url],
    [texts.frame.imprint, legal.imprint_url],
    [texts.frame.privacy, legal.privacy_url],
  ] as const;
  return (
    <p class="legal">
      {links.map(
        ([name, address]) =>
          address !== null && (
            <a href={address} rel="noopener">
              {name}
            </a>
          ),
      )}
    </p>
  );
}

/** The way from a further page of an event back to the event. */
export function BackLink({ event }: { readonly event: EventPayload }) {
  return (
    <p class="back">
      <Link to={eventPath(event.slug)}>
        <BackIcon /> {event.name}
      </Link>
    </p>
  );
}

/** The choice of the language, each by its own name. */
function LanguageSwitch() {
  return (
    <p class="languages" role="group" aria-label={texts.frame.language}>
      {Object.entries(LANGUAGES).map(([tag, name]) => (
        <button type="button" lang={tag} aria-pressed={tag === language} onClick={() => chooseLanguage(tag)}>
          {name}
        </button>
      ))}
    </p>
  );
}

/** The heading of a page; focused when the page is reached by a link, so that it is read out. */
export function PageHeading({ children }: { readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!hasMoved()) return;
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
    <Frame title={texts.missing.title}>
      <div class="narrow">
        <PageHeading>{headingOf(error)}</PageHeading>
        <p class="lead">{error === undefined ? texts.missing.oldLink : inWords(error)}</p>
        <p>
          <Link to={homePath} class="button primary">
            {texts.missing.seeAll}
          </Link>
        </p>
      </div>
    </Frame>
  );
}

interface UnloadedProps {
  /** Why it cannot be loaded; null while it is being loaded. */
  readonly error: unknown;
  readonly title: string;
  readonly loading: string;
}

/** In place of a page whose event is not loaded. */
export function Unloaded({ error, title, loading }: UnloadedProps) {
  if (error !== null) return <Missing error={error} />;
  return (
    <Frame title={title}>
      <Loading what={loading} />
    </Frame>
  );
}

function headingOf(error: unknown): string {
  if (error === undefined) return texts.missing.page;
  return isApiError(error, 'EVENT_NOT_FOUND') ? texts.missing.event : texts.missing.now;
}
