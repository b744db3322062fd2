/**
 * Whose pages these are: the shop's brand stands in the document, an event's in its payload. Without any, pages look as
 * they are.
 *
 * 1. A page of an event that is not loaded yet looks like the page before it.
 * 2. A style sheet that replaces another says so when it has come: what is drawn by script is drawn again.
 */
import type { EventBrand, EventPayload } from '#client/bodies.ts';
import { RESTYLED } from '../../seat-map/colours.ts';
import { serviceAddress } from './service.ts';

/** Undefined where pages have no brand. */
export type PageBrand = EventBrand | undefined;

/** `shown` is what the last page looked like. */
export const brands: { shop: PageBrand; shown: PageBrand } = readBrands();

const LINK = 'brand-style';

function readBrands(): { shop: PageBrand; shown: PageBrand } {
  const text = document.querySelector('#brand')?.textContent;
  const { shop, page = shop } = JSON.parse(text ?? '{}') as { readonly shop?: EventBrand; readonly page?: EventBrand };
  return { shop, shown: page };
}

/** The brand of a page: of an event, of the shop for null, and of the page before for undefined (rule 1). */
export function brandOfPage(of: EventPayload | null | undefined): PageBrand {
  return of === undefined ? brands.shown : of === null ? brands.shop : of.brand;
}

/** Makes the page look like a brand. */
export function wear(brand: PageBrand): void {
  brands.shown = brand;
  const there = document.querySelector<HTMLLinkElement>(`#${LINK}`);
  const style = brand?.style == null ? null : serviceAddress(brand.style);
  if ((there?.getAttribute('href') ?? null) === style) return;
  const restyled = (): boolean => document.dispatchEvent(new Event(RESTYLED));
  if (style === null) {
    there?.remove();
    restyled();
    return;
  }
  const link = there ?? Object.assign(document.createElement('link'), { id: LINK, rel: 'stylesheet' });
  link.onload = restyled;
  link.href = style;
  if (there === null) document.head.append(link);
}
