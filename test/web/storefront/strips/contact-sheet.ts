/** One page with the pictures of all strips, a strip a line. */

export interface Strip {
  readonly purchase: string;
  readonly device: string;
  /** In their order; `file` is beside the page. */
  readonly pictures: { readonly file: string; readonly state: string }[];
}

const STYLE = `body { margin: 1rem; font: 1rem system-ui; background: #eee; color: #222 }
  section { display: flex; gap: 1rem; overflow-x: auto; padding-bottom: 1rem }
  figure { margin: 0; flex: none } img { display: block; height: 30rem; border: 1px solid #999 }`;

export function contactSheet(strips: readonly Strip[], language: string): string {
  const lines = strips.map(({ purchase, device, pictures }) => {
    const figures = pictures.map(
      ({ file, state }, n) =>
        `<figure><a href="${file}"><img src="${file}" alt="${state}"></a><figcaption>${n + 1}. ${state}</figcaption></figure>`,
    );
    return `<h2>${purchase}, ${device}</h2>\n<section>\n${figures.join('\n')}\n</section>`;
  });
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Purchases (${language})</title><style>${STYLE}</style>
<h1>Purchases (${language})</h1>
${lines.join('\n')}
</html>
`;
}
