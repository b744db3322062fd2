/** A text whose words in [brackets] become a link. Languages place them where they like. */
import type { ComponentChildren } from 'preact';

export function withLink(text: string, link: (words: string) => ComponentChildren): ComponentChildren {
  const [, before = text, words = '', after = ''] = /^([^[]*)\[([^\]]*)\](.*)$/.exec(text) ?? [];
  return (
    <>
      {before}
      {words !== '' && link(words)}
      {after}
    </>
  );
}
