/** Reads QR codes of a video's picture: by the browser, where it can, else by the decoder of this page in a worker. */

export interface Picture {
  readonly number: number;
  readonly width: number;
  readonly height: number;
  /** Red, green, blue, opacity of each pixel. */
  readonly pixels: ArrayBuffer;
}

export interface FoundCodes {
  readonly number: number;
  readonly texts: readonly string[];
  /** Why the decoder could not work. */
  readonly problem: string | null;
}

interface CodeReader {
  /** The text of a code in the picture that is shown now; null where there is none. */
  read(video: HTMLVideoElement): Promise<string | null>;
  close(): void;
}

interface Detector {
  detect(source: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]>;
}

interface DetectorClass {
  new (options: { readonly formats: readonly string[] }): Detector;
  getSupportedFormats(): Promise<readonly string[]>;
}

/** Larger pictures show no more of a code that is held in front of a camera. */
const EDGE_MAX = 960;

/** For one picture, the first of which waits for the decoder to be loaded. */
const ANSWER_MS_MAX = 30_000;

/** The decoder of this page cannot be loaded, or does not work. */
export class NoDecoder extends Error {}

/** `decoder` is the address of the worker. */
export async function openCodeReader(decoder: string): Promise<CodeReader> {
  const { BarcodeDetector: Detector } = globalThis as { readonly BarcodeDetector?: DetectorClass };
  const formats = (await Detector?.getSupportedFormats().catch(() => [])) ?? [];
  if (Detector === undefined || !formats.includes('qr_code')) return workerReader(decoder);
  const detector = new Detector({ formats: ['qr_code'] });
  return { read: async (video) => (await detector.detect(video))[0]?.rawValue ?? null, close: () => {} };
}

function workerReader(decoder: string): CodeReader {
  const worker = new Worker(decoder, { type: 'module' });
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true })!;
  const waiting = new Map<number, (found: FoundCodes) => void>();
  let pictures = 0;
  let isBroken = false;
  const answer = (found: FoundCodes): void => {
    waiting.get(found.number)?.(found);
    waiting.delete(found.number);
  };
  const give = (number: number, problem: string): void => answer({ number, texts: [], problem });
  worker.onmessage = ({ data }: MessageEvent<FoundCodes>) => answer(data);
  // A worker that cannot be loaded says no more than that.
  worker.onerror = () => {
    isBroken = true;
    for (const number of [...waiting.keys()]) give(number, 'the worker cannot be loaded');
  };
  return {
    async read(video) {
      const scale = Math.min(1, EDGE_MAX / Math.max(video.videoWidth, video.videoHeight));
      const [width, height] = [Math.round(video.videoWidth * scale), Math.round(video.videoHeight * scale)];
      if (isBroken) throw new NoDecoder('the worker cannot be loaded');
      if (width === 0 || height === 0) return null;
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
      context.drawImage(video, 0, 0, width, height);
      const pixels = context.getImageData(0, 0, width, height).data.buffer as ArrayBuffer;
      const number = (pictures += 1);
      const found = new Promise<FoundCodes>((resolve) => waiting.set(number, resolve));
      worker.postMessage({ number, width, height, pixels } satisfies Picture, [pixels]);
      const late = setTimeout(() => give(number, 'the worker does not answer'), ANSWER_MS_MAX);
      const { texts, problem } = await found;
      clearTimeout(late);
      if (problem !== null) throw new NoDecoder(problem);
      return texts[0] ?? null;
    },
    close: () => worker.terminate(),
  };
}
