/** Version tags: the tag of a body, and whether the client has that body already. */
import { plainTag } from './encoding.ts';

/** A strong tag made of what determines the body. */
export function etagOf(...parts: readonly (string | number)[]): string {
  return `"${parts.map((part) => encodeURIComponent(part)).join('.')}"`;
}

/**
 * The tag by which an If-None-Match header names the body that has this one, in any of its codings; null when it does not.
 * Compared weakly as RFC 9110 asks; `*` names every tag.
 */
export function tagNamed(etag: string, ifNoneMatch: string | undefined): string | null {
  if (ifNoneMatch === undefined) return null;
  for (const given of ifNoneMatch.split(',')) {
    const tag = given.trim().replace(/^W\//, '');
    if (tag === '*') return etag;
    if (plainTag(tag) === etag) return tag;
  }
  return null;
}
