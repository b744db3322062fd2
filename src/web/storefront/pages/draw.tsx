/** The proof of a waiting room's draw: the commitment, the result, and a check in the buyer's own browser. */
import { useState } from 'preact/hooks';
import type { Draw } from '#client/bodies.ts';
import { checkDraw, sha256OfText, type DrawVerdict } from '../app/draw-proof.ts';
import { dayAndHour, inWords, texts } from '../app/language.ts';
import { recall } from '../app/storage.ts';
import { useLoaded } from '../../hooks.ts';
import { BackLink, Frame, PageHeading, Unloaded } from '../parts/frame.tsx';
import { CheckIcon } from '../../buttons.tsx';
import { Notice } from '../../notice.tsx';
import { client, serviceAddress } from '../app/service.ts';

const words = texts.draw;
const PAGE = 10_000;
/** A browser checks this many entries in a few seconds; a longer draw is better checked by a program. */
const CHECKED_MAX = 200_000;

export function DrawPage({ slug }: { readonly slug: string }) {
  const loaded = useLoaded(slug, async (signal) => ({
    event: await client.getEvent(slug, { signal }),
    draw: await client.getDraw(slug, { limit: 1, signal }),
  }));
  if (loaded.value === null) return <Unloaded error={loaded.error} title={words.title} loading={words.loading} />;
  const { event, draw } = loaded.value;
  return (
    <Frame title={words.titleOf(event.name)} of={event}>
      <div class="narrow">
        <BackLink event={event} />
        <PageHeading>{words.title}</PageHeading>
        <p class="lead">{words.lead}</p>
        <dl class="facts">
          <dt>{words.promised}</dt>
          <dd class="hash">{draw.draw_commitment}</dd>
          <dt>{words.secret}</dt>
          {draw.seed === null ? <dd>{words.shownLater}</dd> : <dd class="hash">{draw.seed}</dd>}
          <dt>{words.atOpening}</dt>
          {draw.opening === null ? (
            <dd>{draw.status === 'pending' ? words.shownLater : words.noOpening}</dd>
          ) : (
            <dd class="hash">{draw.opening}</dd>
          )}
          <dt>{words.inDraw}</dt>
          <dd>
            {draw.drawn_at === null
              ? words.everybody
              : words.drawnOn(draw.count, dayAndHour(draw.drawn_at, event.timezone))}
          </dd>
        </dl>
        {draw.status === 'drawn' ? (
          <Check slug={slug} eventId={event.id} draw={draw} />
        ) : (
          <Notice tone="info">{words.pending}</Notice>
        )}
        <p class="small quiet">
          <a href={serviceAddress(`/api/events/public/${slug}/draw`)}>{words.whole}</a>
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
  const [verdict, setVerdict] = useState<(DrawVerdict & { readonly position: number | null }) | null>(null);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  if (draw.count > CHECKED_MAX) return <Notice tone="info">{words.tooLong}</Notice>;

  const check = async (): Promise<void> => {
    setBusy(true);
    try {
      const entries: string[] = [];
      while (entries.length < draw.count) {
        entries.push(...(await client.getDraw(slug, { offset: entries.length, limit: PAGE })).entries);
      }
      const { passId } = recall(eventId);
      const position = passId === undefined ? -1 : entries.indexOf(await sha256OfText(passId));
      setVerdict({ ...(await checkDraw(draw, entries)), position: position < 0 ? null : position + 1 });
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
            {isBusy ? words.checking : words.check}
          </button>
        </p>
      </>
    );
  }
  return (
    <ul class="verdict" tabIndex={-1} ref={takeFocus}>
      <Finding holds={verdict.commitmentHolds}>{words.commitmentHolds}</Finding>
      <Finding holds={verdict.digestHolds}>{words.digestHolds}</Finding>
      <Finding holds={verdict.orderHolds}>{words.orderHolds}</Finding>
      {verdict.position !== null && <Finding holds>{words.yourNumber(verdict.position)}</Finding>}
    </ul>
  );
}

/** The verdict stands in place of the button that had the focus. */
const takeFocus = (verdict: HTMLElement | null): void => verdict?.focus({ preventScroll: true });

function Finding({ holds, children }: { readonly holds: boolean; readonly children: preact.ComponentChildren }) {
  return (
    <li class={holds ? 'holds' : 'fails'}>
      {holds ? <CheckIcon /> : '✗'} {children} {!holds && <b>{words.fails}</b>}
    </li>
  );
}
