/** The camera's picture, in which codes are looked for while no verdict is shown. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { NoDecoder, openCodeReader } from '../app/decoding.ts';
import { texts } from '../app/language.ts';

/** Between two pictures: a phone has time to cool. */
const PAUSE_MS = 100;

const DECODER = document.querySelector<HTMLMetaElement>('meta[name="decoder"]')!.content;

interface CameraViewProps {
  readonly isPaused: boolean;
  readonly onCode: (code: string) => void;
}

export function CameraView({ isPaused, onCode }: CameraViewProps) {
  const video = useRef<HTMLVideoElement>(null);
  const [isStarted, setStarted] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const latest = useRef({ isPaused, onCode });
  latest.current = { isPaused, onCode };

  useEffect(() => {
    const start = async (): Promise<void> => {
      const camera = await navigator.permissions.query({ name: 'camera' as PermissionName });
      if (camera.state === 'granted') setStarted(true);
    };
    // Browsers that cannot say it are started by hand.
    if ('permissions' in navigator) void start().catch(() => {});
  }, []);

  useEffect(() => {
    if (!isStarted) return;
    const end = new AbortController();
    setTrouble(null);
    readCodes(video.current!, () => latest.current, end.signal).catch((error: unknown) => {
      if (end.signal.aborted) return;
      setTrouble(error instanceof NoDecoder ? texts.scanning.noDecoder : texts.scanning.noCamera);
      setStarted(false);
    });
    return () => end.abort();
  }, [isStarted]);

  const { scanning } = texts;
  // Only https and localhost have cameras.
  if (!('mediaDevices' in navigator)) return null;
  return (
    <div class="camera">
      <video ref={video} muted playsInline aria-label={scanning.camera} hidden={!isStarted} />
      {!isStarted && (
        <button type="button" class="primary" onClick={() => setStarted(true)}>
          {scanning.startCamera}
        </button>
      )}
      {trouble !== null && (
        <p class="problem" role="alert">
          {trouble}
        </p>
      )}
    </div>
  );
}

/** Plays the camera until the signal ends it; throws where there is none. */
async function readCodes(video: HTMLVideoElement, latest: () => CameraViewProps, signal: AbortSignal): Promise<void> {
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { facingMode: 'environment', width: { ideal: 1_280 }, height: { ideal: 960 } },
  });
  const lock = await navigator.wakeLock?.request('screen').catch(() => null);
  const reader = await openCodeReader(DECODER);
  try {
    video.srcObject = stream;
    if (!signal.aborted) await video.play();
    while (!signal.aborted) {
      const code = latest().isPaused ? null : await reader.read(video);
      if (code !== null && !signal.aborted) latest().onCode(code);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  } finally {
    reader.close();
    for (const track of stream.getTracks()) track.stop();
    void lock?.release();
  }
}
