/**
 * The style of the reference: the fonts and values of every page, a header with the search, the contents beside the
 * page, and examples beside the text. Without a script everything is shown but the buttons and the search.
 */
import { SHARED_STYLE } from '../pages/fonts.ts';

export const DOCS_STYLE = `${SHARED_STYLE}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 5rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 var(--sans); }
a { color: var(--accent); text-underline-offset: .18em; text-decoration-thickness: 1px; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; z-index: 3; padding: .5rem 1rem; background: var(--surface); border-radius: 6px; }
.bar { position: sticky; top: 0; z-index: 2; display: flex; align-items: center; gap: 1rem 2rem; padding: .7rem 1.5rem;
  background: var(--surface); border-bottom: 1px solid var(--line); }
.bar .home { font: 600 1.2rem/1.2 var(--serif); color: var(--ink); text-decoration: none; white-space: nowrap; }
.bar .home span { color: var(--ink-quiet); font-weight: 400; }
.menu { display: none; }
search { position: relative; flex: 1; max-width: 30rem; margin-left: auto; }
input, textarea, button { font: inherit; color: inherit; }
search input { width: 100%; min-height: 2.75rem; padding: .4rem .9rem; background: var(--paper); border: 1px solid var(--line-strong); border-radius: 10px; }
#found { position: absolute; inset: calc(100% + .4rem) 0 auto; margin: 0; padding: .35rem; list-style: none; max-height: 70vh; overflow-y: auto;
  background: var(--surface); border: 1px solid var(--line-strong); border-radius: 10px; box-shadow: 0 .6rem 2rem rgb(0 0 0 / .18); }
#found a { display: block; padding: .45rem .6rem; border-radius: 6px; text-decoration: none; color: var(--ink); }
#found a:hover, #found a:focus { background: var(--accent-soft); }
#found b, #found span { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
#found span, #found .none { color: var(--ink-quiet); font-size: .875rem; }
#found .none { padding: .45rem .6rem; }
.said { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
.docs { display: grid; grid-template-columns: 16rem minmax(0, 1fr); gap: 3rem; max-width: 100rem; margin: 0 auto; padding: 0 1.5rem; }
nav { position: sticky; top: 4.2rem; align-self: start; max-height: calc(100vh - 4.2rem); overflow-y: auto; padding: 1.5rem .25rem 3rem; font-size: .9375rem; }
nav > b { display: block; margin: 0 0 .25rem; color: var(--ink-quiet); font-size: .8125rem; }
nav > a + b { margin-top: 1.5rem; }
nav a, nav summary { display: block; padding: .25rem .5rem; border-radius: 6px; text-decoration: none; color: var(--ink); cursor: pointer; }
nav summary { list-style: none; }
nav summary::-webkit-details-marker { display: none; }
nav summary::before { content: "›"; display: inline-block; width: 1rem; color: var(--ink-quiet); }
nav details[open] > summary::before { transform: rotate(90deg); }
nav a:hover, nav summary:hover { background: var(--sunken); }
nav details a { padding-left: 1.5rem; color: var(--ink-quiet); font-size: .875rem; }
nav [aria-current] { background: var(--accent-soft); color: var(--ink); font-weight: 600; }
nav .verb { font-size: .6875rem; min-width: 0; }
main { padding: 2rem 0 5rem; min-width: 0; }
h1 { font: 600 clamp(1.8rem, 1.3rem + 2vw, 2.5rem)/1.12 var(--serif); margin: 0 0 .75rem; text-wrap: balance; }
h2 { font: 600 1.35rem/1.25 var(--serif); margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; line-height: 1.4; margin: 1.5rem 0 .35rem; overflow-wrap: anywhere; }
h4 { font-size: .875rem; margin: 1rem 0 .35rem; }
p { margin: .5rem 0; max-width: 68ch; }
main > ul:not([class]) > li { max-width: 68ch; margin: .35rem 0; }
.lead { font-size: 1.125rem; color: var(--ink-quiet); }
code { font: .875em var(--mono); background: var(--sunken); padding: .1em .3em; border-radius: 4px; overflow-wrap: anywhere; }
pre { margin: 0; overflow: auto; max-height: 34rem; padding: .9rem 1rem; background: var(--sunken); border: 1px solid var(--line); border-radius: 10px; font-size: .8438rem; line-height: 1.5; }
pre code { padding: 0; background: none; font-size: inherit; overflow-wrap: normal; }
.frame { overflow-x: auto; margin: .75rem 0; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
th, td { padding: .5rem .75rem .5rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
th { border-top: 0; color: var(--ink-quiet); font-weight: 500; }
td > code:only-child, td > a > code { white-space: nowrap; }
tr:target { background: var(--accent-soft); }
.verb { display: inline-block; min-width: 4rem; font: 700 .8125rem/1.4 var(--mono); color: var(--accent); }
.verb.POST { color: var(--good); } .verb.PUT, .verb.PATCH { color: var(--warn); } .verb.DELETE { color: var(--bad); }
ul.plain { list-style: none; margin: 0; padding: 0; }
ul.plain > li { padding: .6rem 0; border-top: 1px solid var(--line); }
ul.plain h3 { margin: 0; }
ul.operations { list-style: none; margin: .75rem 0 0; padding: 0; border: 1px solid var(--line); border-radius: 12px; overflow: hidden; background: var(--surface); }
.operations li + li { border-top: 1px solid var(--line); }
.operations a { display: grid; grid-template-columns: 4rem minmax(0, 1fr) minmax(0, 1fr); gap: .25rem 1rem; align-items: baseline; padding: .7rem 1rem; color: var(--ink); text-decoration: none; }
.operations a:hover { background: var(--accent-soft); }
.operations a code { background: none; padding: 0; }
.operations li:target { background: var(--accent-soft); }
.line { max-width: none; margin: 0 0 1.5rem; padding: .6rem 1rem; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
.line code { background: none; padding: 0; font-size: .9375rem; } .line .host { color: var(--ink-quiet); }
.beside { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.05fr); gap: 3rem; align-items: start; }
.beside .text > h2:first-child, .beside .text > p:first-child, .samples > .sample:first-child { margin-top: 0; }
.samples { position: sticky; top: 5rem; max-height: calc(100vh - 6rem); overflow-y: auto; padding: 3px; }
.fields { list-style: none; margin: .5rem 0; padding: 0; }
.fields > li { padding: .6rem 0; border-top: 1px solid var(--line); }
.fields .name { font-weight: 650; background: none; padding: 0; }
.fields .type { color: var(--ink-quiet); font-size: .875rem; } .fields .must { color: var(--bad); font-size: .8125rem; font-weight: 600; }
.fields p { margin: .15rem 0; font-size: .9375rem; }
.fields .fields { margin-left: .25rem; padding-left: 1rem; border-left: 2px solid var(--line); }
summary { cursor: pointer; color: var(--accent); padding: .3rem 0; }
summary code { color: inherit; }
.sample { margin: 1rem 0 2rem; }
.sample h3 { margin: 0 0 .5rem; display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; }
.sample .more { font-weight: 400; font-size: .875rem; }
.needs { padding: .6rem .9rem; background: var(--warn-soft); color: var(--warn); border-radius: 8px; font-size: .9375rem; }
.languages { display: flex; gap: .25rem; margin: 0 0 .4rem; padding: 0; border: 0; }
.languages legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.languages label { position: relative; cursor: pointer; }
.languages input { position: absolute; inset: 0; opacity: 0; margin: 0; cursor: pointer; }
.languages span { display: block; padding: .3rem .8rem; border-radius: 8px; font-size: .875rem; color: var(--ink-quiet); }
.languages input:checked + span { background: var(--accent-soft); color: var(--ink); font-weight: 600; }
.languages input:focus-visible + span { outline: 3px solid var(--focus); outline-offset: 1px; }
@supports selector(:has(*)) { .request .in { display: none; }
  .request:has([value=curl]:checked) .curl, .request:has([value=typescript]:checked) .typescript, .request:has([value=python]:checked) .python { display: block; } }
.code { position: relative; }
.copy { position: absolute; top: .45rem; right: .45rem; min-height: 2rem; padding: .2rem .7rem; font-size: .8125rem; background: var(--surface); border: 1px solid var(--line-strong); border-radius: 7px; cursor: pointer; }
.request .copy, .part + .code .copy { top: -2.25rem; right: 0; }
.code > pre:first-child { padding-right: 5.5rem; } .request .code > pre:first-child, .part + .code > pre:first-child { padding-right: 1rem; }
.part { min-height: 2rem; margin-top: 1.25rem; }
.copy:hover { background: var(--accent-soft); }
.part .status, .live .status { font: 600 .8125rem/1.6 var(--mono); color: var(--good); background: var(--good-soft); padding: .1em .6em; border-radius: 99px; }
.live .status { display: inline-block; margin: .5rem 0; } .live .status.bad, .live .failed { color: var(--bad); background: var(--bad-soft); }
.try details { margin: .5rem 0; padding: .3rem .9rem; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
.try summary { font-weight: 600; }
.try label { display: block; margin: .5rem 0; } .try label span { display: block; color: var(--ink-quiet); font-size: .8125rem; }
.try input, .try textarea { width: 100%; min-height: 2.5rem; padding: .4rem .7rem; font: .8438rem/1.5 var(--mono); background: var(--paper); border: 1px solid var(--line-strong); border-radius: 8px; }
.try button { min-height: 2.75rem; padding: .4rem 1.5rem; font-weight: 600; color: var(--accent-ink); background: var(--accent); border: 0; border-radius: 10px; cursor: pointer; }
.try button:hover { background: var(--accent-hover); } .try button:disabled { opacity: .6; }
.live .first { margin: .2rem 0; color: var(--ink-quiet); font-size: .875rem; }
.live pre { margin-bottom: .6rem; }
.diagram { display: block; flex: none; max-width: none; margin: 0; color: var(--ink); background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
.diagram text { font: 12px var(--sans); fill: currentColor; text-anchor: middle; }
.diagram .state rect { fill: var(--accent-soft); stroke: var(--accent); }
.diagram .state.end rect { fill: var(--sunken); stroke: var(--ink-quiet); }
.diagram .state text { font-weight: 650; }
.diagram .change { fill: none; stroke: var(--ink-quiet); stroke-width: 1.3; }
.diagram .head { fill: var(--ink-quiet); }
.diagram .label { fill: var(--ink-quiet); font-size: 10.5px; } .diagram .under { fill: var(--surface); }
@media (max-width: 75rem) { .beside { grid-template-columns: minmax(0, 1fr); gap: 1.5rem; } .samples { position: static; max-height: none; grid-row: 1; } .beside { display: flex; flex-direction: column; align-items: stretch; } }
@media (max-width: 50rem) { .docs { grid-template-columns: minmax(0, 1fr); gap: 0; padding: 0 1rem; }
  .bar { flex-wrap: wrap; padding: .6rem 1rem; } search { order: 3; flex-basis: 100%; max-width: none; }
  .menu { display: block; position: relative; margin-left: auto; cursor: pointer; } .menu input { position: absolute; inset: 0; opacity: 0; margin: 0; }
  .menu span { display: block; padding: .6rem 1rem; border: 1px solid var(--line-strong); border-radius: 8px; font-size: .9375rem; line-height: 1.4; }
  .menu input:checked + span { background: var(--accent-soft); } .menu input:focus-visible + span { outline: 3px solid var(--focus); }
  nav { position: static; max-height: none; display: none; padding: 1rem 0; border-bottom: 1px solid var(--line); }
  nav a, nav summary { padding-block: .5rem; }
  body:has(#contents-shown:checked) nav { display: block; }
  .stacked thead { display: none; } .stacked tr { display: block; padding: .6rem 0; border-top: 1px solid var(--line); } .stacked td { display: block; padding: .1rem 0; border: 0; }
  main { padding-top: 1.5rem; } html { scroll-padding-top: 8rem; }
  .operations a { grid-template-columns: 4rem minmax(0, 1fr); } .operations a > span:last-child { grid-column: 1 / -1; color: var(--ink-quiet); } }
@media print { .bar, nav, .copy, .try { display: none; } .docs { display: block; } pre { max-height: none; white-space: pre-wrap; } .request .in { display: block !important; } }
`;
