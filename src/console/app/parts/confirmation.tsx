/**
 * A question before something is changed: says what will happen, takes a note and fields of its own, and shows a refusal.
 *
 * Called by every page that changes anything. It stays open until the change is done, and tells `onClose` when it is.
 */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { troubleText } from '../api.ts';

interface ConfirmationProps {
  readonly title: string;
  /** The button that does it. */
  readonly action: string;
  readonly isGrave?: boolean;
  readonly children: ComponentChildren;
  /** Does it; what it throws is shown, and the question stays. */
  readonly act: (fields: FormData, note: string | null) => Promise<void>;
  readonly onClose: () => void;
}

export function Confirmation({ title, action, isGrave = false, children, act, onClose }: ConfirmationProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isActing, setActing] = useState(false);
  useLayoutEffect(() => dialog.current!.showModal(), []);

  const submit = async (submission: SubmitEvent): Promise<void> => {
    submission.preventDefault();
    const fields = new FormData(submission.currentTarget as HTMLFormElement);
    const note = String(fields.get('note') ?? '').trim();
    setActing(true);
    setTrouble(null);
    try {
      await act(fields, note === '' ? null : note);
      onClose();
    } catch (error) {
      setTrouble(troubleText(error));
      setActing(false);
    }
  };

  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="confirmation-title">
      <form onSubmit={(submission) => void submit(submission)}>
        <h2 id="confirmation-title">{title}</h2>
        {children}
        <label class="field">
          Note <span class="quiet">why; kept with what was done</span>
          <input name="note" type="text" maxLength={1000} autocomplete="off" />
        </label>
        {trouble !== null && (
          <p class="alert" role="alert">
            {trouble}
          </p>
        )}
        <div class="actions">
          <button type="button" class="button plain" onClick={() => dialog.current!.close()}>
            Leave as it is
          </button>
          <button type="submit" class={`button primary${isGrave ? ' grave' : ''}`} disabled={isActing}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
