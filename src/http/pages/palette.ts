/** The colours of every page that the service writes itself: those of the storefront, in both schemes (`storefront/app/styles/tokens.css`). */
export const PALETTE = `
:root { color-scheme: light dark; --paper: #faf8f4; --surface: #fff; --sunken: #f1ede5; --ink: #1d1b18; --quiet: #615b52;
  --line: #e3ddd2; --line-strong: #8f8677; --accent: #0b5a52; --accent-hover: #084640; --accent-ink: #fff; --soft: #e2efec;
  --focus: #c2410c; --good: #17613a; --good-soft: #e4f1e8; --wait: #7a4300; --wait-soft: #fcf0dc; --bad: #9c2318; --bad-soft: #fbe9e6; }
@media (prefers-color-scheme: dark) { :root { --paper: #141311; --surface: #1d1c19; --sunken: #282622; --ink: #f2eee6;
  --quiet: #b5aea2; --line: #38352f; --line-strong: #7d766b; --accent: #7fd3c4; --accent-hover: #a2e3d7; --accent-ink: #06231f;
  --soft: #18332f; --focus: #ffa66b; --good: #86d6a5; --good-soft: #16301f; --wait: #f2c078; --wait-soft: #35270f; --bad: #ffab9e;
  --bad-soft: #3c1a15; } }
`;

/** The headings' type, as the storefront sets it. */
export const SERIF = "'Iowan Old Style', 'Palatino Linotype', Palatino, 'URW Palladio L', Georgia, serif";

/** The text's type. */
export const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";
