/** Fields of forms that several dialogs and pages have, and what was typed in them. */

export interface Option {
  readonly id: string;
  readonly name: string;
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly options: readonly Option[];
  /** What the first choice says, which is none of the options; absent where one must be chosen. */
  readonly none?: string;
}

export function Choice({ label, name, options, none }: ChoiceProps) {
  return (
    <label class="field">
      {label}
      <select name={name}>
        {none !== undefined && <option value="">{none}</option>}
        {options.map((option) => (
          <option key={option.id} value={option.id}>
            {option.name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Where an operator says why. */
export function NoteField() {
  return (
    <label class="field">
      Note <span class="quiet">why; kept with what was done</span>
      <input name="note" type="text" maxLength={1000} autocomplete="off" />
    </label>
  );
}

/** What was typed or chosen; null where the field is empty or is not there. */
export function textIn(fields: FormData, name: string): string | null {
  const text = String(fields.get(name) ?? '').trim();
  return text === '' ? null : text;
}
