/**
 * The dialog before a change: it says what will happen, takes a note and further fields, and shows a refusal.
 *
 * It stays open until the change is done or dismissed, and then calls `onClose`. Dismissed, the focus is where it was
 * before; after a change it is on the heading of the page. On an event's page a button opens such a dialog.
 */
import type { ComponentChildren, ComponentType } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { textOfError, type Api } from '../app/api.ts';
import type { OverviewEvent } from '../app/bodies.ts';
import { NoteField, textIn } from './fields.tsx';

interface ConfirmationProps {
  readonly title: string;
  /**
   * The name of the button that makes the change; where there are several, their names by their values of the field
   * `outcome`.
   */
  readonly action: string | Readonly<Record<string, string>>;
  readonly isGrave?: boolean;
  /** Whether it asks for a note; nothing is written about an erasure but who made it. */
  readonly hasNote?: boolean;
  readonly children: ComponentChildren;
  /** Makes the change; what it throws is shown, and the dialog stays open. */
  readonly act: (fields: FormData, note: string | null) => Promise<void>;
  readonly onClose: () => void;
}

export function Confirmation(props: ConfirmationProps) {
  const { title, action, isGrave = false, hasNote = true, children, act, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isActing, setActing] = useState(false);
  useLayoutEffect(() => dialog.current!.showModal(), []);

  const submit = async (submission: SubmitEvent): Promise<void> => {
    submission.preventDefault();
    const fields = new FormData(submission.currentTarget as HTMLFormElement, submission.submitter);
    setActing(true);
    setTrouble(null);
    try {
      await act(fields, textIn(fields, 'note'));
      dialog.current!.close();
      // The button that asked may be gone now; what was changed is under the heading.
      document.querySelector<HTMLElement>('main h1')?.focus();
    } catch (error) {
      setTrouble(textOfError(error));
      setActing(false);
    }
  };

  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="confirmation-title">
      <form onSubmit={(submission) => void submit(submission)} onKeyDown={keepOpen}>
        <h2 id="confirmation-title">{title}</h2>
        {children}
        {hasNote && <NoteField />}
        {trouble !== null && (
          <p class="alert" role="alert">
            {trouble}
          </p>
        )}
        <div class="actions">
          <button type="button" class="button plain" onClick={() => dialog.current!.close()}>
            Leave as it is
          </button>
          {(typeof action === 'string' ? [['', action] as const] : Object.entries(action)).map(([outcome, name]) => (
            <button
              key={outcome}
              type="submit"
              name="outcome"
              value={outcome}
              class={`button primary${isGrave ? ' grave' : ''}`}
              disabled={isActing}
            >
              {name}
            </button>
          ))}
        </div>
      </form>
    </dialog>
  );
}

/** Enter in a field does not answer the question: it is a key that is pressed by habit. */
function keepOpen(press: KeyboardEvent): void {
  if (press.key === 'Enter' && press.target instanceof HTMLInputElement) press.preventDefault();
}

/** What a dialog about an event gets. */
export interface EventDialogProps {
  readonly event: OverviewEvent;
  readonly api: Api;
  readonly reload: () => void;
  readonly onClose: () => void;
}

interface DialogButtonProps extends Omit<EventDialogProps, 'onClose'> {
  readonly label: string;
  readonly dialog: ComponentType<EventDialogProps>;
}

/** A button of an event's page that opens a dialog about it. */
export function DialogButton({ label, dialog: Dialog, ...about }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && <Dialog {...about} onClose={() => setOpen(false)} />}
    </>
  );
}
