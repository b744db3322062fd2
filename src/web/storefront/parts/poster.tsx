/** The picture of an event, or a poster where it has none or its picture cannot be loaded. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { POSTER_BOX, posterShapes } from '#client/poster.ts';
import { serviceAddress } from '../app/service.ts';

interface EventArtProps {
  readonly name: string;
  readonly picture: string | undefined;
  /** Whether it is among the first things that are seen. */
  readonly isFirst: boolean;
}

export function EventArt({ name, picture, isFirst }: EventArtProps) {
  const [lost, setLost] = useState<string | null>(null);
  const image = useRef<HTMLImageElement>(null);
  // A picture of the first HTML may have failed before this script came.
  useEffect(() => {
    if (image.current?.complete === true && image.current.naturalWidth === 0) setLost(picture ?? null);
  }, [picture]);
  if (picture === undefined || picture === lost) return <Poster name={name} />;
  return (
    <img
      ref={image}
      class="poster"
      src={serviceAddress(picture)}
      alt=""
      width="1200"
      height="750"
      loading={isFirst ? 'eager' : 'lazy'}
      onError={() => setLost(picture)}
    />
  );
}

function Poster({ name }: { readonly name: string }) {
  return (
    <svg
      class="poster"
      viewBox={POSTER_BOX}
      preserveAspectRatio="xMidYMid slice"
      aria-hidden="true"
      dangerouslySetInnerHTML={{ __html: posterShapes(name) }}
    />
  );
}
