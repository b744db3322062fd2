/** What is around every page: where one is, and whether the service is well. */
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
