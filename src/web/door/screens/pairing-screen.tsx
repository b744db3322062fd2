import { texts } from '../app/language.ts';
import type { ScanStationView } from '../app/station.ts';

interface PairingScreenProps {
  readonly view: ScanStationView;
  readonly isUnknown: boolean;
  readonly onPair: (token: string) => Promise<void>;
}

export function PairingScreen({ view, isUnknown, onPair }: PairingScreenProps) {
  const { pairing } = texts;
  const isRevoked = view.state === 'revoked';
  const left = view.waiting + view.refused.length;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const token = String(new FormData(form).get('token') ?? '').trim();
    form.reset();
    // Somebody may type the whole address.
    if (token !== '') void onPair(token.slice(token.indexOf('#') + 1));
  };
  return (
    <section class="card">
      <h2>{isRevoked ? pairing.revokedTitle : pairing.title}</h2>
      {isRevoked && <p role="alert">{pairing.revoked}</p>}
      {left > 0 && <p class="notice">{pairing.waitingKept(left)}</p>}
      <p class="quiet">{pairing.lead}</p>
      <form onSubmit={submit} autocomplete="off">
        <label>
          {pairing.token}
          <input name="token" type="text" autocapitalize="none" autocomplete="off" spellcheck={false} required />
        </label>
        {isUnknown && (
          <p class="problem" role="alert">
            {pairing.unknown}
          </p>
        )}
        <button type="submit" class="primary">
          {isRevoked ? pairing.anew : pairing.pair}
        </button>
      </form>
    </section>
  );
}
