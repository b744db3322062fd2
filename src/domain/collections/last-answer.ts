/**
 * A function that keeps its last answer, by the identity of what it was asked for: in a rush thousands ask for the same
 * one after the other.
 */
export function keepingLast<Key, Answer>(answer: (key: Key) => Answer): (key: Key) => Answer {
  let last: { readonly key: Key; readonly answer: Answer } | null = null;
  return (key) => {
    if (last === null || last.key !== key) last = { key, answer: answer(key) };
    return last.answer;
  };
}
