/** Who is signed in: the operators' token and a name for the books, kept for this tab alone and gone with it. */

export interface Session {
  readonly token: string;
  /** Written beside every change; '' leaves it out. */
  readonly operator: string;
}

const KEY = 'holdfast-operator';

export function keptSession(): Session | null {
  const text = sessionStorage.getItem(KEY);
  return text === null ? null : (JSON.parse(text) as Session);
}

export function keepSession(session: Session): void {
  sessionStorage.setItem(KEY, JSON.stringify(session));
}

export function forgetSession(): void {
  sessionStorage.removeItem(KEY);
}
