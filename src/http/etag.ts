/** Version tags: the tag of a body, and whether the client has that body already. */

/** A strong tag made of what determines the body. */
export function etagOf(...parts: readonly (string | number)[]): string {
  return `"${parts.map((part) => encodeURIComponent(part)).join('.')}"`;
}

/** Whether an If-None-Match header names the tag, weakly compared as RFC 9110 asks; `*` names every tag. */
export function isNamedBy(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((given) => {
    const tag = given.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}
