/**
 * The score for performance that Lighthouse 12 gives a page on a phone, of measured figures.
 *
 * Each figure gets a share from 0 to 1 by a log-normal curve through two points: 0.9 at `p10` and 0.5 at `median`; the
 * score is the weighted mean. Weights are those of `core/config/default-config.js` of Lighthouse 12.0, points those of
 * its audits in `core/audits/metrics/` for mobile, and the curve that of `shared/statistics.js`
 * (github.com/GoogleChrome/lighthouse; https://developer.chrome.com/docs/lighthouse/performance/performance-scoring).
 *
 * The speed index needs a film of the page. The largest contentful paint stands in for it: the index is a mean over the
 * way to a whole page. Of a hall, whose plan comes later and is no candidate for that paint, it is too good by up to a
 * tenth of the score.
 */

/** Milliseconds, but for the layout shift. */
export interface Figures {
  readonly fcp: number;
  readonly lcp: number;
  /** Total blocking time: what tasks after the first paint take beyond 50 ms each. */
  readonly blocking: number;
  readonly cls: number;
}

interface Curve {
  readonly weight: number;
  readonly p10: number;
  readonly median: number;
}

const CURVES = {
  fcp: { weight: 10, p10: 1_800, median: 3_000 },
  speedIndex: { weight: 10, p10: 3_387, median: 5_800 },
  lcp: { weight: 25, p10: 2_500, median: 4_000 },
  blocking: { weight: 30, p10: 200, median: 600 },
  cls: { weight: 25, p10: 0.1, median: 0.25 },
} as const satisfies Readonly<Record<string, Curve>>;

/** From 0 to 100. */
export function scoreOf(figures: Figures): number {
  const values = { ...figures, speedIndex: figures.lcp };
  const parts = Object.entries(CURVES).map(
    ([name, curve]) => curve.weight * shareOf(curve, values[name as keyof typeof CURVES]),
  );
  return parts.reduce((sum, part) => sum + part, 0);
}

/** The inverse of the complementary error function at 1/5: how far the tenth best is from the median. */
const INVERSE_ERFC_FIFTH = 0.9061938024368232;

function shareOf({ p10, median }: Curve, value: number): number {
  if (value <= 0) return 1;
  const distance = (Math.log(value / median) * INVERSE_ERFC_FIFTH) / Math.log(median / p10);
  return Math.min(1, Math.max(0, (1 - erf(distance)) / 2));
}

/** Abramowitz and Stegun 7.1.26: off by at most 1.5e-7. */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const y = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - y * Math.exp(-x * x));
}
