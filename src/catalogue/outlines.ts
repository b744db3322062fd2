/** The outlines of a hall's picture (stage, walls, areas): passed through as they came, but of bounded depth. */
import { pointer, type Report } from './problem.ts';

/** What nests deeper than this is no outline, and would cost whoever prints it their stack. */
const outlineDepthMax = 12;

/** Reports the outlines that nest too deep; `path` leads to the list. */
export function checkOutlines(outlines: readonly unknown[], path: string, report: Report): void {
  for (const [index, outline] of outlines.entries()) {
    if (!fitsDepth(outline, outlineDepthMax)) {
      report(pointer(path, index), `must not nest deeper than ${outlineDepthMax} levels`);
    }
  }
}

function fitsDepth(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depthMax > 0 && Object.values(value).every((part) => fitsDepth(part, depthMax - 1));
}
