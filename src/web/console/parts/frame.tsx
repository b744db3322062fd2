/**
 * The parts that pages share: the header with search and the state of the service, breadcrumbs, filters, status tags
 * and page buttons.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ServiceState } from '../app/bodies.ts';
import { TIME_ZONE } from '../app/format.ts';
import { linkTo, linkWith } from '../app/router.ts';

interface FrameProps {
  readonly service: ServiceState | null;
  readonly trouble: string | null;
  readonly operator: string;
  readonly signOut: () => void;
  readonly children: ComponentChildren;
}

export function Frame({ service, trouble, operator, signOut, children }: FrameProps) {
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        To the content
      </a>
      <header class="top">
        <a class="home" href="#/">
          Holdfast <span>console</span>
        </a>
        <Health service={service} trouble={trouble} />
        <SearchField />
        <nav aria-label="Console">
          <a href={linkTo('money')}>Money</a>
          <a href={linkTo('journal')}>Journal</a>
          {service !== null && service.node !== null && <a href={linkTo('cluster')}>Cluster</a>}
          <a href="/docs">API</a>
          <span class="quiet who">{operator}</span>
          <button type="button" class="button plain small-button" onClick={signOut}>
            Sign out
          </button>
        </nav>
      </header>
      <main id="content">{children}</main>
      <footer class="quiet small">All times are of {TIME_ZONE}, the zone of this browser.</footer>
    </>
  );
}

/** The part behind # in the address is the page's, so that the link moves the focus by itself. */
function skip(press: MouseEvent): void {
  press.preventDefault();
  document.querySelector<HTMLElement>('main h1')?.focus();
}

/** Search over all orders; ⌘K or Ctrl K leads to it. */
function SearchField() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (key: KeyboardEvent): void => {
      if (key.key.toLowerCase() !== 'k' || !(key.metaKey || key.ctrlKey)) return;
      key.preventDefault();
      field.current!.select();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const isMac = navigator.userAgent.includes('Mac');
  const search = (submission: SubmitEvent): void => {
    submission.preventDefault();
    const q = field.current!.value.trim();
    if (q.length > 1) location.hash = linkWith({ q }, 'search');
  };
  return (
    <form class="search" role="search" onSubmit={search}>
      <input
        ref={field}
        type="search"
        placeholder="Search orders"
        aria-label="Search orders"
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        autocomplete="off"
      />
      <kbd aria-hidden="true">{isMac ? '⌘K' : 'Ctrl K'}</kbd>
    </form>
  );
}

interface FilterFormProps {
  /** The page that the fields filter. */
  readonly path: readonly string[];
  readonly children: ComponentChildren;
}

/** Fields whose values become the filters of the page's address. */
export function FilterForm({ path, children }: FilterFormProps) {
  const find = (submission: SubmitEvent): void => {
    submission.preventDefault();
    const fields = new FormData(submission.currentTarget as HTMLFormElement);
    const filters = Object.fromEntries(Array.from(fields, ([name, value]) => [name, String(value).trim()]));
    location.hash = linkWith(filters, ...path);
  };
  return (
    <form class="finder wide-finder" role="search" aria-label="Filters" onSubmit={find}>
      {children}
      <button type="submit" class="button primary">
        Search
      </button>
    </form>
  );
}

function Health({ service, trouble }: Pick<FrameProps, 'service' | 'trouble'>) {
  if (trouble !== null) {
    return (
      <span class="state bad" role="status">
        No answer: {trouble}
      </span>
    );
  }
  if (service === null) return <span class="state" />;
  return (
    <span class={`state ${service.ready && service.degraded.length === 0 ? 'good' : 'bad'}`} role="status">
      {wordsOf(service)}
    </span>
  );
}

function wordsOf({ ready, reason, degraded }: NonNullable<FrameProps['service']>): string {
  if (!ready) return `Not ready: ${reason}`;
  return degraded.length === 0 ? 'Ready' : `Ready, but look at ${degraded.join(', ')}`;
}

let hasShownPage = false;

/**
 * The heading of a page, and its name in the browser. It has the focus when an operator comes from another page of the
 * console.
 */
export function PageTitle({ children }: { readonly children: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${children} · Holdfast console`;
  }, [children]);
  useLayoutEffect(() => {
    if (hasShownPage) heading.current!.focus({ preventScroll: true });
    hasShownPage = true;
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

/** The way to a page: the overview, then links to the pages above this one. */
export function Breadcrumbs({ links = [] }: { readonly links?: readonly (readonly [href: string, name: string])[] }) {
  return (
    <p class="crumbs">
      <a href="#/">On sale now</a>
      {links.map(([href, name]) => (
        <>
          {' '}
          / <a href={href}>{name}</a>
        </>
      ))}
    </p>
  );
}

interface FilterChoiceProps {
  /** The name of the field, and of its filter in the address. */
  readonly name: string;
  readonly chosen: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, text: string])[];
}

/** A list to choose a filter from; the first choice is no filter. */
export function FilterChoice({ name, chosen, label, options }: FilterChoiceProps) {
  return (
    <select name={name} aria-label={label} key={chosen}>
      <option value="">Every {label.toLowerCase()}</option>
      {options.map(([value, text]) => (
        <option key={value} value={value} selected={value === chosen}>
          {text}
        </option>
      ))}
    </select>
  );
}

interface TilesProps {
  /** What they are about; absent where a heading says it. */
  readonly label?: string;
  readonly tiles: readonly Tile[];
}

/** A figure with its name, and whether it asks somebody to act. */
export type Tile = readonly [name: string, value: ComponentChildren, isPressing?: boolean];

/** Figures of now. */
export function Tiles({ label, tiles }: TilesProps) {
  return (
    <dl class="tiles" aria-label={label}>
      {tiles.map(([name, value, isPressing = false]) => (
        <div key={name} class={isPressing ? 'pressing' : ''}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The status of an order or a performance. */
export function StatusTag({ status }: { readonly status: string }) {
  return <span class={`tag ${status}`}>{status.replace('_', ' ')}</span>;
}

interface PageButtonsProps<Cursor> {
  /** The cursors of the pages that were opened; the last one is shown, without one the first page. */
  readonly opened: readonly Cursor[];
  readonly next: Cursor | null;
  readonly show: (opened: readonly Cursor[]) => void;
  readonly names: { readonly back: string; readonly on: string };
}

export function PageButtons<Cursor>({ opened, next, show, names }: PageButtonsProps<Cursor>) {
  return (
    <div class="actions">
      {opened.length > 0 && (
        <button type="button" class="button" onClick={() => show(opened.slice(0, -1))}>
          {names.back}
        </button>
      )}
      {next !== null && (
        <button type="button" class="button" onClick={() => show([...opened, next])}>
          {names.on}
        </button>
      )}
    </div>
  );
}
