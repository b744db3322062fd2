/**
 * Latencies in microseconds, exact to three digits, from one microsecond to an hour; packed as text for messages and
 * files.
 */
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js';

const HOUR_MICROS = 3_600_000_000;

export function newHistogram(): Histogram {
  return build({
    bitBucketSize: 64,
    lowestDiscernibleValue: 1,
    highestTrackableValue: HOUR_MICROS,
    numberOfSignificantValueDigits: 3,
  });
}

export function recordMillis(histogram: Histogram, milliseconds: number): void {
  histogram.recordValue(Math.max(1, Math.round(milliseconds * 1000)));
}

export function packHistogram(histogram: Histogram): string {
  return encodeIntoCompressedBase64(histogram);
}

export function unpackHistogram(packed: string): Histogram {
  return decodeFromCompressedBase64(packed, 64);
}

export function mergeHistograms(packed: readonly string[]): string {
  const merged = newHistogram();
  for (const each of packed) merged.add(unpackHistogram(each));
  return packHistogram(merged);
}

export function percentileMillis(packed: string, percentile: number): number {
  return unpackHistogram(packed).getValueAtPercentile(percentile) / 1000;
}

/** How many were longer. */
export function countOver(packed: string, milliseconds: number): number {
  const histogram = unpackHistogram(packed);
  const { totalCount: total } = histogram;
  let shorter = 0;
  for (let end = total; shorter < end;) {
    const middle = (shorter + end) >> 1;
    const isLonger = histogram.getValueAtPercentile((100 * (middle + 1)) / total) > milliseconds * 1_000;
    if (isLonger) end = middle;
    else shorter = middle + 1;
  }
  return total - shorter;
}
