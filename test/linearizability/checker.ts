/**
 * Checks whether a recorded history is linearizable: whether every operation could have happened at one moment between
 * its call and its return, in an order that a sequential model allows.
 *
 * The search is that of Wing and Gong (“Testing and verifying concurrent objects”, 1993) with Lowe's set of the
 * configurations that were tried (“Testing for linearizability”, 2017). Histories of independent objects are checked
 * one by one, which Horn and Kroening prove correct (“Faster linearizability checking via P-compositionality”, 2015).
 * Crashes are checked strictly (Aguilera and Frølund, “Strict linearizability and the power of aborting”, 2003): an
 * operation that was never answered happened before the crash or never. The model alone knows what operations mean.
 *
 *  1. An operation that returned before another was called comes before it.
 *  2. Times are taken before the call and after the return, on one clock, so that every rejected history is really
 *     wrong.
 */

/** One call as its client recorded it. */
export interface Operation<Input, Output> {
  readonly input: Input;
  /** Null when it was never answered. */
  readonly output: Output | null;
  readonly calledAt: number;
  /** When it was answered; without an answer, the time after which it can no longer happen. */
  readonly returnedAt: number;
}

/** The effect of operations that happen one after the other. */
export interface Model<State, Input, Output> {
  readonly initial: State;
  /**
   * The states that an operation with this output can lead to; none when this output is impossible. Without an output:
   * every state that the operation may have left, the unchanged state included.
   */
  step(state: State, input: Input, output: Output | null): readonly State[];
  /** Equal for equal states, and only for them. */
  keyOf(state: State): string;
}

type CheckResult<State, Input, Output> =
  | { readonly isLinearizable: true; readonly configurations: number }
  | {
      readonly isLinearizable: false;
      /** The longest order that could be found. */
      readonly explained: readonly Operation<Input, Output>[];
      readonly state: State;
      /** The operations that would have to come next; none of them can. */
      readonly stuckAt: readonly Operation<Input, Output>[];
    };

/** A search that needs more configurations is given up: too many operations of the history overlap on one object. */
const CONFIGURATIONS_MAX = 2_000_000;

/** An order that was found so far: it has all operations before `first`, and some later ones. */
interface Configuration<State> {
  readonly first: number;
  readonly ahead: readonly number[];
  readonly state: State;
  readonly length: number;
  readonly before: { readonly configuration: Configuration<State>; readonly index: number } | null;
}

/**
 * Searches for an order of the operations that the model allows. The cost grows with the number of operations that
 * overlap.
 */
export function checkHistory<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
): CheckResult<State, Input, Output> {
  const operations = history.toSorted((a, b) => a.calledAt - b.calledAt);
  const start: Configuration<State> = { first: 0, ahead: [], state: model.initial, length: 0, before: null };
  const ahead = [start];
  const seen = new Set<string>();
  let longest = start;
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if (next.length === operations.length) return { isLinearizable: true, configurations: seen.size };
    if (next.length > longest.length) longest = next;
    // The operation that returned first is tried first, because that is most often the right order.
    const candidates = candidatesOf(operations, next).sort((a, b) => b.operation.returnedAt - a.operation.returnedAt);
    for (const { index, operation } of candidates) {
      for (const state of model.step(next.state, operation.input, operation.output)) {
        const configuration = extend(next, index, state);
        const key = `${configuration.first} ${configuration.ahead.join()} ${model.keyOf(state)}`;
        if (seen.has(key)) continue;
        seen.add(key);
        ahead.push(configuration);
      }
    }
    if (seen.size > CONFIGURATIONS_MAX) throw new Error(`undecided after ${seen.size} configurations`);
  }
  return {
    isLinearizable: false,
    explained: orderOf(longest).map((index) => operations[index]!),
    state: longest.state,
    stuckAt: candidatesOf(operations, longest).map(({ operation }) => operation),
  };
}

/**
 * The operations that may come next: those before whose call no other one returned that is not in the order yet (1).
 */
function candidatesOf<State, Each extends Operation<unknown, unknown>>(
  operations: readonly Each[],
  { first, ahead }: Configuration<State>,
): { readonly index: number; readonly operation: Each }[] {
  const candidates = [];
  let earliestReturn = Number.POSITIVE_INFINITY;
  for (let index = first; index < operations.length; index += 1) {
    if (ahead.includes(index)) continue;
    const operation = operations[index]!;
    if (operation.calledAt > earliestReturn) break;
    candidates.push({ index, operation });
    earliestReturn = Math.min(earliestReturn, operation.returnedAt);
  }
  return candidates;
}

function extend<State>(configuration: Configuration<State>, index: number, state: State): Configuration<State> {
  const done = [...configuration.ahead, index].sort((a, b) => a - b);
  let { first } = configuration;
  while (done[0] === first) {
    done.shift();
    first += 1;
  }
  return { first, ahead: done, state, length: configuration.length + 1, before: { configuration, index } };
}

function orderOf<State>(configuration: Configuration<State>): readonly number[] {
  const order: number[] = [];
  for (let at = configuration; at.before !== null; at = at.before.configuration) order.push(at.before.index);
  return order.reverse();
}
