/** What a guide of the reference consists of. Text between backticks is shown as code; an example is one of `examples.ts`. */
import type { ExampleKey } from './examples.ts';

export type Block = { readonly text: string } | { readonly code: string } | { readonly example: ExampleKey };

export interface Guide {
  readonly slug: string;
  readonly title: string;
  readonly lead: string;
  readonly sections: readonly { readonly title: string; readonly blocks: readonly Block[] }[];
}
