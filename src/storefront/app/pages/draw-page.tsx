/** The proof of a waiting room's draw: the commitment, the result, and a check in the buyer's own browser. */
import { useState } from 'preact/hooks';
import type { Draw } from '#client/bodies.ts';
import { checkDraw, sha256OfText, type DrawVerdict } from '../draw-proof.ts';
import { count, dayAndHour } from '../format.ts';
import { recall } from '../kept.ts';
import { useLoaded } from '#client/browser/hooks.ts';
import { inWords } from '../messages.ts';
import { Frame, Missing, PageHeading } from '../parts/frame.tsx';
import { BackIcon, CheckIcon } from '../parts/icons.tsx';
import { Loading, Notice } from '../parts/controls.tsx';
import { eventPath, Link } from '../router.tsx';
import { client, serviceAddress } from '../service.ts';

const PAGE = 10_000;
/** A browser checks this many entries in a few seconds; a longer draw is better checked by a program. */
const CHECKED_MAX = 200_000;

export function DrawPage({ slug }: { readonly slug: string }) {
  const loaded = useLoaded(slug, async (signal) => ({
    event: await client.getEvent(slug, { signal }),
    draw: await client.getDraw(slug, { limit: 1, signal }),
  }));
  if (loaded.error !== null) return <Missing error={loaded.error} />;
  if (loaded.value === null) {
    return (
      <Frame title="Proof of the draw">
        <Loading what="Fetching the proof …" />
      </Frame>
    );
  }
  const { event, draw } = loaded.value;
  return (
    <Frame title={`Proof of the draw, ${event.name}`}>
      <div class="narrow">
        <p class="back">
          <Link to={eventPath(slug)}>
            <BackIcon /> {event.name}
          </Link>
        </p>
        <PageHeading>Proof of the draw</PageHeading>
        <p class="lead">
          Whoever was in the waiting room when it opened was put in a random order. One secret behind that order was
          fixed before anybody joined, so nobody could exchange it; the other was made at the opening, so nobody could
          foresee it.
        </p>
        <dl class="facts">
          <dt>Promised before the opening</dt>
          <dd class="hash">{draw.draw_commitment}</dd>
          <dt>Secret, shown afterwards</dt>
          <dd class="hash">{draw.seed ?? 'shown when the waiting room opens'}</dd>
          <dt>Made at the opening</dt>
          <dd class="hash">
            {draw.opening ??
              (draw.status === 'pending' ? 'shown when the waiting room opens' : 'nothing: an older draw')}
          </dd>
          <dt>In the draw</dt>
          <dd>
            {count(draw.count, 'person', 'people')}
            {draw.drawn_at !== null && `, drawn on ${dayAndHour(draw.drawn_at, event.timezone)}`}
          </dd>
        </dl>
        {draw.status === 'drawn' ? (
          <Check slug={slug} eventId={event.id} draw={draw} />
        ) : (
          <Notice tone="info">The draw has not been held yet.</Notice>
        )}
        <p class="small quiet">
          <a href={serviceAddress(`/api/events/public/${slug}/draw`)}>The whole proof, and how to check it elsewhere</a>
        </p>
      </div>
    </Frame>
  );
}

interface CheckProps {
  readonly slug: string;
  readonly eventId: string;
  readonly draw: Draw;
}

function Check({ slug, eventId, draw }: CheckProps) {
  const [verdict, setVerdict] = useState<(DrawVerdict & { readonly place: number | null }) | null>(null);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  if (draw.count > CHECKED_MAX) return <Notice tone="info">This draw is too long to be checked in a browser.</Notice>;

  const check = async (): Promise<void> => {
    setBusy(true);
    try {
      const entries: string[] = [];
      while (entries.length < draw.count) {
        entries.push(...(await client.getDraw(slug, { offset: entries.length, limit: PAGE })).entries);
      }
      const { passId } = recall(eventId);
      const place = passId === undefined ? -1 : entries.indexOf(await sha256OfText(passId));
      setVerdict({ ...(await checkDraw(draw, entries)), place: place < 0 ? null : place + 1 });
    } catch (error) {
      setTrouble(error);
    } finally {
      setBusy(false);
    }
  };

  if (verdict === null) {
    return (
      <>
        {trouble !== null && <Notice tone="bad">{inWords(trouble)}</Notice>}
        <p>
          <button type="button" class="button primary" disabled={isBusy} onClick={() => void check()}>
            {isBusy ? 'Checking …' : 'Check it in my browser'}
          </button>
        </p>
      </>
    );
  }
  return (
    <ul class="verdict" role="status">
      <Finding holds={verdict.commitmentHolds}>The secret is the one that was promised.</Finding>
      <Finding holds={verdict.digestHolds}>The list of people is the one that was drawn from.</Finding>
      <Finding holds={verdict.orderHolds}>Everybody stands where the secrets put them.</Finding>
      {verdict.place !== null && <Finding holds>You were drawn as number {verdict.place}.</Finding>}
    </ul>
  );
}

function Finding({ holds, children }: { readonly holds: boolean; readonly children: preact.ComponentChildren }) {
  return (
    <li class={holds ? 'holds' : 'fails'}>
      {holds ? <CheckIcon /> : '✗'} {children} {!holds && <b>This does not hold.</b>}
    </li>
  );
}
