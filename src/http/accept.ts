/** Whether the sender of an Accept header would rather have HTML than JSON, as a browser that opens an address. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const ranges = accept.split(',').map(readRange);
  return qualityOf(ranges, 'text/html') > qualityOf(ranges, 'application/json');
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

function readRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  const value = quality === undefined ? 1 : Number(quality.slice(2));
  return { type, quality: Number.isNaN(value) ? 0 : value };
}

/** The quality of the range that names the type most closely (RFC 9110, 12.5.1). */
function qualityOf(ranges: readonly MediaRange[], type: string): number {
  const [kind] = type.split('/');
  for (const name of [type, `${kind}/*`, '*/*']) {
    const range = ranges.find((each) => each.type === name);
    if (range !== undefined) return range.quality;
  }
  return 0;
}
