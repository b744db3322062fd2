/** The parts that pages share: the header with the state of the service, breadcrumbs, status tags and page buttons. */
import type { ComponentChildren } from 'preact';
import type { ServiceFigures } from '../bodies.ts';
import { linkTo } from '../router.ts';

interface FrameProps {
  readonly service: ServiceFigures | null;
  readonly trouble: string | null;
  readonly operator: string;
  readonly signOut: () => void;
  readonly children: ComponentChildren;
}

export function Frame({ service, trouble, operator, signOut, children }: FrameProps) {
  return (
    <>
      <header class="top">
        <a class="home" href="#/">
          Holdfast <span>console</span>
        </a>
        <Health service={service} trouble={trouble} />
        <nav aria-label="Console">
          <a href={linkTo('journal')}>Journal</a>
          <a href="/docs">API</a>
          <span class="quiet who">{operator}</span>
          <button type="button" class="button plain small-button" onClick={signOut}>
            Sign out
          </button>
        </nav>
      </header>
      <main>{children}</main>
    </>
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
