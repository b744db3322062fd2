/**
 * How a venue shows itself to buyers: what an event says over what the service's BRAND says over neutral pages.
 *
 *  1. Each field of an event comes before the service's; the two accents are one field, because they belong together.
 *  2. An address of a logo has the hash of its contents, and one of a style sheet all that it says: each is right on
 *     every thread and every node, and may be kept.
 */
import { createHash } from 'node:crypto';
import type { BrandDefinition, BrandedEvent, BrandLink } from '#domain/catalogue/definition.ts';
import { accentDeclarations, isReadable, neutralAccent, readable, schemeDeclarations } from './colours.ts';

/** A brand with everything worked out. */
export interface Brand {
  /** Null: a page is titled by what it shows alone. */
  readonly name: string | null;
  /** The address of the picture on this service, from its root; null where there is none. */
  readonly logo: string | null;
  /** As #rrggbb, each readable on the pages of its scheme. */
  readonly accent: string;
  readonly accentDark: string;
  /** AUTO: as each buyer's browser prefers. */
  readonly scheme: 'AUTO' | 'LIGHT' | 'DARK';
  /** An e-mail address, or one that begins with https://. */
  readonly support: string | null;
  readonly links: readonly BrandLink[];
  /** Whether pages say what software they are. */
  readonly credit: boolean;
  /** The address of its style sheet, from the root of this service; null where pages look as they do without one. */
  readonly style: string | null;
}

/** Under which logos and style sheets are served. */
export const BRAND_PATH = '/brand/';

/** The brand of an event's pages; of those that concern no event, where none is given. */
export function brandOf(service: BrandDefinition | null, event: BrandedEvent | null = null): Brand {
  const own = event?.brand ?? {};
  const merged: BrandDefinition = { ...service, ...own };
  const { accent, accentDark } = accentsOf(own) ?? accentsOf(service ?? {}) ?? NEUTRAL_ACCENTS;
  const scheme = merged.scheme ?? 'AUTO';
  const isNeutral = scheme === 'AUTO' && accent === NEUTRAL_ACCENTS.accent && accentDark === NEUTRAL_ACCENTS.accentDark;
  return {
    name: merged.name ?? null,
    logo: logoAddress(service, event),
    accent,
    accentDark,
    scheme,
    support: merged.support ?? null,
    links: merged.links ?? [],
    credit: merged.credit ?? false,
    style: isNeutral ? null : `${BRAND_PATH}${styleName({ accent, accentDark, scheme })}`,
  };
}

type Accents = Pick<Brand, 'accent' | 'accentDark'>;

const NEUTRAL_ACCENTS: Accents = { accent: neutralAccent('light'), accentDark: neutralAccent('dark') };

/** A colour that is given for one scheme alone is made readable in the other. Null where neither is given. */
function accentsOf({ accent, accentDark }: BrandDefinition): Accents | null {
  const given = accent ?? accentDark;
  if (given === undefined) return null;
  return {
    accent: accent?.toLowerCase() ?? readable(given, 'light'),
    accentDark: accentDark?.toLowerCase() ?? readable(given, 'dark'),
  };
}

// ── logos ────────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Logo {
  readonly contentType: string;
  readonly bytes: Buffer;
}

const DATA_URL = /^data:(image\/([a-z]+)(?:\+xml)?);base64,([A-Za-z0-9+/]+={0,2})$/;

/** The picture in a data: URL; null for any other text. */
export function readLogo(dataUrl: string): Logo | null {
  const [, contentType, , text] = DATA_URL.exec(dataUrl) ?? [];
  return contentType === undefined ? null : { contentType, bytes: Buffer.from(text!, 'base64') };
}

/** What a logo is called in its address. */
export function logoName(dataUrl: string): string {
  const hash = createHash('sha256').update(dataUrl).digest('base64url').slice(0, 16);
  return `logo-${hash}.${DATA_URL.exec(dataUrl)?.[2]}`;
}

function logoAddress(service: BrandDefinition | null, event: BrandedEvent | null): string | null {
  const own = event?.brand?.logo;
  if (own !== undefined) return `${BRAND_PATH}events/${encodeURIComponent(event!.slug)}/${logoName(own)}`;
  return service?.logo === undefined ? null : BRAND_PATH + logoName(service.logo);
}

// ── style sheets ─────────────────────────────────────────────────────────────────────────────────────────────────────

type Look = Pick<Brand, 'accent' | 'accentDark' | 'scheme'>;

function styleName({ accent, accentDark, scheme }: Look): string {
  return `${scheme.toLowerCase()}-${accent.slice(1)}-${accentDark.slice(1)}.css`;
}

/** The style sheet of this name; null where there is none, or nobody could read a page with it. */
export function styleNamed(name: string): string | null {
  const found = /^(auto|light|dark)-([0-9a-f]{6})-([0-9a-f]{6})\.css$/.exec(name);
  if (found === null) return null;
  const [accent, accentDark] = [`#${found[2]}`, `#${found[3]}`];
  if (!isReadable(accent, 'light') || !isReadable(accentDark, 'dark')) return null;
  return styleOf({ accent, accentDark, scheme: found[1]!.toUpperCase() as Brand['scheme'] });
}

/** What comes after the pages' own style. Paper is white, whatever the screen is. */
export function styleOf({ accent, accentDark, scheme }: Look): string {
  const [light, dark] = [accentDeclarations(accent, 'light'), accentDeclarations(accentDark, 'dark')];
  switch (scheme) {
    case 'AUTO':
      return `:root{${light}}@media screen and (prefers-color-scheme:dark){:root{${dark}}}`;
    case 'LIGHT':
      return `:root{${light}}@media screen{:root{${schemeDeclarations('light')}${light}}}`;
    case 'DARK':
      return `:root{${light}}@media screen{:root{${schemeDeclarations('dark')}${dark}}}`;
  }
}
