/** A page that cannot be shown, and why. */
import { inWords } from '../messages.ts';
import { Frame, PageHeading } from '../parts/frame.tsx';
import { homePath, Link } from '../router.tsx';

export function Missing({ error }: { readonly error?: unknown }) {
  return (
    <Frame title="Not found">
      <div class="narrow">
        <PageHeading>{error === undefined ? 'There is no such page' : 'This cannot be shown right now'}</PageHeading>
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
