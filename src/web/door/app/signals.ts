/** Sound and vibration of a verdict. Browsers play sound only after somebody touched the page. */

export type Tone = 'good' | 'bad' | 'unsure';

/** Frequencies, one after another. */
const NOTES: Readonly<Record<Tone, readonly number[]>> = {
  good: [880, 1_320],
  bad: [220, 165, 220],
  unsure: [440, 440],
};
const VIBRATIONS: Readonly<Record<Tone, readonly number[]>> = {
  good: [80],
  bad: [250, 80, 250],
  unsure: [120, 80, 120],
};
const NOTE_S = 0.12;
const LOUDNESS = 0.25;

let audio: AudioContext | null = null;

/** Call it when somebody touches the page. */
export function allowSound(): void {
  if (!('AudioContext' in globalThis)) return;
  audio ??= new AudioContext();
  if (audio.state === 'suspended') void audio.resume();
}

export function signal(tone: Tone): void {
  if ('vibrate' in navigator) navigator.vibrate([...VIBRATIONS[tone]]);
  if (audio?.state !== 'running') return;
  const { currentTime, destination } = audio;
  const oscillator = audio.createOscillator();
  const gain = audio.createGain();
  oscillator.type = tone === 'good' ? 'sine' : 'square';
  gain.gain.value = LOUDNESS;
  NOTES[tone].forEach((hertz, index) => oscillator.frequency.setValueAtTime(hertz, currentTime + index * NOTE_S));
  oscillator.connect(gain).connect(destination);
  oscillator.start();
  oscillator.stop(currentTime + NOTES[tone].length * NOTE_S);
}
