/** A button of an event's page that opens a dialog about it. */
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import type { Api } from '../app/api.ts';
import type { OverviewEvent } from '../app/bodies.ts';

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
