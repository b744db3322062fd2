/** What happened, said by assistive technology without moving the focus: one live region for the whole page. */
import { useEffect, useState } from 'preact/hooks';

let said = '';
const listeners = new Set<() => void>();

/** Has a sentence read out. The same sentence again is said again. */
export function announce(sentence: string): void {
  said = sentence === said ? `${sentence}\u00a0` : sentence;
  for (const listener of listeners) listener();
}

export function Announcer() {
  const [text, setText] = useState(said);
  useEffect(() => {
    const follow = (): void => setText(said);
    listeners.add(follow);
    return () => void listeners.delete(follow);
  }, []);
  return (
    <p class="unseen" role="status" id="announcements">
      {text}
    </p>
  );
}
