/** Tables that scroll by themselves where they are wider than the page, also by keyboard. */
import type { ComponentChildren } from 'preact';

/** A heading of a column, and its classes. */
export type Column = readonly [name: ComponentChildren, look?: 'number' | 'wide-only' | 'number wide-only'];

interface TableProps {
  /** What it is called to screen readers. */
  readonly label: string;
  /** None where the first cell of a row says what it is about. */
  readonly columns?: readonly Column[];
  /** Whether it is within a card, so that it is no card itself. */
  readonly isInCard?: boolean;
  /** The rows. */
  readonly children: ComponentChildren;
}

export function Table({ label, columns = [], isInCard = false, children }: TableProps) {
  return (
    <div class={isInCard ? 'table-frame' : 'table-frame card'} tabIndex={0} role="region" aria-label={label}>
      <table>
        {columns.length > 0 && (
          <thead>
            <tr>
              {columns.map(([name, look], index) => (
                <th key={index} class={look}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
