/**
 * A function that keeps its last answer, by the identity of its arguments: in a rush thousands of calls in a row have
 * the same ones.
 */
export function keepingLast<Asked extends readonly unknown[], Answer>(
  answer: (...asked: Asked) => Answer,
): (...asked: Asked) => Answer {
  let last: { readonly asked: Asked; readonly answer: Answer } | null = null;
  return (...asked) => {
    if (last === null || !areSame(last.asked, asked)) last = { asked, answer: answer(...asked) };
    return last.answer;
  };
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  for (let index = 0; index < some.length; index += 1) if (some[index] !== others[index]) return false;
  return some.length === others.length;
}
