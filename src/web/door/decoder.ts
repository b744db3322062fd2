/** Finds QR codes in pictures, on a thread of its own, where the browser has no decoder. */
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import program from 'zxing-wasm/reader/zxing_reader.wasm';
import type { FoundCodes, Picture } from './app/decoding.ts';

declare const self: {
  onmessage: ((event: { readonly data: Picture }) => void) | null;
  postMessage(found: FoundCodes): void;
};

prepareZXingModule({ overrides: { locateFile: () => program } });

self.onmessage = ({ data: { number, width, height, pixels } }) => {
  const picture = new ImageData(new Uint8ClampedArray(pixels), width, height);
  readBarcodes(picture, { formats: ['QRCode'], maxNumberOfSymbols: 1, tryHarder: true }).then(
    (codes) => self.postMessage({ number, texts: codes.map(({ text }) => text), problem: null }),
    (error: unknown) => self.postMessage({ number, texts: [], problem: String(error) }),
  );
};
