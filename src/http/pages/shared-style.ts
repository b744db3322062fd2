/** The fonts and values of every page that the service writes itself: those of the storefront, from the same style sheets. */
import { styleSheet, withAddresses } from './fonts.ts';

/** Without what only people read, because it is part of each page. */
const shortened = (style: string): string =>
  style
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

export const SHARED_STYLE = `${shortened(withAddresses(styleSheet('fonts.css')))}
${shortened(styleSheet('tokens.css'))}
`;
