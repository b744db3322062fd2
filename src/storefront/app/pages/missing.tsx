/** A page that cannot be shown, and why. */
import { isApiError } from '#client/api-error.ts';
import { inWords } from '../messages.ts';
import { Frame, PageHeading } from '../parts/frame.tsx';
import { homePath, Link } from '../router.tsx';

/** What stands above the words of an error. */
function headingOf(error: unknown): string {
  if (error === undefined) return 'There is no such page';
  return isApiError(error, 'EVENT_NOT_FOUND') ? 'There is no such event' : 'This cannot be shown right now';
}

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
