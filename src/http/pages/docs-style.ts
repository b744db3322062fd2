/** The style of the reference: the palette of every page, a wider page and a column of links. */
import { PALETTE, SANS, SERIF } from './palette.ts';

export const DOCS_STYLE = `${PALETTE}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 ${SANS}; }
.docs { display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 3rem; max-width: 84rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
nav { position: sticky; top: 2rem; align-self: start; }
nav b { display: block; margin: 1.25rem 0 .25rem; color: var(--quiet); font-size: .8rem; font-weight: 600; }
nav a { display: block; padding: .2rem 0; text-decoration: none; }
nav .home { font: 600 1.25rem/1 ${SERIF}; color: var(--ink); }
nav [aria-current] { font-weight: 650; color: var(--ink); }
a { color: var(--accent); text-underline-offset: .18em; }
a:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
h1 { font: 600 clamp(1.8rem, 1.3rem + 2vw, 2.6rem)/1.1 ${SERIF}; margin: 0 0 .75rem; text-wrap: balance; }
h2 { font: 600 1.4rem/1.25 ${SERIF}; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; max-width: 68ch; }
.lead { font-size: 1.15rem; color: var(--quiet); }
code { font: .88em ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--sunken); padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .9rem 1rem; background: var(--sunken); border: 1px solid var(--line); border-radius: 10px; line-height: 1.45; }
pre code { padding: 0; background: none; overflow-wrap: normal; }
.frame { overflow-x: auto; margin: .75rem 0; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
th, td { padding: .5rem .75rem .5rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
th { border-top: 0; color: var(--quiet); font-weight: 500; }
td > code:only-child, td > a > code { white-space: nowrap; }
tr:target { background: var(--soft); }
.verb { display: inline-block; min-width: 3.6rem; font-weight: 700; color: var(--accent); }
.verb.DELETE { color: var(--bad); }
ul.plain { list-style: none; margin: 0; padding: 0; }
ul.plain > li { padding: .9rem 0; border-top: 1px solid var(--line); }
.diagram { display: block; max-width: max(100%, 52rem); height: auto; color: var(--ink); background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
.diagram text { font: 12px system-ui, sans-serif; fill: currentColor; text-anchor: middle; }
.diagram .state rect { fill: var(--soft); stroke: var(--accent); }
.diagram .state.end rect { fill: var(--sunken); stroke: var(--quiet); }
.diagram .state text { font-weight: 650; }
.diagram .change { fill: none; stroke: var(--quiet); stroke-width: 1.3; }
.diagram .head { fill: var(--quiet); }
.diagram .label { fill: var(--quiet); font-size: 10.5px; stroke: var(--surface); stroke-width: 4px; paint-order: stroke; }
@media (max-width: 50rem) { .docs { grid-template-columns: minmax(0, 1fr); gap: 1.5rem; padding: 1.25rem 1rem 3rem; } nav { position: static; } nav .links { columns: 2; } nav b { margin-top: .75rem; } }
`;
