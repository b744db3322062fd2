/** Pictures of ticket codes as a camera at a door takes them: blurred, small, tilted, from the side, with glare. */
import { encode } from 'uqr';

export interface PictureOptions {
  /** Edge of the code in pixels. */
  readonly edge?: number;
  /** Rounds of blurring over three pixels. */
  readonly blur?: number;
  /** Degrees in the picture's plane. */
  readonly tilt?: number;
  /** Degrees between the code and the plane of the picture. */
  readonly aside?: number;
  /** How bright a lamp is seen on the code, from 0 to 1. */
  readonly glare?: number;
  /** Other noise, and another place in the picture. */
  readonly seed?: number;
}

export const WIDTH = 640;
export const HEIGHT = 480;
const SAMPLES = 2;
/** Distance of the camera in half edges of the code. */
const DISTANCE = 4;
const PAPER = 225;
const INK = 35;
const BACKGROUND = 110;

/** Brightness of each pixel. */
export function pictureOf(text: string, options: PictureOptions = {}): Uint8Array {
  const { edge = 300, blur = 0, tilt = 0, aside = 0, glare = 0, seed = 1 } = options;
  const random = randomOf(seed);
  // As tickets are printed.
  const { data, size } = encode(text, { border: 2, maskPattern: 2, ecc: 'L', boostEcc: false });
  const [shiftX, shiftY] = [(random() - 0.5) * 60, (random() - 0.5) * 60];
  const [cosTurn, sinTurn] = [Math.cos((tilt * Math.PI) / 180), Math.sin((tilt * Math.PI) / 180)];
  const [cosAway, sinAway] = [Math.cos((aside * Math.PI) / 180), Math.sin((aside * Math.PI) / 180)];
  const brightnessAt = (x: number, y: number): number => {
    const dx = (2 * (x - WIDTH / 2 - shiftX)) / edge;
    const dy = (2 * (y - HEIGHT / 2 - shiftY)) / edge;
    const sx = dx * cosTurn + dy * sinTurn;
    const u = (sx * DISTANCE) / (DISTANCE * cosAway - sx * sinAway);
    const v = ((dy * cosTurn - dx * sinTurn) * (DISTANCE + u * sinAway)) / DISTANCE;
    const row = data[Math.floor(((v + 1) / 2) * size)];
    const isDark = row?.[Math.floor(((u + 1) / 2) * size)];
    return isDark === undefined ? BACKGROUND : isDark ? INK : PAPER;
  };
  let picture = new Float32Array(WIDTH * HEIGHT);
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      let sum = 0;
      for (let sample = 0; sample < SAMPLES ** 2; sample += 1) {
        sum += brightnessAt(x + (sample % SAMPLES) / SAMPLES, y + Math.floor(sample / SAMPLES) / SAMPLES);
      }
      picture[y * WIDTH + x] = sum / SAMPLES ** 2;
    }
  }
  for (let round = 0; round < blur; round += 1) picture = blurred(blurred(picture, 1), WIDTH);
  const [lampX, lampY] = [WIDTH / 2 + shiftX + edge / 6, HEIGHT / 2 + shiftY - edge / 8];
  const shown = new Uint8Array(picture.length);
  for (let index = 0; index < picture.length; index += 1) {
    const [dx, dy] = [(index % WIDTH) - lampX, Math.floor(index / WIDTH) - lampY];
    const lamp = glare === 0 ? 0 : glare * 255 * Math.exp(-(dx * dx + dy * dy) / (edge / 5) ** 2);
    shown[index] = Math.max(0, Math.min(255, picture[index]! + lamp + (random() - 0.5) * 16));
  }
  return shown;
}

/** The mean of each pixel and those before and after it. */
function blurred(picture: Float32Array<ArrayBuffer>, step: number): Float32Array<ArrayBuffer> {
  const mean = picture.slice();
  for (let index = step; index < picture.length - step; index += 1) {
    mean[index] = (picture[index - step]! + picture[index]! + picture[index + step]!) / 3;
  }
  return mean;
}

function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The picture as a browser's canvas has it. */
export function toPixels(picture: Uint8Array): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(picture.length * 4).fill(255);
  picture.forEach((value, index) => pixels.fill(value, index * 4, index * 4 + 3));
  return pixels;
}

/** A film of pictures in YUV4MPEG2, each shown for a second, as Chromium plays it in place of a camera. */
export function toFilm(pictures: readonly Uint8Array[]): Buffer {
  const head = Buffer.from(`YUV4MPEG2 W${WIDTH} H${HEIGHT} F10:1 Ip A1:1 C420jpeg\n`);
  const grey = Buffer.alloc((WIDTH * HEIGHT) / 2, 128);
  const frames = pictures.flatMap((picture) =>
    Array.from({ length: 10 }, () => [Buffer.from('FRAME\n'), picture, grey]),
  );
  return Buffer.concat([head, ...frames.flat()]);
}
