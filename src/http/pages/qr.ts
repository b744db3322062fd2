import { drawn, html, type Html } from './html.ts';
import { qrPath } from '../../web/qr-path.ts';

/** Draws a text as a QR code. */
export function drawQr(text: string, label: string): Html {
  const { size, path } = qrPath(text);
  const box = `0 0 ${size} ${size}`;
  return html`<svg viewBox="${box}" role="img" aria-label="${label}" shape-rendering="crispEdges">
    ${drawn(`<path fill="#000" d="${path}"/>`)}
  </svg>`;
}
