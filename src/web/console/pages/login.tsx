/** The page that asks for the token and signs in when the service accepts it. */
import { useState } from 'preact/hooks';
import { isApiError } from '#client/api-error.ts';
import { createApi, textOfError, type Session } from '../app/api.ts';

export function LoginPage({ onSignedIn }: { readonly onSignedIn: (session: Session) => void }) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const signIn = async (submission: SubmitEvent): Promise<void> => {
    submission.preventDefault();
    const fields = new FormData(submission.currentTarget as HTMLFormElement);
    const field = (name: string): string => String(fields.get(name) ?? '').trim();
    const session = { token: field('token'), operator: field('operator') };
    setBusy(true);
    setTrouble(null);
    try {
      await createApi(session, () => {})('GET', '/admin/overview?limit=1');
      onSignedIn(session);
    } catch (error) {
      setTrouble(isApiError(error, 'UNAUTHORIZED') ? 'This token does not open the console.' : textOfError(error));
      setBusy(false);
    }
  };

  return (
    <main class="login">
      <form onSubmit={(submission) => void signIn(submission)}>
        <h1>Holdfast console</h1>
        <p class="quiet">
          The token is the setting <code>ADMIN_TOKEN</code>, or stands in the file <code>admin-token</code> of the data
          folder. It is kept for this tab alone.
        </p>
        <label class="field">
          Token
          <input name="token" type="password" required autocomplete="off" autofocus />
        </label>
        <label class="field">
          Your name <span class="quiet">kept with what you change; may be left out</span>
          <input name="operator" type="text" maxLength={60} autocomplete="name" />
        </label>
        {trouble !== null && (
          <p class="alert" role="alert">
            {trouble}
          </p>
        )}
        <button type="submit" class="button primary wide" disabled={isBusy}>
          Sign in
        </button>
      </form>
    </main>
  );
}
